//! Stages that look alike are told apart on a cluster as in one process.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;

use caudal_oracle::lookalikes::KINDS;
use caudal_oracle::random_sql::{TABLES, rows};

use crate::harness::{Cluster, Data};

/// Queries of one session; more than that are several sessions.
const QUERIES: usize = 120;

/// Of both tables.
const COLUMNS: &str = r#"
    { name = "k", type = "int" },
    { name = "n", type = "int" },
    { name = "s", type = "text" },
    { name = "f", type = "float" },
    { name = "b", type = "bool" },
    { name = "m", type = "decimal(10,2)" },
    { name = "d", type = "date" },
"#;

#[test]
fn look_alikes_equal_one_process() {
    let cluster = Cluster::of(1, 2);
    let queries: Vec<String> = KINDS.iter().flat_map(|kind| kind.queries()).collect();
    for (number, queries) in queries.chunks(QUERIES).enumerate() {
        let folder = tempfile::tempdir().unwrap();
        write_suite(folder.path(), queries);
        let suite = folder.path().to_str().unwrap();
        let data = Data::at(suite, folder.path());
        let out = format!("out-{number}");
        cluster.client(suite, folder.path(), &out).succeeds();
        data.compare(&cluster.path(&out));
    }
    cluster.nothing_is_left();
}

/// A suite of these queries over random tables, which are beside it.
fn write_suite(folder: &Path, queries: &[String]) {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut suite = String::from("title = \"look-alikes\"\n");
    for table in TABLES {
        let file = File::create(folder.join(format!("{table}.csv"))).unwrap();
        arrow::csv::Writer::new(file).write(&rows(&mut rng)).unwrap();
        write!(
            suite,
            "[[table]]\nname = \"{table}\"\nfiles = [\"{table}.csv\"]\ncolumns = [\n{COLUMNS}]\n"
        )
        .unwrap();
    }
    for (number, query) in queries.iter().enumerate() {
        fs::write(folder.join(format!("q{number}.sql")), query).unwrap();
        write!(
            suite,
            "[[query]]\nname = \"q{number}\"\ntitle = \"{number}\"\nfile = \"q{number}.sql\"\n"
        )
        .unwrap();
    }
    fs::write(folder.join("suite.toml"), suite).unwrap();
}
