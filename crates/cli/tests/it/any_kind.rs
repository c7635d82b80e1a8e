//! Files of every kind that people have, made, read and compared by `tools/files`.

use std::path::PathBuf;
use std::process::Command;

use caudal_testing::{python, skip};

const PACKAGES: &str = include_str!("../../../../tools/files/requirements.txt");

/// Programs that make some of the files; `./test` sees to it that they are there.
const PROGRAMS: [&str; 5] = ["gzip", "bzip2", "xz", "zstd", "lz4"];

fn tools() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/files"))
}

/// What a script of `tools/files` prints; none, if it cannot run here.
#[track_caller]
fn run(script: &str) -> Option<String> {
    let is_there = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    if let Some(missing) = PROGRAMS.iter().find(|program| !is_there(program)) {
        skip(script, &format!("there is no {missing}"));
        return None;
    }
    let packages: Vec<&str> = PACKAGES.lines().collect();
    let python = python(script, "files", &packages)?;
    let run = Command::new(python.join("bin/python"))
        .arg(tools().join(script))
        .env("CAUDAL_BIN", env!("CARGO_BIN_EXE_caudal"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("CAUDAL_GATEWAY")
        .env_remove("CAUDAL_TOKEN")
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{printed}\n{said}");
    Some(printed)
}

#[test]
fn files_of_every_kind_are_read_as_others_read_them() {
    let Some(printed) = run("kinds.py") else { return };
    print!("{printed}");
    assert!(printed.lines().count() > 250, "fewer kinds than there were:\n{printed}");
}

#[test]
fn a_table_has_the_same_answers_in_every_format() {
    let Some(printed) = run("differential.py") else { return };
    print!("{printed}");
}
