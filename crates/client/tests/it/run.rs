//! A whole run of the client, and what it came to.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use caudal_client::remote::{self, Settings};
use caudal_client::{Error, Event, Remote, Upload, UploadCounters};
use caudal_core::{Attempt, FragmentId, Part, ShardId, Source, StageId, TableId, limits};
use caudal_csv::{At, Column, Options, Table, Type};
use caudal_protocol::calls::{OpenRequest, ResultWhat};
use caudal_protocol::manifest::{QuerySpec, TableEntry};
use caudal_protocol::{Failure, schema};
use tempfile::TempDir;

use crate::cluster::{Cluster, Message, Query};
use crate::gateway::Gateway;

/// No test takes as long, unless it hangs.
const RUN_MAX: Duration = Duration::from_secs(60);

pub const ROWS: usize = 4000;

/// Events that a run reported.
#[derive(Debug, Default)]
pub struct Told {
    /// The numbers of each answer, in the order in which they came.
    pub rows: Vec<Vec<i64>>,
    pub done: Vec<Option<Result<(), Failure>>>,
    pub waited_for: Vec<Vec<String>>,
}

pub fn settings(gateways: &[Gateway]) -> Settings {
    let addresses = gateways.iter().map(Gateway::name).collect();
    Settings { away_max: Duration::from_secs(20), ..Settings::new(addresses) }
}

/// One table `t` with a column `n`, and the queries of the cluster.
pub fn request(cluster: &Cluster) -> OpenRequest {
    let schema = Schema::new(vec![Field::new("n", DataType::Int64, true)]);
    let queries = cluster.state().queries.len();
    OpenRequest {
        nonce: remote::nonce(),
        tables: vec![TableEntry { name: "t".to_string(), schema: schema::encode(&schema) }],
        queries: (0..queries)
            .map(|query| QuerySpec {
                name: format!("q{query}"),
                sql: "SELECT n FROM t".to_string(),
                params: vec![],
            })
            .collect(),
        shards: None,
    }
}

/// Opens, uploads a table of [`ROWS`] rows in many fragments, reads the answers, closes.
pub async fn run(cluster: &Cluster, settings: &Settings) -> Result<Told, Error> {
    tokio::time::timeout(RUN_MAX, async {
        let remote = Arc::new(Remote::open(settings, &request(cluster)).await?);
        let told = run_opened(&remote).await?;
        remote.close().await;
        Ok(told)
    })
    .await
    .expect("the run hangs")
}

pub async fn run_opened(remote: &Arc<Remote>) -> Result<Told, Error> {
    let (_folder, upload) = upload();
    run_with(remote, upload).await
}

pub async fn run_with(remote: &Arc<Remote>, upload: Upload) -> Result<Told, Error> {
    let queries = remote.schemas.len();
    let mut told =
        Told { rows: vec![vec![]; queries], done: vec![None; queries], ..Told::default() };
    let service = Arc::clone(remote);
    let counters = Arc::new(UploadCounters::new(1));
    caudal_client::run(service, vec![upload], 2, counters, |event| {
        match event {
            Event::Rows(query, batch) => told.rows[query.index()].extend(numbers(&batch)),
            Event::Done(query, outcome) => told.done[query.index()] = Some(outcome),
            Event::Waiting(what) => told.waited_for.push(what),
            Event::Rejected(..) | Event::Noted(..) => panic!("every row fits"),
        }
        Ok::<_, Error>(())
    })
    .await?;
    Ok(told)
}

pub fn upload() -> (TempDir, Upload) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv");
    let rows: String = (0..ROWS).map(|n| format!("{}\n", 1_000_000 + n)).collect();
    std::fs::write(&file, format!("n\n{rows}")).unwrap();
    let column = Column { name: "n".to_string(), at: At::Header("n".to_string()), ty: Type::Int64 };
    let spec = Table {
        name: "t".to_string(),
        files: vec![file],
        columns: vec![column],
        fields: None,
        dialect: caudal_csv::Dialect::default(),
    };
    // About 80 fragments: several windows.
    let options = Options { chunk_bytes: 600, ..Options::default() };
    let source = caudal_source::Table::from(spec).open(vec![0], options).unwrap();
    (folder, Upload { table: TableId(0), source })
}

/// Whether every row of the table arrived, and the end that was said is right.
#[track_caller]
pub fn assert_all_arrived(cluster: &Cluster) {
    let state = cluster.state();
    assert_eq!(state.rows(0), ROWS);
    let fragments = state.times(0).len();
    assert!(fragments > 3 * limits::PUT_WINDOW_FRAGMENTS, "only {fragments}");
    assert!(!state.ends.is_empty());
    assert!(state.ends.iter().all(|end| end.count as usize == fragments));
}

pub fn answer_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]))
}

pub fn batch(numbers: impl IntoIterator<Item = i64>) -> RecordBatch {
    let numbers = Arc::new(Int64Array::from_iter_values(numbers));
    RecordBatch::try_new(answer_schema(), vec![numbers]).unwrap()
}

fn numbers(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

pub const SHARD: Source = Source::Shard { stage: StageId(1), shard: ShardId(0) };

/// A part of the `number`-th fragment of an answer; the number is its only row.
pub fn part(number: u32, attempt: u64, index: u32, count: u32, end: Option<u32>) -> Message {
    let id = FragmentId { source: SHARD, number };
    let part = Part { attempt: Attempt(attempt), index, count };
    let row = i64::from(number * 10 + index);
    (ResultWhat::Part { id, part, end }, Some(batch([row])))
}

/// A query whose answer is these messages of one source.
pub fn query(messages: impl IntoIterator<Item = Message>) -> Query {
    let messages = messages.into_iter().enumerate().collect();
    Query { schema: answer_schema(), sources: vec![SHARD], messages }
}

/// A query that is answered with `fragments` rows: 0, 10, 20 ...
pub fn simple_query(fragments: u32) -> Query {
    let end = |number| (number + 1 == fragments).then_some(fragments);
    query((0..fragments).map(|number| part(number, 1, 0, 1, end(number))))
}

pub fn simple_answer(fragments: i64) -> Vec<i64> {
    (0..fragments).map(|number| number * 10).collect()
}
