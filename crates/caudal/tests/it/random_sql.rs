//! Random tables, cut into fragments.

use caudal_oracle::random_sql::{TABLES, rows};
use fastrand::Rng;

use crate::harness::{Table, fragments};

pub fn tables(rng: &mut Rng) -> Vec<Table> {
    let table = |name: &str| {
        let rows = rows(rng);
        Table { name: name.to_string(), schema: rows.schema(), fragments: fragments(&rows, rng) }
    };
    TABLES.map(table).into()
}
