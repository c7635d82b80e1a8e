//! Clients of stores, with the settings that the environment has for them (`AWS_...`, `GOOGLE_...`, `AZURE_...`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use caudal_core::limits;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, ObjectStore, Result, RetryConfig};

use super::address::{Address, Scheme};

type Store = Arc<dyn ObjectStore>;

/// The client for an address: one for all of its bucket, whose connections they share.
pub fn store_of(address: &Address) -> Result<Store> {
    static STORES: Mutex<Option<HashMap<String, Store>>> = Mutex::new(None);
    if address.scheme == Scheme::Http {
        // Whoever asks keeps it: there is nothing else at its address.
        return new_store(address);
    }
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = stores.get_or_insert_default();
    if let Some(store) = stores.get(&address.root) {
        return Ok(Arc::clone(store));
    }
    let store = new_store(address)?;
    stores.insert(address.root.clone(), Arc::clone(&store));
    Ok(store)
}

fn new_store(address: &Address) -> Result<Store> {
    let root = &address.root;
    // Among the settings of the environment, not instead of them. How long all of an answer takes says nothing of a slow
    // line: whoever reads looks at the time since the last byte.
    let (timeout, ever) = (ClientConfigKey::Timeout, "7 days");
    Ok(match address.scheme {
        Scheme::S3 => Arc::new(
            AmazonS3Builder::from_env()
                .with_url(root.replacen("s3a://", "s3://", 1))
                .with_config(AmazonS3ConfigKey::Client(timeout), ever)
                .with_retry(retries())
                .build()?,
        ),
        Scheme::Google => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_url(root)
                .with_config(GoogleConfigKey::Client(timeout), ever)
                .with_retry(retries())
                .build()?,
        ),
        Scheme::Azure => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_url(root)
                .with_config(AzureConfigKey::Client(timeout), ever)
                .with_retry(retries())
                .build()?,
        ),
        Scheme::Http => Arc::new(
            HttpBuilder::new()
                .with_url(root)
                .with_config(timeout, ever)
                .with_config(ClientConfigKey::AllowHttp, "true")
                .with_retry(retries())
                .build()?,
        ),
    })
}

fn retries() -> RetryConfig {
    RetryConfig {
        max_retries: limits::REMOTE_RETRIES,
        retry_timeout: Duration::from_millis(limits::REMOTE_RETRY_MS_MAX),
        ..RetryConfig::default()
    }
}
