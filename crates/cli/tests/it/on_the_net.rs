//! Files in a store and at an address.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use caudal_testing::Moto;
use insta::assert_snapshot;

use crate::place::{Place, Ran};

#[test]
fn objects_of_a_store_are_tables() {
    let Some(moto) = Moto::start("files on S3") else { return };
    moto.make_bucket("data");
    for (key, content) in [("year=2023/a.csv", "n\n1\n"), ("year=2024/a.csv", "n\n2\n3\n")] {
        moto.put(&format!("data/logs/{key}"), content.as_bytes());
    }
    let place = Place::new();
    let caudal = |args: &[&str]| -> Ran {
        place.command(args).envs(moto.environment()).output().unwrap().into()
    };
    let sql = "SELECT year, sum(n) AS n FROM 's3://data/logs/' GROUP BY year ORDER BY year";
    assert_snapshot!(caudal(&["query", "-c", sql]), @"
    exit 0
    --- stdout
    year,n
    2023,1
    2024,5
    --- stderr
    note: s3://data/logs/year=2023/a.csv: its folders say columns: year (int64) ({hive_partitioning=false} leaves them out)
    ");
    let named =
        ["query", "--quiet", "-t", "t=s3://data/logs/*/a.csv", "-c", "SELECT count(*) AS n FROM t"];
    assert_eq!(caudal(&named).answer(), "n\n3\n");
    let none = caudal(&["query", "-c", "SELECT * FROM 's3://data/logs/*.json'"]);
    assert!(none.code == Some(2) && none.stderr.contains("no file matches s3://data/"), "{none}");
}

/// Serves a text under every name, in one piece.
fn serve(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines();
            let _ =
                lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).count();
            let head = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                text.len()
            );
            stream.write_all((head + text).as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn an_address_is_a_table() {
    let address = serve("id,name\n1,Chess\n2,Go\n");
    let place = Place::new();
    let sql = format!("SELECT name FROM 'http://{address}/games.csv' WHERE id = 2");
    assert_eq!(place.query(&sql, &[]).answer(), "name\nGo\n");
    let alone = place.caudal(&["query", &format!("http://{address}/games.csv?sig=a%2F=")]);
    assert_eq!(alone.answer(), "id,name\n1,Chess\n2,Go\n");
    let several = place.caudal(&["query", "https://example.com/*.csv"]);
    assert!(several.code == Some(2) && several.stderr.starts_with("error[CDL-1050]"), "{several}");
}

#[test]
fn folders_of_this_machine_are_columns() {
    let place = Place::with("d/k=a/1.csv", "n\n1\n").and("d/k=b/1.csv", "n\n2\n");
    let sql = "SELECT k, n FROM t ORDER BY n";
    for files in ["t=d", "t=d/", "t=d/*/*.csv", "t=d/**/*.csv"] {
        assert_eq!(
            place.query(sql, &["--quiet", "-t", files]).answer(),
            "k,n\na,1\nb,2\n",
            "{files}"
        );
    }
    let named_alone = place.query("SELECT * FROM 'd/k=a/1.csv'", &[]);
    assert_eq!(named_alone.answer(), "n\n1\n");
    let told = place.query("SELECT * FROM 'd/k=a/1.csv{hive_partitioning=true}'", &["--quiet"]);
    assert_eq!(told.answer(), "n,k\n1,a\n");
    let left_out =
        place.query("SELECT * FROM t ORDER BY n", &["-t", "t=d{hive_partitioning=false}"]);
    assert_eq!(left_out.answer(), "n\n1\n2\n");
}
