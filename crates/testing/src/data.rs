//! The real extracts, which lie beside the project and are never committed.

use std::path::{Path, PathBuf};

use crate::skip;

/// A file or folder of `../shared`; where there is none, the test is noted as skipped.
pub fn shared(test: &str, path: &str) -> Option<PathBuf> {
    let shared = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let found = shared.join(path).canonicalize();
    if found.is_err() {
        skip(test, &format!("there is no ../shared/{path}"));
    }
    found.ok()
}
