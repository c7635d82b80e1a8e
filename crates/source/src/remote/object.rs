//! An object as it was when it was opened.

use std::fmt;
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use caudal_core::limits;
use futures::StreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use super::address::Address;
use super::failure::{Failure, has_status};
use super::fetch::{Tries, before_silence};
use super::store::store_of;
use super::wait;

/// Bytes that are kept of the beginning of an object that is longer: enough to tell what it is.
const KEPT_HEAD_BYTES: usize = 5 << 10;

/// An object, and what every answer about it has to agree with.
pub struct Object {
    store: Arc<dyn ObjectStore>,
    location: Path,
    shown: Arc<FilePath>,
    secret: Option<String>,
    meta: ObjectMeta,
    /// The first of its bytes.
    head: Bytes,
    /// Whether a part of it can be asked for.
    has_ranges: bool,
}

impl Object {
    /// Asks for its beginning, which also tells what it is: a request of its own for that may be forbidden where this is not.
    pub fn open(address: &Address) -> Result<Object, Failure> {
        let address = address.clone();
        wait(async move {
            let mut tries = Tries::new();
            loop {
                match Object::opened(&address).await {
                    Err(why @ Failure::Cut(_)) => tries.again(false, why).await?,
                    opened => return opened,
                }
            }
        })
    }

    async fn opened(address: &Address) -> Result<Object, Failure> {
        let secret = address.secret.clone();
        let failed = |error: Error| Failure::of(&error, secret.as_deref());
        let unusable = |error: object_store::path::Error| Failure::Unreadable(error.to_string());
        let location = Path::parse(&address.key).map_err(unusable)?;
        let store = store_of(address).map_err(failed)?;
        let head_bytes = limits::REMOTE_HEAD_BYTES as u64;
        let range = Some(GetRange::Bounded(0..head_bytes));
        let options = GetOptions { range, ..GetOptions::default() };
        let (result, has_ranges) = match before_silence(store.get_opts(&location, options)).await? {
            Ok(result) => (result, true),
            // No ranges here; or none of nothing.
            Err(error)
                if matches!(error, Error::NotSupported { .. }) || has_status(&error, 416) =>
            {
                let all = store.get_opts(&location, GetOptions::default());
                (before_silence(all).await?.map_err(failed)?, false)
            }
            Err(error) => return Err(failed(error)),
        };
        let meta = result.meta.clone();
        let wanted = head_bytes.min(meta.size) as usize;
        let mut head = head_of(result, wanted, secret.as_deref()).await?;
        if head.len() as u64 != meta.size {
            head = Bytes::copy_from_slice(&head[..head.len().min(KEPT_HEAD_BYTES)]);
        }
        let shown = address.shown().into();
        Ok(Object { store, location, shown, secret, meta, head, has_ranges })
    }

    pub fn shown(&self) -> &Arc<FilePath> {
        &self.shown
    }

    pub fn bytes(&self) -> u64 {
        self.meta.size
    }

    pub fn head(&self) -> &Bytes {
        &self.head
    }

    pub fn has_ranges(&self) -> bool {
        // Of nothing there is nothing to be asked for.
        self.has_ranges || self.meta.size == 0
    }

    /// Asks for some of its bytes, or for all, and begins to get them.
    pub(super) async fn get(&self, range: Option<Range<u64>>) -> Result<GetResult, Failure> {
        let options = GetOptions {
            range: range.map(GetRange::Bounded),
            if_match: self.meta.e_tag.clone().filter(|etag| is_strong(etag)),
            ..GetOptions::default()
        };
        let result = before_silence(self.store.get_opts(&self.location, options)).await?;
        let result = result.map_err(|error| self.failed(&error))?;
        self.check_is(&result.meta)?;
        Ok(result)
    }

    pub(super) fn failed(&self, error: &Error) -> Failure {
        // A range that was there.
        match has_status(error, 416) {
            true => Failure::Changed,
            false => Failure::of(error, self.secret.as_deref()),
        }
    }

    /// Fails if an answer is of another object than the one that was opened: not all who answer heed what they are asked.
    fn check_is(&self, meta: &ObjectMeta) -> Result<(), Failure> {
        let is_same_tag = match (&self.meta.e_tag, &meta.e_tag) {
            (Some(then), Some(now)) => then == now,
            (None, None) => self.meta.last_modified == meta.last_modified,
            _ => false,
        };
        match is_same_tag && self.meta.size == meta.size {
            true => Ok(()),
            false => Err(Failure::Changed),
        }
    }

    /// Whether two answers of the same size are surely of the same bytes.
    pub(super) fn is_pinned(&self) -> bool {
        self.meta.e_tag.is_some()
    }
}

/// A weak one says only that two objects mean the same, and matches nothing where it is asked for.
fn is_strong(etag: &str) -> bool {
    !etag.starts_with("W/")
}

/// The first bytes of an answer; the rest is left where it is.
async fn head_of(result: GetResult, wanted: usize, secret: Option<&str>) -> Result<Bytes, Failure> {
    let mut stream = result.into_stream();
    let mut head = Vec::with_capacity(wanted);
    while head.len() < wanted {
        match before_silence(stream.next()).await? {
            Some(Ok(piece)) => {
                head.extend_from_slice(&piece[..piece.len().min(wanted - head.len())])
            }
            Some(Err(error)) => return Err(Failure::of(&error, secret).cut()),
            None => return Err(Failure::ended()),
        }
    }
    Ok(head.into())
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown.to_string_lossy())
    }
}
