//! Addresses of stores.

use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ClientConfigKey, RetryConfig};

use crate::directory::Directory;
use crate::remote::Remote;
use crate::store::{Store, StoreError};

/// Opens the store at an address:
///
/// ```text
/// state/store, file:///var/lib/caudal    a directory
/// s3://bucket/prefix                     an object store; settings from AWS_..., as usual
/// memory:                                one that ends with the process, for tests
/// ```
pub fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    match url.split_once(':') {
        None => Ok(Arc::new(Directory::open(url)?)),
        Some(("file", rest)) if rest.starts_with("///") => {
            Ok(Arc::new(Directory::open(&rest["//".len()..])?))
        }
        Some(("s3", _)) => Ok(Arc::new(s3(url)?)),
        Some(("memory", "")) => {
            Ok(Arc::new(Remote::new(Arc::new(InMemory::new()), Path::default())))
        }
        Some(_) => Err(bad_url(url, "it is neither a path nor an address we know")),
    }
}

fn s3(url: &str) -> Result<Remote, StoreError> {
    let (bucket, prefix) = match url.strip_prefix("s3://") {
        Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
        None => return Err(bad_url(url, "s3: is followed by //")),
    };
    if bucket.is_empty() {
        return Err(bad_url(url, "it names no bucket"));
    }
    let retry = RetryConfig {
        max_retries: limits::STORE_RETRIES_MAX,
        retry_timeout: Duration::from_millis(limits::STORE_RETRY_MS_MAX),
        ..RetryConfig::default()
    };
    // Among the settings, not instead of them: AWS_ALLOW_HTTP is one.
    let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
    let store = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_config(timeout, format!("{} ms", limits::STORE_REQUEST_MS_MAX))
        .with_retry(retry)
        .build()
        .map_err(|error| bad_url(url, error))?;
    let prefix = Path::parse(prefix).map_err(|error| bad_url(url, error))?;
    Ok(Remote::new(Arc::new(store), prefix))
}

fn bad_url(url: &str, reason: impl ToString) -> StoreError {
    StoreError::BadUrl { url: url.to_string(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_path_or_of_a_kind_we_know() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert!(open(path).is_ok());
        assert!(open(&format!("file://{path}/a/b")).is_ok());
        assert!(folder.path().join("a/b").is_dir());
        assert!(open("memory:").is_ok());
        for bad in ["gs://x", "s3://", "s3:///x", "s3:x", "file://x/y", "memory:x", "s3://b/a//b"] {
            assert!(matches!(open(bad), Err(StoreError::BadUrl { .. })), "{bad}");
        }
    }
}
