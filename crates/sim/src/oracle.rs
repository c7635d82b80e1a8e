//! The answer of DataFusion alone.

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::ParamValue;
use datafusion::common::ParamValues;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;

use crate::workload::{Table, with_row_column};

/// The answer of DataFusion alone.
pub async fn plain(
    tables: &[Table],
    sql: &str,
    params: &[(String, ParamValue)],
) -> Result<Vec<RecordBatch>, DataFusionError> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    for function in caudal_functions::all() {
        context.register_udf(function);
    }
    for table in tables {
        let rows = match sql.contains(caudal_planner::ROW_COLUMN) {
            true => with_row_column(&table.rows),
            false => table.rows.clone(),
        };
        let provider = MemTable::try_new(rows.schema(), vec![vec![rows]])?;
        let name = datafusion::common::TableReference::bare(table.name.clone());
        context.register_table(name, Arc::new(provider))?;
    }
    let param =
        |(name, value): &(String, ParamValue)| (name.clone(), caudal_planner::scalar(value));
    let params: Vec<(String, ScalarValue)> = params.iter().map(param).collect();
    let frame = context.sql(sql).await?;
    let frame = match params.is_empty() {
        true => frame,
        false => frame.with_param_values(ParamValues::from(params))?,
    };
    frame.collect().await
}
