//! Files that were found: each was once read wrong.

use std::path::Path;

use super::check::check;

#[test]
fn what_was_found_stays_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fuzz/found");
    let Ok(entries) = std::fs::read_dir(&folder) else { return };
    for entry in entries {
        let file = entry.unwrap().path();
        println!("{}", file.display());
        check(&file);
    }
}
