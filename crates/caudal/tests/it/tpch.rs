//! All 22 queries of TPC-H, on CSV files, equal what DataFusion alone answers on the same files with
//! its own CSV reader.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use caudal::Error;
use caudal::local::{Local, Settings};
use caudal_client::{Event, Upload, UploadCounters};
use caudal_core::TableId;
use caudal_csv::Table;
use caudal_oracle::{compare, tpch};
use caudal_planner::{QuerySpec, SessionSpec};
use caudal_source::Options;
use datafusion::prelude::{CsvReadOptions, SessionContext};

const SCALE: f64 = 0.01;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_22_queries_equal_datafusion() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tpch::generate(folder.path(), SCALE);
    let expected = plain(&tables).await;
    for shards in [1, 4, 7] {
        let answers = ours(&tables, shards).await;
        for (number, (ours, theirs)) in (1..).zip(answers.iter().zip(&expected)) {
            let rows = compare(ours, theirs, true)
                .unwrap_or_else(|difference| panic!("q{number}, {shards} shards: {difference}"));
            println!("q{number}, {shards} shards: {rows} rows equal");
        }
        let rows: usize = answers.iter().flatten().map(RecordBatch::num_rows).sum();
        assert!(rows > 100, "TPC-H has answers: {rows}");
    }
}

fn schema(table: &Table) -> Schema {
    let fields = table.columns.iter();
    Schema::new(
        fields
            .map(|column| Field::new(&column.name, column.ty.data_type(), true))
            .collect::<Vec<_>>(),
    )
}

async fn plain(tables: &[Table]) -> Vec<Vec<RecordBatch>> {
    let context = SessionContext::new();
    // Its own cuts averages of decimals off (docs/datafusion.md).
    let ours = caudal_functions::checked::aggregates().into_iter();
    ours.filter(|ours| ours.name() == "avg").for_each(|average| context.register_udaf(average));
    for table in tables {
        let schema = schema(table);
        let options = CsvReadOptions::new().schema(&schema);
        let path = table.files[0].to_str().unwrap();
        context.register_csv(table.name.as_str(), path, options).await.unwrap();
    }
    let mut answers = vec![];
    for sql in tpch::QUERIES {
        answers.push(context.sql(sql).await.unwrap().collect().await.unwrap());
    }
    answers
}

async fn ours(tables: &[Table], shards: usize) -> Vec<Vec<RecordBatch>> {
    let spec = SessionSpec {
        tables: tables
            .iter()
            .map(|table| caudal_planner::TableSpec {
                name: table.name.clone(),
                schema: Arc::new(schema(table)),
            })
            .collect(),
        queries: (1..)
            .zip(tpch::QUERIES)
            .map(|(n, sql)| QuerySpec {
                name: format!("q{n}"),
                sql: sql.to_string(),
                params: vec![],
            })
            .collect(),
        shards,
        started: chrono::Utc::now(),
    };
    let plan = Arc::new(caudal_planner::plan(&spec).await.unwrap());
    let again = caudal_planner::plan(&spec).await.unwrap();
    assert_eq!(plan.fingerprint, again.fingerprint, "planning is reproducible");
    let mut uploads = vec![];
    for (index, table) in tables.iter().enumerate() {
        let id = TableId::from(index);
        let options = Options { chunk_bytes: 100 << 10, ..Options::default() };
        let table = caudal_source::Table::from(table.clone());
        let source = table.open(plan.table(id).needs.columns.clone(), options).unwrap();
        uploads.push(Upload { table: id, source });
    }
    let mut answers = vec![vec![]; plan.queries.len()];
    let local = Local::open(plan, Settings::default()).await.unwrap();
    let counters = Arc::new(UploadCounters::new(tables.len()));
    local
        .run::<Error>(uploads, counters, |event| {
            match event {
                Event::Rows(query, batch) => answers[query.index()].push(batch),
                Event::Done(query, outcome) => outcome.unwrap_or_else(|f| panic!("{query}: {f:?}")),
                Event::Rejected(_, rejects) => panic!("{rejects:?}"),
                Event::Noted(..) | Event::Waiting(_) => {}
            }
            Ok(())
        })
        .await
        .unwrap();
    answers
}
