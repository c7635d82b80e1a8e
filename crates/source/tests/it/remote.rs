//! Files that a server of HTTP has, which may do it well or badly.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use caudal_core::{Coded, codes, limits};
use caudal_source::{Codec, Error, Options};

use crate::common::{
    CODECS, Content, Folder, compress, csv, guessed, read_files, read_source, small_chunks,
};
use crate::formats::all_types;
use crate::server::{Fault, Served, Server};
use crate::write;

fn read_one(address: &PathBuf) -> Result<Content, Error> {
    read_files(std::slice::from_ref(address))
}

/// Columns of numbers and texts that do not compress.
fn columns(count: usize, rows: usize) -> RecordBatch {
    let column = |at: usize| -> ArrayRef {
        let number = move |row: usize| {
            (row as u64 * 2_654_435_761 + at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        match at % 2 {
            0 => Arc::new(Int64Array::from_iter_values((0..rows).map(|row| number(row) as i64))),
            _ => Arc::new(StringArray::from_iter_values(
                (0..rows).map(|row| format!("{:x}", number(row))),
            )),
        }
    };
    RecordBatch::try_from_iter((0..count).map(|at| (format!("c{at}"), column(at)))).unwrap()
}

#[test]
fn every_format_is_read_as_if_it_were_here() {
    let (folder, server) = (Folder::new(), Server::start());
    let mut all: Vec<(String, Vec<u8>)> = write::all(&all_types(3000), 1000).into_iter().collect();
    let text = csv(40_000);
    all.push(("csv".to_string(), text.clone().into_bytes()));
    all.push(("small".to_string(), csv(10).into_bytes()));
    all.push(("json".to_string(), write::json_lines(&columns(3, 20_000))));
    for codec in CODECS {
        all.push((codec.name().to_string(), compress(codec, text.as_bytes())));
    }
    for (name, bytes) in all {
        let here = read_one(&folder.file("t", &bytes)).unwrap();
        for has_ranges in [true, false] {
            let address = server.serve("t", Served { has_ranges, ..Served::new(bytes.clone()) });
            let needs_ranges = name.starts_with("parquet") || name == "arrow file";
            if needs_ranges && !has_ranges {
                assert_eq!(read_one(&address).unwrap_err().code(), codes::NOT_A_FILE, "{name}");
                continue;
            }
            let there = read_one(&address).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(there.batch.num_rows(), here.batch.num_rows(), "{name}");
            assert!(there.rows() == here.rows(), "{name}, ranges: {has_ranges}");
            assert_eq!(there.bytes, here.bytes, "{name}");
        }
    }
}

#[test]
fn only_the_needed_columns_of_parquet_are_fetched() {
    let server = Server::start();
    let batch = columns(12, 120_000);
    let bytes = write::parquet(&batch, 40_000);
    let total = bytes.len();
    let table = guessed(&[server.serve("t", Served::new(bytes))]).unwrap();
    let footer = server.sent_bytes();
    assert!(
        footer <= limits::REMOTE_HEAD_BYTES + limits::REMOTE_TAIL_BYTES,
        "{footer} for the footer"
    );
    assert_eq!(server.sent().len(), 2);
    let source = table.open(vec![7, 2], Options::default()).unwrap();
    let content = read_source(source.as_ref()).unwrap();
    assert!(content.batch.column(1) == batch.column(2));
    let needed = source.total_bytes().unwrap() as usize;
    let fetched = server.sent_bytes() - footer;
    assert!(
        fetched < needed + needed / 10 && fetched < total / 3,
        "{fetched} of {total}, needed {needed}"
    );
    // Two columns of three row groups.
    assert_eq!(server.sent().len(), 2 + 6, "{:?}", server.sent());
}

#[test]
fn columns_that_lie_together_are_one_request() {
    let server = Server::start();
    let bytes = write::parquet(&columns(30, 2000), 2000);
    let address = server.serve("t", Served::new(bytes));
    read_one(&address).unwrap();
    assert!(server.sent().len() <= 3, "{:?}", server.sent());
}

#[test]
fn what_a_server_cannot_do_at_once_is_asked_for_again() {
    let server = Server::start();
    let text = csv(30_000);
    let expected = {
        let folder = Folder::new();
        read_one(&folder.file("t", &text)).unwrap()
    };
    type AtNth = fn(usize) -> Fault;
    let faults: [(&str, AtNth); 5] = [
        ("busy", |nth| if nth % 3 != 2 { Fault::Status(503) } else { Fault::None }),
        ("limited", |nth| if nth == 1 { Fault::Status(429) } else { Fault::None }),
        ("cut", |nth| if nth % 3 == 1 { Fault::Cut(100_000) } else { Fault::None }),
        ("cut at once", |nth| if nth % 2 == 0 { Fault::CutAtOnce } else { Fault::None }),
        ("slow", |_| Fault::Slow),
    ];
    for (name, fault) in faults {
        for (etag, has_ranges) in
            [(Some("\"x\""), true), (Some("W/\"x\""), true), (None, true), (Some("\"x\""), false)]
        {
            let address =
                server.serve("t", Served { fault, etag, has_ranges, ..Served::new(text.clone()) });
            let content = read_one(&address)
                .unwrap_or_else(|error| panic!("{name} {etag:?} {has_ranges}: {error}"));
            assert!(content.batch == expected.batch, "{name} {etag:?} {has_ranges}");
        }
    }
}

#[test]
fn an_answer_that_breaks_off_for_good_is_an_error() {
    let server = Server::start();
    let (server, packed) = (&server, &csv(60_000));
    // Side by side, for each waits some seconds before it gives up.
    std::thread::scope(|scope| {
        for codec in CODECS {
            scope.spawn(move || {
                let fault = |nth| if nth > 0 { Fault::Cut(0) } else { Fault::None };
                let bytes = compress(codec, packed.as_bytes());
                let address = server.serve(codec.name(), Served { fault, ..Served::new(bytes) });
                let error = read_one(&address).unwrap_err();
                assert_eq!(error.code(), codes::ADDRESS_UNREADABLE, "{}: {error}", codec.name());
            });
        }
    });
    // Nobody knows whether a second answer is of the same bytes.
    let fault = |nth| if nth == 3 { Fault::Cut(200_000) } else { Fault::None };
    let served = Served { fault, etag: None, has_ranges: false, ..Served::new(csv(60_000)) };
    let error = read_one(&server.serve("t", served)).unwrap_err();
    assert_eq!(error.code(), codes::ADDRESS_UNREADABLE, "{error}");
}

#[test]
fn an_object_that_changes_while_it_is_read_is_an_error() {
    let server = Server::start();
    let large = columns(6, 100_000);
    for (name, content) in [
        ("csv", csv(700_000).into_bytes()),
        ("gzip", compress(Codec::Gzip, &write::json_lines(&large))),
        ("parquet", write::parquet(&large, 20_000)),
        ("arrow file", write::ipc_file(&large, 20_000)),
        ("arrow stream", write::ipc_stream(&large, 20_000)),
    ] {
        for (heeds_matches, etag, other) in [
            (true, Some("\"1\""), "\"2\""),
            (false, Some("\"1\""), "\"2\""),
            (false, Some("W/\"1\""), "W/\"2\""),
        ] {
            let mut changed = content.clone();
            changed.reverse();
            let later = Some((2, changed, other));
            let served = Served { heeds_matches, etag, later, ..Served::new(content.clone()) };
            let error = read_one(&server.serve("t", served)).unwrap_err();
            assert_eq!(error.code(), codes::FILE_CHANGED, "{name} {etag:?}: {error}");
        }
        // Without a tag, its size tells.
        let later = Some((2, content[..content.len() - 9].to_vec(), "\"2\""));
        let served = Served { etag: None, later, ..Served::new(content.clone()) };
        let error = read_one(&server.serve("t", served)).unwrap_err();
        assert_eq!(error.code(), codes::FILE_CHANGED, "{name}: {error}");
    }
}

#[test]
fn what_is_not_there_is_told_without_what_lets_others_in() {
    let server = Server::start();
    let with_query = |name: &str, fault: fn(usize) -> Fault| {
        let address = server.serve(name, Served { fault, ..Served::new(csv(10)) });
        PathBuf::from(format!("{}?X-Amz-Signature=s3cr3t", address.display()))
    };
    let missing = format!("http://{}/no.csv?X-Amz-Signature=s3cr3t", server.address);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let away = format!("http://me:s3cr3t@{closed}/t.csv");
    for (address, code) in [
        (missing.into(), codes::NO_SUCH_FILE),
        (with_query("denied", |_| Fault::Status(403)), codes::ADDRESS_UNREADABLE),
        (with_query("unknown", |_| Fault::Status(401)), codes::ADDRESS_UNREADABLE),
        (with_query("wrong", |_| Fault::Status(400)), codes::ADDRESS_UNREADABLE),
        (
            with_query("late", |nth| if nth > 0 { Fault::Status(404) } else { Fault::None }),
            codes::NO_SUCH_FILE,
        ),
        (PathBuf::from(away), codes::ADDRESS_UNREADABLE),
        (PathBuf::from("ftp://h/t.csv"), codes::ADDRESS_NOT_TAKEN),
    ] {
        let read = read_one(&address).map(|content| content.batch.num_rows());
        // What is small has come with the first answer.
        if read.as_ref().is_ok_and(|_| address.to_string_lossy().contains("late")) {
            continue;
        }
        let error = read.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error} {error:?}");
    }
}

#[test]
fn nothing_is_an_empty_file() {
    let server = Server::start();
    for has_ranges in [true, false] {
        let address = server.serve("t", Served { has_ranges, ..Served::new("") });
        assert_eq!(read_one(&address).unwrap_err().code(), codes::FILE_EMPTY);
    }
}

#[test]
fn what_is_read_ahead_is_bounded() {
    let server = Server::start();
    let row = format!("1,{}\n", "x".repeat(997));
    let bytes = 90 << 20;
    let text = format!("a,b\n{}", row.repeat(bytes / row.len()));
    let table = guessed(&[server.serve("t", Served::new(text))]).unwrap();
    let before = server.sent_bytes();
    let source = table.open(vec![0], Options::default()).unwrap();
    let ahead = (limits::REMOTE_AHEAD_REQUESTS + 1) * limits::REMOTE_REQUEST_BYTES;
    let mut read = 0;
    while let Some(chunk) = source.next_chunk().unwrap() {
        read += chunk.parse().unwrap().bytes;
        let sent = server.sent_bytes() - before;
        let most = read + ahead + 2 * limits::REMOTE_REQUEST_BYTES;
        assert!(sent <= most, "{sent} sent, {read} read");
        if read < 8 << 20 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    assert!(server.under_way_max() > 1, "only one at a time");
}

#[test]
fn many_objects_are_opened_side_by_side_and_come_in_their_order() {
    let server = Server::start();
    let name = |at: usize| format!("f{at:03}");
    let text = |at: usize| format!("n,t\n{at},{}\n", "x".repeat(30_000 + at));
    let slow: fn(usize) -> Fault = |_| Fault::Slow;
    let files: Vec<PathBuf> = (0..60)
        .map(|at| server.serve(&name(at), Served { fault: slow, ..Served::new(text(at)) }))
        .collect();
    let table = guessed(&files).unwrap();
    let source = table.open(vec![0], small_chunks()).unwrap();
    let rows = read_source(source.as_ref()).unwrap().rows();
    let numbers: Vec<usize> =
        rows.into_iter().map(|row| row[0].clone().unwrap().parse().unwrap()).collect();
    assert_eq!(numbers, (0..60).collect::<Vec<_>>());
    assert!(
        (2..=limits::REMOTE_OPEN_REQUESTS + 4).contains(&server.under_way_max()),
        "{}",
        server.under_way_max()
    );
    source.again().unwrap();
}
