//! Files that seem to be in a table twice: as they are, and compressed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use caudal_csv::{Note, NoteKind};

/// What is said of each file that is there without the ending of its compression, too.
pub fn notes_of_copies(files: &[PathBuf]) -> Vec<Note> {
    const ENDINGS: [&str; 5] = ["gz", "zst", "bz2", "xz", "lz4"];
    let all: BTreeSet<&PathBuf> = files.iter().collect();
    let is_packed = |file: &&PathBuf| {
        file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
    };
    let copies = files.iter().filter(is_packed).map(|file| (file, file.with_extension("")));
    let copies = copies.filter(|(_, unpacked)| all.contains(unpacked));
    copies.map(|(file, other)| Note::new(file, NoteKind::PerhapsTwice(other))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_its_copy_are_told() {
        let files = ["a.csv", "a.csv.gz", "b.csv.gz", "c.csv", "c.gz"].map(PathBuf::from);
        let notes: Vec<String> = notes_of_copies(&files).iter().map(Note::to_string).collect();
        assert_eq!(notes, ["a.csv.gz: a.csv is in the table as well: do both have the same rows?"]);
    }
}
