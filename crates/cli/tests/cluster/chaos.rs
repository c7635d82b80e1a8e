//! Many clients while nodes are killed and frozen at random: every answer exact, and the cluster whole in
//! the end. `CAUDAL_CHAOS_SECONDS=600` makes it the long run of `docs/reliability.md`.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

use crate::harness::caudal;
use crate::watched::Watched;

#[test]
fn every_answer_is_exact_in_chaos() {
    let seconds = std::env::var("CAUDAL_CHAOS_SECONDS").unwrap_or_else(|_| "20".into());
    let duration = format!("{seconds}s");
    let cluster = Watched::up(&[]);
    let (dir, log) = (cluster.folder.path(), cluster.path("faults.csv"));
    let mut clients = caudal();
    clients.args(["clients", "4", "--for", &duration, "--scale", "0.001", "--dir"]).arg(dir);
    let clients = start(&mut clients);
    let mut chaos = caudal();
    chaos.args(["chaos", "--interval", "1s", "--seed", "5", "--spare-window", "4s"]);
    chaos.args(["--for", &duration, "--dir"]).arg(dir).arg("--log").arg(&log);
    let chaos = start(&mut chaos).wait_with_output().unwrap();
    let clients = clients.wait_with_output().unwrap();

    println!("{}{}", said(&chaos), said(&clients));
    assert!(clients.status.success(), "{}", cluster.logs());
    assert!(said(&clients).contains("runs equal to one process, 0 not"));
    assert!(chaos.status.success(), "{}", cluster.logs());
    assert!(said(&chaos).contains("all 7 nodes are up"));
    let faults = std::fs::read_to_string(log).unwrap();
    for role in [",kill,worker", ",kill,gateway", ",kill,monitor", ",freeze,"] {
        assert!(faults.contains(role), "no {role} in\n{faults}");
    }
    cluster.nobody_is_there_twice();
}

#[test]
fn chaos_does_what_is_typed_and_spares_the_last_monitor() {
    let cluster = Watched::up(&[]);
    let before = ["worker-1", "worker-2"].map(|name| cluster.process(name));
    let mut chaos = caudal();
    chaos.args(["chaos", "--dir"]).arg(cluster.folder.path());
    let mut chaos = start(chaos.stdin(Stdio::piped()));
    let mut hand = chaos.stdin.take().unwrap();
    writeln!(hand, "list\nkill worker-1\nfreeze worker-2\nkill worker-9\ndance").unwrap();
    // All at once: the last of them has nobody left to bring it back.
    writeln!(hand, "kill monitor-1\nkill monitor-2\nkill monitor-3\nexit").unwrap();
    let output = chaos.wait_with_output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("worker-1"), "the list is missing");
    for line in [
        "kill worker-1 (pid",
        "freeze worker-2 (pid",
        "there is no node worker-9",
        "list, kill NODE, freeze NODE, thaw NODE or exit",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    // A monitor may have come back before the third was hit.
    assert!(
        said.contains("monitor-3 is the last monitor") || said.contains("kill monitor-3 (pid"),
        "{said}"
    );
    cluster.is_whole_without(&before);
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
