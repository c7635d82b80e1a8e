//! The same questions answered by DataFusion alone: nothing of our planner, stages or shards.
//!
//! The tables are read by our CSV reader, once, into memory; everything after that is DataFusion's
//! own multi-threaded executor.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use caudal_csv::{Options, Reader, TableSpec};
use caudal_planner::{ROW_COLUMN, SessionSpec};
use datafusion::common::ParamValues;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;

use crate::error::{Exit, Failed};
use crate::interrupt;
use crate::job::{Job, Titled, schema_of};
use crate::output::{Format, ResultFile};

/// Writes each query's answer into the folder, as CSV.
pub fn answer(job: &Job, folder: &Path) -> Result<(), Failed> {
    let runtime = crate::local::runtime(2)?;
    let ran = runtime.block_on(async {
        tokio::select! {
            ended = answer_all(job, folder) => ended,
            _ = interrupt::pressed() => Err(Failed::interrupted()),
        }
    });
    runtime.shutdown_background();
    ran
}

async fn answer_all(job: &Job, folder: &Path) -> Result<(), Failed> {
    for query in &job.queries {
        let context = context(job, query.spec.sql.contains(ROW_COLUMN))?;
        let (schema, batches) = ask(&context, job, query).await.map_err(|error| {
            let message = format!("DataFusion cannot answer {}: {error}", query.spec.name);
            Failed::new(Exit::QueryFailed, "CDL-6010", message)
        })?;
        let mut file = ResultFile::create(folder, &query.spec.name, Format::Csv, schema)?;
        for batch in &batches {
            file.write(batch)?;
        }
        file.finish()?;
    }
    Ok(())
}

fn context(job: &Job, with_row: bool) -> Result<SessionContext, Failed> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    for function in caudal_functions::all() {
        context.register_udf(function);
    }
    for table in &job.tables {
        let (schema, batches) = read(table, with_row)?;
        let provider = MemTable::try_new(schema, vec![batches]).map_err(internal)?;
        let name = datafusion::common::TableReference::bare(table.name.clone());
        context.register_table(name, Arc::new(provider)).map_err(internal)?;
    }
    Ok(context)
}

fn read(table: &TableSpec, with_row: bool) -> Result<(SchemaRef, Vec<RecordBatch>), Failed> {
    let all = (0..table.columns.len()).collect();
    let options =
        Options { position: with_row.then(|| ROW_COLUMN.to_string()), ..Options::default() };
    let reader = Reader::open(table.clone(), all, options)?;
    let schema = nullable(&reader.schema());
    let mut batches = vec![];
    while let Some(chunk) = reader.next_chunk()? {
        let columns = reader.parse(chunk)?.batch.columns().to_vec();
        batches
            .push(RecordBatch::try_new(schema.clone(), columns).map_err(|e| internal(e.into()))?);
    }
    Ok((schema, batches))
}

fn nullable(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter();
    let fields = fields.map(|f| Field::new(f.name(), DataType::clone(f.data_type()), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

async fn ask(
    context: &SessionContext,
    job: &Job,
    query: &Titled,
) -> Result<(SchemaRef, Vec<RecordBatch>), DataFusionError> {
    let params = query.spec.params.iter();
    let params: Vec<(&str, ScalarValue)> =
        params.map(|(name, value)| (name.as_str(), value.into())).collect();
    let (statement, names) = caudal_planner::sql::statement(&spec_of(job), &query.spec)
        .map_err(|error| DataFusionError::External(Box::new(error)))?;
    let plan = context.state().statement_to_plan(statement).await?;
    let frame = context.execute_logical_plan(plan).await?;
    let frame = frame.with_param_values(ParamValues::from(params))?;
    let schema = caudal_planner::sql::named(Arc::new(frame.schema().as_arrow().clone()), &names);
    Ok((schema, frame.collect().await?))
}

/// What the names of the queries may mean.
fn spec_of(job: &Job) -> SessionSpec {
    let tables = job.tables.iter();
    let tables = tables.map(|table| caudal_planner::TableSpec {
        name: table.name.clone(),
        schema: schema_of(table),
    });
    SessionSpec {
        tables: tables.collect(),
        queries: vec![],
        shards: 1,
        started: chrono::Utc::now(),
    }
}

fn internal(error: DataFusionError) -> Failed {
    Failed::new(Exit::QueryFailed, "CDL-6010", error)
}
