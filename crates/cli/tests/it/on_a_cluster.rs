//! `--gateway`: what is said, printed and exited with is the same as in one process.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::place::{Place, Ran};
use crate::shop;
use crate::small_cluster::SmallCluster;

/// The same call in one process and on a cluster.
#[track_caller]
fn assert_same(place: &Place, cluster: &SmallCluster, args: &[&str]) -> Ran {
    let here = place.caudal(args);
    let there = place.caudal(&[args, &["--gateway", &cluster.gateways]].concat());
    assert_eq!(here.to_string(), there.to_string(), "{args:?}");
    there
}

#[test]
fn answers_files_and_rejects_are_the_same() {
    let cluster = SmallCluster::start();
    let queries = [
        ("sold", "SELECT item FROM sales GROUP BY item HAVING count(*) >= $least ORDER BY item"),
        ("all", "SELECT id, item, price, at FROM sales ORDER BY id"),
        ("rows", "SELECT count(*) AS n FROM sales"),
        ("first", "SELECT item FROM sales ORDER BY _row LIMIT 1"),
        ("constant", "SELECT 40 + 2 AS answer"),
    ];
    let bad = "id,Item,price,at\nfour,pen,1.10,2024-01-01 00:00:00\n";
    let place = shop::with_queries(&queries).and("data/sales_3.csv", bad);
    let run = ["run", "suite", "--data", "data", "--lenient"];
    let ran = assert_same(&place, &cluster, &run);
    assert!(ran.stdout.contains("answer\n42\n"), "{ran}");
    assert!(ran.stderr.starts_with("warning: 1 row of sales did not fit"), "{ran}");
    assert_same(&place, &cluster, &[&run[..], &["--param", "least=2", "--out", "out"]].concat());
    assert_eq!(place.read("out/sold.csv"), "item\npen\n");
    assert_same(&place, &cluster, &[&run[..], &["--format", "ndjson", "-q", "all"]].concat());
    assert_same(&place, &cluster, &["run", "suite", "--data", "data", "--strict"]);
}

#[test]
fn many_rows_come_in_their_order() {
    let cluster = SmallCluster::start();
    let rows: String = (0..200_000).map(|n| format!("{},{}\n", n * 7919 % 200_000, n)).collect();
    let place = Place::with("t.csv", format!("a,b\n{rows}"));
    let args = ["query", "-t", "t=t.csv", "-c"];
    for sql in [
        "SELECT a, b FROM t ORDER BY a",
        "SELECT a % 10 AS a, sum(b) AS b FROM t GROUP BY 1 ORDER BY 1",
    ] {
        assert_same(&place, &cluster, &[&args[..], &[sql]].concat());
    }
}

#[test]
fn what_is_wrong_with_sql_is_said_in_the_same_words() {
    let cluster = SmallCluster::start();
    let place = Place::with("games.csv", "id,name,price\n1,Rust,39.99\n");
    for sql in [
        "SELEC * FROM games",
        "SELECT id\nFROM games\n\tWHERE prise > 3",
        "SELECT * FROM gamse",
        "SELECT random() FROM games",
        "DELETE FROM games",
        "SELECT $n FROM games",
    ] {
        let ran = assert_same(&place, &cluster, &["query", "-c", sql, "-t", "games=games.csv"]);
        assert_eq!(ran.code, Some(1));
    }
}

#[test]
fn a_query_that_fails_fails_alone() {
    let cluster = SmallCluster::start();
    let place = shop::with_queries(&[
        ("count", "SELECT count(*) AS n FROM sales"),
        ("divides", "SELECT id, 10 / (id - 2) AS x FROM sales"),
    ]);
    let ran = assert_same(&place, &cluster, &["run", "suite", "--data", "data"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("n\n3\n"), "{ran}");
}

#[test]
fn a_token_is_needed_where_tokens_are() {
    let mut cluster = SmallCluster::without_workers(&["secret"]);
    cluster.add_worker();
    let place = Place::new();
    let ask = |token: &str| {
        let mut command = place.command(&["query", "-c", "SELECT 1 AS one"]);
        command.env("CAUDAL_GATEWAY", &cluster.gateways).env("CAUDAL_TOKEN", token);
        Ran::from(command.output().unwrap())
    };
    assert_eq!(ask("secret").answer(), "one\n1\n");
    assert_snapshot!(ask("guess"), @"
    exit 2
    --- stderr
    error[CDL-8001]: no token that this cluster knows came with the call
    hint: give one with --token or CAUDAL_TOKEN
    ");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let query = |options: &[&str]| Place::new().query("SELECT 1", options);
    assert_snapshot!(query(&["--gateway", "ftp://a"]), @r#"
    exit 2
    --- stderr
    error[CDL-9003]: "ftp://a" is not the address of a gateway: unknown scheme ftp
    hint: gateways are named host:port, as in a:7070
    "#);
    assert_snapshot!(query(&["--gateway", "a", "--memory", "1G"]), @"
    exit 2
    --- stderr
    error[CDL-9009]: a bound on memory says nothing to a cluster
    hint: its workers have a --memory of their own
    ");
    assert_snapshot!(query(&["--gateway", "a", "--ca", "none.pem"]), @"
    exit 2
    --- stderr
    error[CDL-9007]: cannot read the certificates in none.pem: No such file or directory (os error 2)
    ");
}

/// A run on a cluster without workers, which waits for one.
fn waiting_run(place: &Place, cluster: &SmallCluster) -> Child {
    let args = ["query", "-c", "SELECT count(*) AS n FROM t", "-t", "t=t.csv"];
    let mut command = place.command(&[&args[..], &["--gateway", &cluster.gateways]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The sessions that `caudal sessions` lists, waiting until there are so many.
#[track_caller]
fn sessions(place: &Place, cluster: &SmallCluster, count: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let listed = place.caudal(&["sessions", "--gateway", &cluster.gateways]).answer();
        let (header, rows) = listed.split_once('\n').unwrap();
        assert_eq!(header, "session,started,queries,tables,shards,workers,gateway,left_out");
        let rows: Vec<_> = rows.lines().map(str::to_string).collect();
        if rows.len() == count {
            return rows;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{listed}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_that_waits_says_for_what_and_can_be_cancelled() {
    let cluster = SmallCluster::without_workers(&[]);
    let place = Place::with("t.csv", "n\n1\n");
    let mut child = waiting_run(&place, &cluster);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with("waiting: ") && line.contains("worker"), "{line}");

    let listed = sessions(&place, &cluster, 1);
    let fields: Vec<_> = listed[0].split(',').collect();
    assert_eq!(fields[2..6], ["query", "t", "4", "0"], "{listed:?}");
    let cancelled = place.caudal(&["cancel", fields[0], "--gateway", &cluster.gateways]);
    assert_eq!(cancelled.code, Some(0), "{cancelled}");
    assert_eq!(cancelled.stderr, format!("cancelled {}\n", fields[0]));

    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(rest, "error[CDL-8013]: it was cancelled\n");
    sessions(&place, &cluster, 0);
}

#[test]
fn ctrl_c_cancels_the_session() {
    let cluster = SmallCluster::without_workers(&[]);
    let place = Place::with("t.csv", "n\n1\n");
    let child = waiting_run(&place, &cluster);
    sessions(&place, &cluster, 1);
    let pressed = Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    let took = pressed.elapsed();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{ran}");
    assert!(ran.stderr.ends_with("interrupted\n"), "{ran}");
    assert!(took < Duration::from_secs(3), "it took {took:?}");
    sessions(&place, &cluster, 0);
}
