//! As many clients as there may be, and one more; then nothing of them is left.

use std::io::Write;
use std::process::Stdio;

use crate::harness::{Cluster, Data, caudal, wait_until};

const CLIENTS: usize = 8;

#[test]
fn eight_clients_at_once_the_ninth_is_refused_and_nothing_is_left() {
    let suites = [("steam", "0.001"), ("movies", "0.005"), ("books", "0.002"), ("coffee", "0.004")];
    let data = suites.map(|(suite, scale)| (suite, Data::of(suite, scale)));
    let mut cluster = Cluster::of(2, 0);
    let nodes = ["gateway-1", "gateway-2", "worker-1", "worker-2"];
    let mut memory_mb: Vec<[u64; 4]> = vec![];
    for round in 0..3 {
        // Without a worker sessions stay open.
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (suite, data) = &data[number % data.len()];
                let out = format!("out-{round}-{number}");
                (cluster.client(suite, &data.folder, &out), data, out)
            })
            .collect();
        wait_until("all are open", || {
            std::fs::read_dir(cluster.path("store/sessions"))
                .is_ok_and(|sessions| sessions.count() == CLIENTS)
        });
        ninth_is_refused(&cluster);
        match round {
            0 => ["worker-1", "worker-2"].iter().for_each(|name| cluster.start_worker(name, "")),
            _ => ["worker-1", "worker-2"].iter().for_each(|name| {
                cluster.signal(name, rustix::process::Signal::CONT);
            }),
        }
        for (client, data, out) in clients {
            client.succeeds();
            data.compare(&cluster.path(&out));
        }
        cluster.nothing_is_left();
        memory_mb.push(nodes.map(|name| cluster.rss_mb(name)));
        ["worker-1", "worker-2"].iter().for_each(|name| {
            cluster.signal(name, rustix::process::Signal::STOP);
        });
    }
    println!("MB of {nodes:?} after each round of {CLIENTS}: {memory_mb:?}");
    for (node, name) in nodes.iter().enumerate() {
        // The first round fills caches and the allocator's pools.
        let (second, third) = (memory_mb[1][node], memory_mb[2][node]);
        assert!(third < second + second / 4 + 20, "{name} grows: {memory_mb:?}");
    }
}

fn ninth_is_refused(cluster: &Cluster) {
    let mut ninth = caudal();
    ninth.args(["query", "-c", "SELECT 1", "--wait", "1s", "--gateway", &cluster.gateways[0]]);
    let output = ninth.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("CDL-8003") && said.contains("all 8 sessions"), "{said}");
    assert!(said.contains("waiting: "), "{said}");
}

#[test]
fn the_clients_command_checks_every_answer_and_kills_on_demand() {
    let mut cluster = Cluster::new();
    cluster.gateway_options = ["--grace", "3"].map(String::from).to_vec();
    cluster.start_gateway("");
    cluster.start_worker("worker-1", "");
    let mut clients = caudal();
    clients.args(["clients", "3", "coffee", "books", "--scale", "0.001", "--for", "6s"]);
    clients.args(["--gateway", &cluster.gateways[0]]).stdin(Stdio::piped());
    let mut child = clients.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut commands = child.stdin.take().unwrap();
    wait_until("they have begun", || cluster.records() > 0);
    writeln!(commands, "list\nkill 2\nkill 9").unwrap();
    let output = child.wait_with_output().unwrap();
    let (rows, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        rows.starts_with("client,suite,equal,wrong,refused,median_s,worst_s\n1,coffee,"),
        "{rows}"
    );
    assert_eq!(rows.lines().count(), 4, "{rows}");
    for line in ["client 2 is killed", "there is no client 9", ", 0 not, 1 clients killed; median"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    wait_until("the killed one's session is let go", || cluster.queues().is_empty());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
