//! The Python example, against a cluster.

use std::process::Command;

use crate::small_cluster::SmallCluster;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python");

#[test]
fn a_pyarrow_client_uploads_asks_and_is_answered() {
    let python = caudal_testing::python("the Python example", "python", &["pyarrow==26.0.1"]);
    let Some(python) = python else { return };
    let cluster = SmallCluster::start();
    let mut command = Command::new(python.join("bin/python"));
    command.arg(format!("{EXAMPLE}/test_caudal_client.py")).arg(&cluster.gateways);
    let run = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stdout.matches(": ok\n").count(), 6, "{stdout}");
}
