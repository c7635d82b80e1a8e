//! Workloads that come from files: the suites and TPC-H, tiny.

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_csv::{self as csv, Options, Reader};
use caudal_oracle::{Table, tpch};
use caudal_protocol::manifest::QuerySpec;
use caudal_suite::{NAMES, Suite};

use crate::workload::{Workload, join};

const SUITE_SCALE: f64 = 0.0002;
const TPCH_SCALE: f64 = 0.001;

/// Rows of a suite's tables beyond this are left out: a seed is to be cheap.
const ROWS_MAX: usize = 600;

pub fn suite(number: u64) -> Workload {
    let name = NAMES[number as usize % NAMES.len()];
    let suite = Suite::builtin(name).expect("it ships with the product");
    let folder = tempfile::tempdir().expect("a folder");
    caudal_generate::generate(name, SUITE_SCALE, 7, folder.path(), &|_| {}).expect("generated");
    let params = suite.assign(&caudal_generate::demo_params(name, SUITE_SCALE)).expect("they fit");
    let params: Vec<_> = params.into_iter().collect();
    let tables = suite.tables.iter().map(|table| {
        let table = table.in_folder(folder.path()).expect("generated");
        read(table, ROWS_MAX)
    });
    let queries = suite.queries.iter().map(|query| {
        let (name, sql) = (query.name.clone(), query.sql.clone());
        (QuerySpec { name, sql, params: params.clone() }, false)
    });
    Workload::new(format!("suite {name}"), tables.collect(), queries.collect())
}

/// A quarter of the 22 queries.
pub fn tpch(quarter: u64) -> Workload {
    let folder = tempfile::tempdir().expect("a folder");
    let tables =
        tpch::generate(folder.path(), TPCH_SCALE).into_iter().map(|table| read(table, usize::MAX));
    let queries = (1..).zip(tpch::QUERIES).filter(|(number, _)| number % 4 == quarter % 4);
    let queries = queries.map(|(number, sql)| {
        let entry = QuerySpec { name: format!("q{number}"), sql: sql.to_string(), params: vec![] };
        (entry, false)
    });
    Workload::new(format!("tpch {quarter}"), tables.collect(), queries.collect())
}

fn read(table: csv::Table, rows_max: usize) -> Table {
    let name = table.name.clone();
    let schema = table.schema();
    let all = (0..table.columns.len()).collect();
    let reader = Reader::open(table, all, Options::default()).expect("generated");
    let mut batches = vec![];
    while let Some(chunk) = reader.next_chunk().expect("generated") {
        let columns = reader.parse(chunk).expect("generated").batch.columns().to_vec();
        batches.push(RecordBatch::try_new(Arc::clone(&schema), columns).expect("of the schema"));
    }
    let rows = join(&schema, &batches);
    let rows = rows.slice(0, rows.num_rows().min(rows_max));
    Table { name, rows }
}
