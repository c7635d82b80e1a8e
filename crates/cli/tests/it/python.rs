//! The Python example, against a cluster.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::small_cluster::SmallCluster;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python");

/// A Python with pyarrow, made where it is missing. None where there is no Python or no registry.
fn python() -> Option<PathBuf> {
    let folder = Path::new(&std::env::var_os("HOME")?).join(".cache/caudal/venv-python");
    let python = folder.join("bin/python");
    let succeeds = |command: &mut Command| command.output().is_ok_and(|run| run.status.success());
    if succeeds(Command::new(&python).args(["-c", "import pyarrow.flight"])) {
        return Some(python);
    }
    let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))
        && succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", "pyarrow"]));
    made.then_some(python)
}

#[test]
fn a_pyarrow_client_uploads_asks_and_is_answered() {
    let Some(python) = python() else {
        println!("SKIPPED: no python3 with pyarrow, and none could be made");
        return;
    };
    let cluster = SmallCluster::start();
    let mut command = Command::new(python);
    command.arg(format!("{EXAMPLE}/test_caudal_client.py")).arg(&cluster.gateways);
    let run = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stdout.matches(": ok\n").count(), 6, "{stdout}");
}
