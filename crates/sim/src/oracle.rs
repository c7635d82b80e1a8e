//! The answer of DataFusion alone.

use arrow::array::RecordBatch;
use caudal_core::ParamValue;
use caudal_oracle::{Plain, Table};

use crate::workload::with_row_column;

/// Partitions that DataFusion works on at the same time.
const PARTITIONS: usize = 2;

/// The answer of DataFusion alone; none where it cannot answer.
pub async fn plain(
    tables: &[Table],
    sql: &str,
    params: &[(String, ParamValue)],
) -> Option<Vec<RecordBatch>> {
    let plain = Plain::new(PARTITIONS);
    for table in tables {
        let rows = match sql.contains(caudal_planner::ROW_COLUMN) {
            true => with_row_column(&table.rows),
            false => table.rows.clone(),
        };
        plain.add(&table.name, rows.schema(), vec![vec![rows]]).ok()?;
    }
    plain.answer(sql, params).await.ok()
}
