//! Deliberate defects of a journal and of outputs, which the simulation has to find (`caudal-sim --mutants`).
//!
//! Each is a seam of one call, which does nothing unless its mutant is switched on, and is nothing at all in a release
//! build.

use bytes::Bytes;
use caudal_runtime::failpoint::mutant;

use crate::store::{Created, Store, StoreError};

/// A record replaces one that is there, instead of being created: none unless it is switched on.
pub(crate) async fn no_fence(
    store: &dyn Store,
    name: &str,
    object: &Bytes,
) -> Result<Option<Created>, StoreError> {
    if mutant("no_fence") {
        store.put(name, object.clone()).await?;
        return Ok(Some(Created::New));
    }
    Ok(None)
}

/// Compaction frees the number of a record instead of keeping it taken.
pub(crate) async fn compaction_frees(store: &dyn Store, name: &str) -> Result<(), StoreError> {
    if mutant("compaction_frees") { store.delete(name).await } else { Ok(()) }
}

/// An attempt takes itself for the output, although another was committed.
pub(crate) fn output_uncommitted(created: Created) -> Created {
    if mutant("output_uncommitted") { Created::New } else { created }
}
