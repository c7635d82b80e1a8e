//! Runs the same SQL through the session path and through DataFusion alone, and compares.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use caudal::Error;
use caudal::local::{Local, Settings};
use caudal_broker::{Broker, Faults, MemoryBroker};
use caudal_client::{Event, UploadCounters};
use caudal_core::TableId;
use caudal_oracle::Plain;
use caudal_planner::{QuerySpec, SessionPlan, SessionSpec, TableSpec};
use caudal_protocol::TableFragment;

use crate::faulty_mapper::faulty_mapper;
use crate::only_needed::only_needed;

/// Rows of a fragment of a random table.
pub const FRAGMENT_ROWS_MAX: usize = 40;

/// Partitions that DataFusion works on at the same time.
const PARTITIONS: usize = 3;

/// A table as the batches that its fragments will be.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub schema: SchemaRef,
    pub fragments: Vec<RecordBatch>,
}

pub type Answer = Result<Vec<RecordBatch>, String>;

/// Counts of what a run went through besides its answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub redelivered: u64,
    pub duplicates: u64,
    pub spilled_bytes: u64,
}

pub struct Run<'a> {
    pub tables: &'a [Table],
    pub queries: &'a [String],
    pub shards: usize,
    pub faults: Faults,
    pub seed: u64,
    pub memory_bytes: usize,
    /// A map worker more, which sends fragments in part and dies.
    pub faulty_mapper: bool,
}

impl<'a> Run<'a> {
    pub fn new(tables: &'a [Table], queries: &'a [String], shards: usize) -> Self {
        let memory_bytes = Settings::default().memory_bytes;
        Self {
            tables,
            queries,
            shards,
            faults: Faults::default(),
            seed: 1,
            memory_bytes,
            faulty_mapper: false,
        }
    }

    pub async fn plan(&self) -> Result<Arc<SessionPlan>, caudal_planner::Error> {
        let tables = self.tables.iter();
        let spec = SessionSpec {
            tables: tables
                .map(|table| TableSpec { name: table.name.clone(), schema: table.schema.clone() })
                .collect(),
            queries: (0..)
                .zip(self.queries)
                .map(|(n, sql)| QuerySpec {
                    name: format!("q{n}"),
                    sql: sql.clone(),
                    params: vec![],
                })
                .collect(),
            shards: self.shards,
            started: chrono::Utc::now(),
        };
        Ok(Arc::new(caudal_planner::plan(&spec).await?))
    }

    pub async fn answers(&self) -> Result<(Vec<Answer>, Seen), String> {
        let plan = self.plan().await.map_err(|error| error.to_string())?;
        let broker: Arc<dyn Broker> =
            Arc::new(Arc::new(MemoryBroker::with_faults(self.faults, self.seed)));
        let to_faulty_mapper = Arc::clone(&broker);
        let settings = Settings { threads: 2, memory_bytes: self.memory_bytes };
        let local = Local::open_on(broker, Arc::clone(&plan), settings).await.map_err(text)?;
        let (counts, engine) = (Arc::clone(&local.counts), Arc::clone(&local.engine));
        if self.faulty_mapper {
            let queues = local.session.queues.clone();
            tokio::spawn(faulty_mapper(to_faulty_mapper, queues, Arc::clone(&plan), self.seed));
        }
        let upload = tokio::spawn(upload(Arc::clone(&local.session), self.tables.to_vec()));
        let mut answers: Vec<Answer> = plan.queries.iter().map(|_| Ok(vec![])).collect();
        let counters = Arc::new(UploadCounters::new(self.tables.len()));
        local
            .run::<Error>(vec![], counters, |event| {
                match event {
                    Event::Rows(query, batch) => {
                        if let Ok(batches) = &mut answers[query.index()] {
                            batches.push(batch);
                        }
                    }
                    Event::Done(query, Err(failure)) => {
                        answers[query.index()] = Err(failure.message)
                    }
                    Event::Done(_, Ok(()))
                    | Event::Rejected(..)
                    | Event::Noted(..)
                    | Event::Waiting(_) => {}
                }
                Ok(())
            })
            .await
            .map_err(text)?;
        upload.await.map_err(|error| error.to_string())??;
        let count = |counter: &std::sync::atomic::AtomicU64| {
            counter.load(std::sync::atomic::Ordering::Relaxed)
        };
        let seen = Seen {
            redelivered: count(&counts.redelivered),
            duplicates: count(&counts.duplicates),
            spilled_bytes: engine.spilled_bytes(),
        };
        Ok((answers, seen))
    }
}

pub async fn upload(
    session: Arc<caudal_gateway::Session>,
    tables: Vec<Table>,
) -> Result<(), String> {
    for (index, table) in tables.into_iter().enumerate() {
        let id = TableId::from(index);
        let needs = &session.outline.table(id).needs;
        if !needs.needed {
            continue;
        }
        let count = u32::try_from(table.fragments.len()).unwrap();
        for (number, batch) in (0..).zip(table.fragments) {
            let batch = only_needed(&batch, needs.rows.as_ref());
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let columns =
                needs.columns.iter().map(|column| batch.column(*column).clone()).collect();
            let schema = Arc::clone(&needs.schema);
            let batch = RecordBatch::try_new_with_options(schema, columns, &options).unwrap();
            let put = session.put(TableFragment::new(id, number, batch)).await;
            // Queries that have failed already may have ended the session.
            if put.is_err() {
                return Ok(());
            }
        }
        let _ = session.end_table(id, count).await;
    }
    Ok(())
}

/// DataFusion's own answer.
pub async fn plain(tables: &[Table], sql: &str) -> Answer {
    let plain = Plain::new(PARTITIONS);
    for table in tables {
        let mut partitions = vec![vec![]; 2];
        for (index, batch) in table.fragments.iter().enumerate() {
            partitions[index % 2].push(batch.clone());
        }
        plain.add(&table.name, table.schema.clone(), partitions).map_err(text)?;
    }
    plain.answer(sql, &[]).await.map_err(text)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The cells of each row, as text.
pub fn cells(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = vec![];
    for batch in batches {
        let columns = batch.columns().iter();
        let columns: Vec<_> =
            columns.map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| column.value(row).to_string());
            rows.push(cells.collect::<Vec<_>>());
        }
    }
    rows
}

pub fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
    let fields = fields.iter();
    let fields = fields.map(|(name, ty)| arrow::datatypes::Field::new(*name, ty.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
