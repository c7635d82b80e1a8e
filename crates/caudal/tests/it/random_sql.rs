//! Random tables, cut into fragments.

use caudal_oracle::fragments;
use caudal_oracle::random_sql::{TABLES, rows};
use fastrand::Rng;

use crate::harness::{FRAGMENT_ROWS_MAX, Table};

pub fn tables(rng: &mut Rng) -> Vec<Table> {
    let table = |name: &str| {
        let rows = rows(rng);
        let fragments = fragments(&rows, FRAGMENT_ROWS_MAX, rng);
        Table { name: name.to_string(), schema: rows.schema(), fragments }
    };
    TABLES.map(table).into()
}
