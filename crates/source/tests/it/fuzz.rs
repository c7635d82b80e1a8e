//! Files changed at random. Whatever is in a file, reading it ends: with rows, the same however the file is divided, or with an error that has a
//! code; in little time and bounded memory, and without a panic.
//!
//!     CAUDAL_FUZZ_MINUTES=10 cargo test -p caudal-source --test it fuzz::parquet -- --nocapture
//!
//! A process of its own reads them, so that whatever ends it is a finding as well; the file that did is kept, and named.
//! `CAUDAL_SEED=17` begins with another seed.

mod check;
mod child;
mod found;
mod mutate;
mod originals;
mod parent;

use self::parent::fuzz;

#[test]
fn csv() {
    fuzz("csv");
}

#[test]
fn json() {
    fuzz("json");
}

#[test]
fn parquet() {
    fuzz("parquet");
}

#[test]
fn arrow() {
    fuzz("arrow");
}

#[test]
fn compressed() {
    fuzz("compressed");
}

/// A part of the others, in a process of its own; by itself it does nothing.
#[test]
fn child() {
    child::run();
}
