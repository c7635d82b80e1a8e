//! Tables for the tests, and what DataFusion alone answers over them.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use caudal_oracle::{Plain, Table};

/// Partitions that DataFusion works on at the same time.
const PARTITIONS: usize = 2;

/// `t(k, v, s)`: 600 rows over 40 keys; `u(k, w)`: every second key, twice.
pub fn tables() -> Vec<Table> {
    let t = table(&[
        ("k", ints(600, |n| n % 40)),
        ("v", ints(600, |n| n * 7 % 101)),
        ("s", texts(600)),
    ]);
    let u = table(&[("k", ints(40, |n| n / 2 * 2)), ("w", ints(40, |n| n))]);
    [("t", t), ("u", u)].map(|(name, rows)| Table { name: name.to_string(), rows }).into()
}

pub async fn plain(tables: &[Table], sql: &str) -> Vec<RecordBatch> {
    let plain = Plain::new(PARTITIONS);
    for Table { name, rows } in tables {
        plain.add(name, rows.schema(), vec![vec![rows.clone()]]).unwrap();
    }
    plain.answer(sql, &[]).await.unwrap()
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
