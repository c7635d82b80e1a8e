//! Completion of paths.

use std::fs;

use caudal_core::limits;

use crate::shell::complete::Candidates;

/// Paths that go on as what is typed, which begins at `start`. Hidden ones only if a point is.
pub fn candidates(begun: &str, start: usize) -> Candidates {
    let (folder, name) = match begun.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), begun),
    };
    let listed = if folder.is_empty() { "." } else { &folder };
    let Ok(entries) = fs::read_dir(listed) else {
        return Candidates { start, all: vec![] };
    };
    let mut all = vec![];
    for entry in entries.flatten().take(limits::COMPLETION_ENTRIES_MAX) {
        let Ok(found) = entry.file_name().into_string() else { continue };
        if !found.starts_with(name) || (found.starts_with('.') && !name.starts_with('.')) {
            continue;
        }
        // Of a link it is told what it leads to.
        let is_folder = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
        all.push(format!("{folder}{found}{}", if is_folder { "/" } else { "" }));
    }
    all.sort();
    Candidates { start, all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        for file in ["games.csv", "games.csv.gz", "it's.csv", ".hidden"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        fs::create_dir(folder.path().join("gate")).unwrap();
        let completed = |begun: &str| {
            let found = candidates(&format!("{at}/{begun}"), 3);
            assert_eq!(found.start, 3);
            let of_folder = format!("{at}/");
            found.all.iter().map(|path| path.replace(&of_folder, "")).collect::<Vec<_>>()
        };
        assert_eq!(completed("ga"), ["games.csv", "games.csv.gz", "gate/"]);
        assert_eq!(completed("."), [".hidden"]);
        assert_eq!(completed("it"), ["it's.csv"]);
        assert_eq!(completed("").len(), 4);
        assert_eq!(completed("no/such/"), [""; 0]);
    }
}
