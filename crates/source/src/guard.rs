//! Reading of formats whose readers panic on some of what they cannot read: the file's mistake, not ours.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::Error;
use crate::remote::Failure;

thread_local! {
    /// Why a file could not be read by what is being decoded on this thread: decoders make texts of errors, and what
    /// became of the net is no damage of the file.
    static FAILED: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// What is decoded, or an error that says of which file it is.
pub fn guarded<T, E: fmt::Display>(
    path: &Path,
    format: &'static str,
    decode: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    FAILED.take();
    let damaged = |why: String| match FAILED.take() {
        Some(failure) => Error::remote(path, failure),
        None => Error::Damaged { path: path.to_path_buf(), format, why },
    };
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(decoded) => decoded.map_err(|error| damaged(error.to_string())),
        Err(_) => Err(damaged("it is damaged in a way that its reader does not check".into())),
    }
}

/// Keeps a failure for whoever guards this.
pub fn keep<T>(read: io::Result<T>) -> io::Result<T> {
    let failure = read.as_ref().err().and_then(Failure::of_io);
    if let Some(failure) = failure {
        FAILED.replace(Some(failure.clone()));
    }
    read
}

/// A reader whose failures are kept.
pub struct Kept<R>(pub R);

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        keep(self.0.read(into))
    }
}
