//! Workloads that come from files: the suites and TPC-H, tiny.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use caudal_csv::{At, Column, Options, Reader, TableSpec, Type};
use caudal_oracle::tpch;
use caudal_protocol::manifest::QueryEntry;
use caudal_suite::{ColumnType, NAMES, Suite};

use crate::workload::{Table, Workload, join, param};

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
    let params: Vec<_> = params.into_iter().map(|(name, value)| (name, param(value))).collect();
    let tables = suite.tables.iter().map(|table| {
        let files = table.files_in(folder.path()).expect("generated");
        let columns = table.columns.iter().map(column).collect();
        let table = TableSpec { name: table.name.clone(), files, columns, fields: table.fields };
        read(table, ROWS_MAX)
    });
    let queries = suite.queries.iter().map(|query| {
        let (name, sql) = (query.name.clone(), query.sql.clone());
        (QueryEntry { name, sql, params: params.clone() }, false)
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
        let entry = QueryEntry { name: format!("q{number}"), sql: sql.to_string(), params: vec![] };
        (entry, false)
    });
    Workload::new(format!("tpch {quarter}"), tables.collect(), queries.collect())
}

fn read(table: TableSpec, rows_max: usize) -> Table {
    let name = table.name.clone();
    let fields = table.columns.iter();
    let fields = fields.map(|column| Field::new(&column.name, column.ty.data_type(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
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

fn column(column: &caudal_suite::Column) -> Column {
    Column {
        name: column.name.clone(),
        at: match &column.at {
            caudal_suite::At::Header(name) => At::Header(name.clone()),
            caudal_suite::At::Index(index) => At::Index(*index),
        },
        ty: match column.ty {
            ColumnType::Text => Type::Text,
            ColumnType::Int => Type::Int64,
            ColumnType::Float => Type::Float64,
            ColumnType::Bool => Type::Boolean,
            ColumnType::Decimal { precision, scale } => Type::Decimal { precision, scale },
            ColumnType::Date => Type::Date,
            ColumnType::Timestamp => Type::Timestamp,
        },
    }
}
