//! The same questions answered by DataFusion alone: nothing of our planner, stages or shards.
//!
//! The tables are read by our own readers, once, into memory; everything after that is DataFusion's
//! own multi-threaded executor.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use caudal_core::ParamValue;
use caudal_planner::{ROW_COLUMN, scalar, sql};
use caudal_source::{Options, Table};
use caudal_suite::Query;
use datafusion::common::{ParamValues, TableReference};
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;

use crate::error::Error;
use crate::job::Job;

/// Partitions that DataFusion works on at the same time.
const PARTITIONS: usize = 2;

/// DataFusion's own answer to a query of a job: to compare with.
pub async fn answer(job: &Job, query: &Query) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let cannot = |source| Error::Oracle { query: query.name.clone(), source };
    let config = SessionConfig::new().with_target_partitions(PARTITIONS);
    let context = SessionContext::new_with_config(config);
    for function in caudal_functions::all() {
        context.register_udf(function);
    }
    for table in &job.tables {
        let (schema, batches) = read(table, query.sql.contains(ROW_COLUMN))?;
        let provider = MemTable::try_new(schema, vec![batches]).map_err(cannot)?;
        let name = TableReference::bare(table.name.clone());
        context.register_table(name, Arc::new(provider)).map_err(cannot)?;
    }
    ask(&context, job, query).await.map_err(cannot)
}

async fn ask(
    context: &SessionContext,
    job: &Job,
    query: &Query,
) -> Result<(SchemaRef, Vec<RecordBatch>), DataFusionError> {
    let value = |(name, value): &(String, ParamValue)| (name.clone(), scalar(value));
    let params: Vec<(String, ScalarValue)> = job.params.iter().map(value).collect();
    let (statement, names) = sql::statement(&job.names(), &job.spec(query))
        .map_err(|error| DataFusionError::External(Box::new(error)))?;
    let plan = context.state().statement_to_plan(statement).await?;
    let frame = context.execute_logical_plan(plan).await?;
    let frame = frame.with_param_values(ParamValues::from(params))?;
    let schema = sql::named(Arc::new(frame.schema().as_arrow().clone()), &names);
    Ok((schema, frame.collect().await?))
}

fn read(table: &Table, with_row: bool) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let all = (0..table.schema().fields().len()).collect();
    let options =
        Options { position: with_row.then(|| ROW_COLUMN.to_string()), ..Options::default() };
    let source = table.open(all, options)?;
    let schema = nullable(&source.schema());
    let mut batches = vec![];
    while let Some(chunk) = source.next_chunk()? {
        let columns = chunk.parse()?.batch.columns().to_vec();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
        batches.push(batch.expect("what may be null also fits where nothing is"));
    }
    Ok((schema, batches))
}

fn nullable(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter();
    let fields = fields.map(|f| Field::new(f.name(), DataType::clone(f.data_type()), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
