//! Objects of S3: moto's server on loopback.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use caudal_core::{Coded, codes};
use caudal_source::{Codec, files_at};
use caudal_testing::Moto;

use crate::common::{compress, read_files};
use crate::write;

const CHILD: &str = "CAUDAL_SOURCE_S3_CHILD";

#[test]
fn objects_of_s3_are_tables() {
    let Some(moto) = Moto::start("tables on S3") else { return };
    moto.make_bucket("data");
    for (key, content) in [
        ("logs/2024/a.csv", "n\n1\n"),
        ("logs/2024/b.csv", "n\n2\n"),
        ("logs/2025/c.csv", "n\n3\n"),
        ("logs/2025/deep/d.csv", "n\n4\n"),
        ("logs/_SUCCESS", ""),
        ("other/100%25%20[1].csv", "n\n5\n"),
        ("other/100%25%201.csv", "n\n6\n"),
        ("empty.csv", ""),
    ] {
        moto.put(&format!("data/{key}"), content.as_bytes());
    }
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    moto.put("data/p/1.parquet", &write::parquet(&batch, 30_000));
    moto.put("data/p/2.parquet", &write::parquet(&batch, 100_000));
    moto.put("data/z/1.json", &compress(Codec::Zstd, &write::json_lines(&batch)));
    // In a process of its own, because its settings are the environment.
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "s3::s3_child", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .envs(moto.environment())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("all is read"), "{child:?}");
}

fn found(address: &str) -> Vec<String> {
    let found = files_at(address).unwrap();
    found.iter().map(|file| file.to_str().unwrap().replacen("s3://data/", "", 1)).collect()
}

/// The sum of the numbers in all rows.
fn sum(address: &str) -> i64 {
    let rows = read_files(&files_at(address).unwrap()).unwrap().rows();
    rows.iter().map(|row| row[0].as_ref().unwrap().parse::<i64>().unwrap()).sum()
}

#[test]
fn s3_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    assert_eq!(found("s3://data/logs/2024/*.csv"), ["logs/2024/a.csv", "logs/2024/b.csv"]);
    assert_eq!(found("s3://data/logs/*/?.csv").len(), 3);
    assert_eq!(found("s3://data/logs/**/*.csv").len(), 4);
    assert_eq!(found("s3://data/logs/").len(), 4);
    assert_eq!(found("s3://data/other/100% [1].csv"), ["other/100% [1].csv"]);
    assert_eq!(found("s3://data/none/*.csv").len(), 0);
    assert_eq!(sum("s3://data/logs/"), 10);
    assert_eq!(sum("s3://data/other/100% [1].csv"), 5);
    assert_eq!(sum("s3://data/p/*.parquet"), 2 * (0..100_000).sum::<i64>());
    assert_eq!(sum("s3a://data/z/1.json"), (0..100_000).sum::<i64>());
    for (address, code) in [
        ("s3://data/logs/none.csv", codes::NO_SUCH_FILE),
        ("s3://nobody/x.csv", codes::NO_SUCH_FILE),
        ("s3://data/empty.csv", codes::FILE_EMPTY),
        ("s3://data/a//b.csv", codes::ADDRESS_NOT_TAKEN),
    ] {
        let error = read_files(&[PathBuf::from(address)]).unwrap_err();
        assert_eq!(error.code(), code, "{address}: {error}");
    }
    println!("all is read");
}
