//! Where results go: to files of the name that is asked for, to folders, to pipes, and to disks without room.

use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::Path;
use std::process::{Command, Output};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow::ipc::reader::{FileReader, StreamReader};
use bytes::Bytes;
use caudal_testing::skip_on_this_machine;
use insta::assert_snapshot;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;

use crate::place::{Place, Ran};
use crate::shop;

const SQL: &str =
    "SELECT value AS n, 'text ' || value AS t FROM generate_series(1, 1000) ORDER BY n";

fn output(place: &Place, options: &[&str]) -> Output {
    place.command(&[&["query", "-c", SQL], options].concat()).output().unwrap()
}

/// The sum of `n`.
fn sum(batches: impl IntoIterator<Item = RecordBatch>) -> i64 {
    let of =
        |batch: RecordBatch| batch["n"].as_primitive::<Int64Type>().values().iter().sum::<i64>();
    batches.into_iter().map(of).sum()
}

fn parquet_sum(bytes: Vec<u8>) -> i64 {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
    sum(reader.build().unwrap().map(Result::unwrap))
}

#[test]
fn one_result_is_the_file_that_is_named() {
    for (name, first) in [
        ("result.csv", "n,t\n1,text 1\n"),
        ("result.tsv", "n\tt\n1\ttext 1\n"),
        ("result.json", "[{\"n\":1,\"t\":\"text 1\"},"),
        ("a/b/result.jsonl", "{\"n\":1,\"t\":\"text 1\"}\n"),
        ("result.md", "| n | t |\n"),
        ("result.txt", "╭"),
        ("result.parquet", "PAR1"),
        ("result.arrow", "ARROW1"),
        ("result.feather", "ARROW1"),
    ] {
        let place = Place::new();
        let ran: Ran = output(&place, &["--out", name]).into();
        assert_eq!(ran.stderr, "query     1000 rows\n", "{name}");
        assert!(fs::read(place.path(name)).unwrap().starts_with(first.as_bytes()), "{name}");
        let folder = Path::new(name).parent().unwrap().to_str().unwrap();
        assert_eq!(place.list(folder).len(), 1, "nothing beside it");
    }
}

#[test]
fn text_is_compressed_by_its_name() {
    let place = Place::new();
    for name in ["a.csv.gz", "b.ndjson.zst", "c.tsv.gz"] {
        output(&place, &["--out", name]);
        let rows = place.query(&format!("SELECT sum(n) AS s FROM '{name}'"), &["--format", "csv"]);
        assert_eq!(rows.stdout, "s\n500500\n", "{name}");
    }
    assert_eq!(fs::read(place.path("a.csv.gz")).unwrap()[..2], [0x1f, 0x8b]);
    assert_eq!(fs::read(place.path("b.ndjson.zst")).unwrap()[..4], [0x28, 0xb5, 0x2f, 0xfd]);
}

#[test]
fn what_is_no_file_is_a_folder() {
    let place = Place::new();
    for (name, options) in [
        ("results", &["--format", "arrow"][..]),
        ("results", &["--delimiter", ";"]),
        ("x.csv/", &["--format", "ndjson"]),
    ] {
        output(&place, &[&["--out", name], options].concat());
    }
    assert_eq!(place.list("results"), ["query.arrow", "query.csv"]);
    assert!(place.read("results/query.csv").starts_with("n;t\n1;text 1\n"));
    assert_eq!(place.list("x.csv"), ["query.ndjson"]);
    output(&place, &["--out", "-"]);
    assert_eq!(place.list("").len(), 2, "- is stdout");
}

#[test]
fn an_older_file_is_replaced_and_a_link_stays_one() {
    let place = Place::with("data/older", "older and longer than what comes now").and("q.csv", "");
    fs::remove_file(place.path("q.csv")).unwrap();
    std::os::unix::fs::symlink("data/older", place.path("q.csv")).unwrap();
    let args = ["--out", "q.csv", "--quiet"];
    assert_eq!(place.query("SELECT 1 AS one", &args).answer(), "");
    assert!(place.path("q.csv").is_symlink());
    assert_eq!(place.read("data/older"), "one\n1\n");
    assert_eq!(place.query("SELECT 2 AS two", &["-o", "data/older", "--quiet"]).answer(), "");
    assert_eq!(place.read("data/older"), "two\n2\n");
    assert_eq!(place.list("data"), ["older"]);
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(place.path("data/older")).unwrap().permissions().mode();
    let usual = fs::metadata(place.and("usual", "").path("usual")).unwrap().permissions().mode();
    assert_eq!(mode, usual, "as any new file");
}

#[test]
fn a_name_that_cannot_be_meant_is_refused() {
    let place = shop::with_all_sales();
    let ran = |options: &[&str]| shop::run(&place, options);
    assert_snapshot!(ran(&["--out", "a.csv", "--format", "json"]), @"
    exit 2
    --- stderr
    error[CDL-6013]: --out a.csv: its name says otherwise than --format
    hint: leave the option out, or name the file otherwise
    ");
    assert_snapshot!(ran(&["--out", "a.parquet.gz"]), @"
    exit 2
    --- stderr
    error[CDL-6013]: --out a.parquet.gz: such files are compressed within
    hint: leave .gz or .zst out
    ");
    assert_snapshot!(ran(&["--out", "a.xlsx"]), @"
    exit 2
    --- stderr
    error[CDL-6013]: --out a.xlsx: .xlsx is not written
    hint: .csv, .tsv, .json, .ndjson, .parquet, .arrow, .md and .txt are, text with .gz or .zst after it; a name that ends with / is a folder's
    ");
    assert_snapshot!(ran(&["--format", "json", "--delimiter", ";"]), @"
    exit 2
    --- stderr
    error[CDL-6013]: --delimiter is said, and the format is not CSV
    ");
    let two = shop::with_queries(&[("a", "SELECT 1"), ("b", "SELECT 2")]);
    assert_snapshot!(shop::run(&two, &["--out", "a.csv"]), @"
    exit 2
    --- stderr
    error[CDL-6013]: --out a.csv: one file cannot have 2 results
    hint: name a folder, or choose one with --queries
    ");
    assert_eq!(shop::run(&two, &["--out", "a.csv", "-q", "b", "--quiet"]).answer(), "");
    assert_snapshot!(shop::run(&two, &["--format", "arrow"]), @"
    exit 2
    --- stderr
    error[CDL-6006]: stdout can be one table of Parquet or Arrow, and there are several results
    hint: name a folder with --out, or choose one query
    ");
    assert!(!place.path("a.xlsx").exists() && !place.path("a.parquet.gz").exists());
}

#[test]
fn pipes_get_parquet_and_arrow() {
    let place = Place::new();
    assert_eq!(parquet_sum(output(&place, &["--format", "parquet"]).stdout), 500_500);
    let bytes = Cursor::new(output(&place, &["--format", "arrow"]).stdout);
    assert_eq!(sum(StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap)), 500_500);
    output(&place, &["--out", "a.arrow"]);
    let file = File::open(place.path("a.arrow")).unwrap();
    assert_eq!(sum(FileReader::try_new(file, None).unwrap().map(Result::unwrap)), 500_500);
    output(&place, &["--out", "a.arrows"]);
    let file = File::open(place.path("a.arrows")).unwrap();
    assert_eq!(sum(StreamReader::try_new(file, None).unwrap().map(Result::unwrap)), 500_500);
}

#[test]
fn a_schema_in_every_format() {
    let place = Place::with("t.csv", "id,name\n1,pen\n2,ink\n");
    let schema = |format: &str| {
        place.command(&["schema", "t.csv", "--format", format]).output().unwrap().stdout
    };
    for format in ["table", "csv", "json", "ndjson", "markdown"] {
        let text = String::from_utf8(schema(format)).unwrap();
        assert!(text.contains("name") && text.contains("pen"), "{format}: {text}");
    }
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(schema("parquet"))).unwrap();
    let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 2);
    let arrow = StreamReader::try_new(Cursor::new(schema("arrow")), None).unwrap();
    assert_eq!(arrow.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
}

#[test]
fn a_large_result_has_row_groups_of_bounded_size() {
    let place = Place::new();
    let sql = "SELECT value AS n FROM generate_series(1, 1000000)";
    assert_eq!(place.query(sql, &["--out", "n.parquet", "--quiet"]).answer(), "");
    let file = File::open(place.path("n.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let groups = reader.metadata().row_groups();
    assert_eq!(groups.iter().map(|group| group.num_rows()).sum::<i64>(), 1_000_000);
    assert!(groups.len() > 3 && groups.iter().all(|group| group.num_rows() <= 1 << 18));
    let is_zstd = |compression| matches!(compression, Compression::ZSTD(_));
    assert!(groups.iter().all(|group| is_zstd(group.column(0).compression())));
}

#[test]
fn results_that_wait_for_stdout_are_all_there() {
    let series = "FROM generate_series(1, 400000)";
    let long = format!("SELECT value AS n, 'a text that takes some room ' || value AS t {series}");
    let place = shop::with_queries(&[
        ("first", "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"),
        ("long", long.as_str()),
        ("last", "SELECT count(*) AS n FROM sales"),
    ]);
    let text = shop::run(&place, &["--format", "json"]).answer();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["first"][0]["item"], "ink");
    assert_eq!(all["last"], serde_json::json!([{ "n": 3 }]));
    let rows = all["long"].as_array().unwrap();
    let sum: i64 = rows.iter().map(|row| row["n"].as_i64().unwrap()).sum();
    assert_eq!((rows.len(), sum), (400_000, 400_000 * 400_001 / 2));
}

#[test]
fn a_failed_query_is_not_among_the_results_on_stdout() {
    let place = shop::with_queries(&[
        ("bad", "SELECT 1 / (count(*) - 3) AS x FROM sales"),
        ("good", "SELECT count(*) AS n FROM sales"),
    ]);
    let ran = shop::run(&place, &["--format", "json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "{\"good\":[{\"n\":3}]}\n"), "{ran}");
    let none = shop::run(&place, &["--format", "json", "-q", "bad"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{none}");
}

#[test]
fn what_was_left_out_is_in_the_summary() {
    let place = Place::with("t.csv", "a,b\n1,x\n2,y\nz,z\n").and("u.csv", "a\n1\n");
    let sql = "SELECT sum(t.a) AS sum FROM t JOIN u ON u.a <= t.a";
    let tables = ["-t", "t=t.csv{types={a='int'}}", "-t", "u=u.csv", "--rejected-max", "50"];
    let ran = place.query(sql, &[&tables[..], &["--out", "sum.csv"]].concat());
    assert!(ran.stderr.ends_with("\nquery        1 row\nleft out: 1 of 3 rows of t\n"), "{ran}");
}

const LONG: &str =
    "SELECT value AS n, md5(CAST(value AS TEXT)) AS t FROM generate_series(1, 200000)";

#[test]
fn a_device_without_room_is_told_in_every_format() {
    if File::options().write(true).open("/dev/full").is_err() {
        return skip_on_this_machine("a device without room", "there is no /dev/full");
    }
    for format in ["csv", "json", "ndjson", "markdown", "parquet", "arrow"] {
        for sql in ["SELECT 1 AS n", LONG] {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let place = Place::new();
            let mut command = place.command(&["query", "-c", sql, "--format", format]);
            let ran = Ran::from(command.stdout(full).output().unwrap());
            let told = "error[CDL-6001]: cannot write: No space left on device (os error 28)\n";
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), told), "{format}");
            let ran = place.query(sql, &["--out", "/dev/full", "--format", format]);
            let told = told.replace("write: ", "write: /dev/full: ");
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), told.as_str()), "{format}");
        }
    }
}

/// A file system of this size, while it lives.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path, kilobytes: u32) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "none"]).arg(at);
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0).status().unwrap();
        assert!(unmounted.success(), "{} stays mounted", self.0.display());
    }
}

#[test]
fn a_full_disk_keeps_no_half_file() {
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    let at = place.path("disk");
    let Some(_disk) = SmallDisk::mount(&at, 512) else {
        return skip_on_this_machine("a full disk", "this user may not mount");
    };
    fs::write(at.join("older.parquet"), "older").unwrap();
    for out in ["older.parquet", "new.csv", "new.csv.gz", "new.ndjson.zst", "new.arrow", "folder"] {
        let ran = place.query(LONG, &["--out", &format!("disk/{out}")]);
        let is_told = ran.stderr.contains("error[CDL-6001]: cannot write: ")
            && ran.stderr.contains("No space left on device");
        assert!(ran.code == Some(2) && is_told, "{out}: {ran}");
        let _ = fs::remove_dir(at.join("folder"));
        assert_eq!(place.list("disk"), ["older.parquet"], "{out}");
    }
    assert_eq!(place.read("disk/older.parquet"), "older");
    // A result that waits for stdout, too.
    let waiting = format!("{LONG} UNION ALL {LONG} UNION ALL {LONG}");
    let suite = shop::with_queries(&[
        ("first", "SELECT count(*) AS n FROM sales"),
        ("long", waiting.as_str()),
    ]);
    let mut command = suite.command(&["run", "suite", "--data", "data", "--format", "csv"]);
    let ran = Ran::from(command.env("TMPDIR", &at).output().unwrap());
    assert!(ran.stderr.contains("error[CDL-6001]: cannot write: a temporary file in "), "{ran}");
}

#[test]
fn an_interrupted_reader_of_a_named_pipe_is_no_error() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        return caudal_testing::skip("results into a named pipe", "no mkfifo");
    }
    let mut child = place.command(&["query", "-c", SQL, "--out", "pipe"]).spawn().unwrap();
    let mut text = String::new();
    File::open(place.path("pipe")).unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(text.starts_with("n,t\n1,text 1\n") && text.ends_with("1000,text 1000\n"));
    assert_eq!(place.list(""), ["pipe"]);
}
