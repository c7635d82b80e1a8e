//! Answers of DataFusion alone: nothing of our stages or shards.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal_core::ParamValue;
use datafusion::common::TableReference;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;

/// DataFusion with our functions, over tables in memory.
pub struct Plain {
    context: SessionContext,
}

impl Plain {
    /// One that works on so many partitions at the same time.
    pub fn new(partitions: usize) -> Self {
        let config = SessionConfig::new().with_target_partitions(partitions);
        let context = SessionContext::new_with_config(config);
        for function in caudal_functions::all() {
            context.register_udf(function);
        }
        // Its own cuts averages of decimals off (docs/datafusion.md).
        let ours = caudal_functions::checked::aggregates().into_iter();
        ours.filter(|ours| ours.name() == "avg").for_each(|average| context.register_udaf(average));
        Self { context }
    }

    /// Adds a table, whose rows are divided like this.
    pub fn add(
        &self,
        name: &str,
        schema: SchemaRef,
        partitions: Vec<Vec<RecordBatch>>,
    ) -> Result<(), DataFusionError> {
        let table = MemTable::try_new(schema, partitions)?;
        self.context.register_table(TableReference::bare(name), Arc::new(table))?;
        Ok(())
    }

    /// Answer to a query. The last batch has no rows: there always is a schema.
    pub async fn answer(
        &self,
        sql: &str,
        params: &[(String, ParamValue)],
    ) -> Result<Vec<RecordBatch>, DataFusionError> {
        let value =
            |(name, value): &(String, ParamValue)| (name.clone(), caudal_planner::scalar(value));
        let values: Vec<(String, ScalarValue)> = params.iter().map(value).collect();
        let frame = self.context.sql(sql).await?;
        let frame = match values.is_empty() {
            true => frame,
            false => frame.with_param_values(values)?,
        };
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let mut batches = frame.collect().await?;
        batches.push(RecordBatch::new_empty(schema));
        Ok(batches)
    }
}
