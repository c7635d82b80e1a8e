//! Reading of formats whose readers panic on some of what they cannot read: the file's mistake, not ours.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::Error;

/// What is decoded, or an error that says of which file it is.
pub fn guarded<T, E: fmt::Display>(
    path: &Path,
    format: &'static str,
    decode: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), format, why };
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(decoded) => decoded.map_err(|error| damaged(error.to_string())),
        Err(_) => Err(damaged("it is damaged in a way that its reader does not check".into())),
    }
}
