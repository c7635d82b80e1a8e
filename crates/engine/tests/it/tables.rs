//! Tables for the tests, and what DataFusion alone answers over them.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;

pub struct Table {
    pub name: &'static str,
    pub rows: RecordBatch,
}

/// `t(k, v, s)`: 600 rows over 40 keys; `u(k, w)`: every second key, twice.
pub fn tables() -> Vec<Table> {
    let t = table(&[
        ("k", ints(600, |n| n % 40)),
        ("v", ints(600, |n| n * 7 % 101)),
        ("s", texts(600)),
    ]);
    let u = table(&[("k", ints(40, |n| n / 2 * 2)), ("w", ints(40, |n| n))]);
    vec![Table { name: "t", rows: t }, Table { name: "u", rows: u }]
}

pub async fn plain(tables: &[Table], sql: &str) -> Vec<RecordBatch> {
    let context = SessionContext::new();
    for Table { name, rows } in tables {
        let provider = MemTable::try_new(rows.schema(), vec![vec![rows.clone()]]).unwrap();
        context.register_table(*name, Arc::new(provider)).unwrap();
    }
    context.sql(sql).await.unwrap().collect().await.unwrap()
}

/// Cuts rows into fragments of random sizes, some of them empty.
pub fn fragments(rows: &RecordBatch, rng: &mut fastrand::Rng) -> Vec<RecordBatch> {
    let mut fragments = vec![];
    let mut start = 0;
    while start < rows.num_rows() {
        let length = rng.usize(0..=60).min(rows.num_rows() - start);
        fragments.push(rows.slice(start, length));
        start += length;
    }
    fragments
}

fn ints(rows: i64, value: impl Fn(i64) -> i64) -> arrow::array::ArrayRef {
    // Every eleventh is NULL.
    let values = (0..rows).map(|n| (n % 11 != 10).then(|| value(n)));
    Arc::new(values.collect::<Int64Array>())
}

fn texts(rows: i64) -> arrow::array::ArrayRef {
    let values = (0..rows).map(|n| Some(format!("a text that is not inlined, {}", n % 13)));
    Arc::new(values.collect::<StringViewArray>())
}

fn table(columns: &[(&str, arrow::array::ArrayRef)]) -> RecordBatch {
    let fields = columns.iter();
    let fields = fields.map(|(name, array)| -> Field {
        let ty: &DataType = array.data_type();
        Field::new(*name, ty.clone(), true)
    });
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let columns = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}
