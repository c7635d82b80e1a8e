//! Workloads: queries and their right answers. Made once and kept: a seed costs its run alone.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use caudal_core::{Code, SessionId, codes};
use caudal_oracle::lookalikes::KINDS;
use caudal_oracle::{Table, random_sql};
use caudal_planner::{ROW_COLUMN, SessionSpec};
use caudal_protocol::manifest::{Manifest, QuerySpec, TableEntry};
use caudal_protocol::schema as core_schema;

use crate::world::lock;
use crate::{files, oracle};

#[derive(Debug)]
pub struct Workload {
    pub name: String,
    pub tables: Vec<Table>,
    pub queries: Vec<Query>,
}

#[derive(Debug)]
pub struct Query {
    pub entry: QuerySpec,
    /// Whether the order of the rows is part of the answer.
    pub ordered: bool,
    pub expected: Vec<RecordBatch>,
    /// The code that it fails with, whatever happens beside it, where that is what it is for.
    pub fails: Option<Code>,
}

/// Different workloads of random tables and queries.
const RANDOM_WORKLOADS: u64 = 97;
const RANDOM_QUERIES: usize = 3;
const ALIKE_WORKLOADS: u64 = 23;

/// So many random workloads have a query that fails among those that do not.
const FAILING_EVERY: u64 = 3;

/// Each fails, also of tables without rows: in the last stage, in one before it, in one of several that are gathered.
const FAILING: [&str; 3] = [
    "SELECT (count(*) + 2) * 9223372036854775807 AS x FROM t",
    "SELECT x, count(*) AS c FROM (SELECT (count(*) + 2) * 9223372036854775807 AS x FROM t) AS g GROUP BY x",
    "SELECT k AS x FROM t UNION SELECT (count(*) + 2) * 9223372036854775807 FROM u",
];

/// The workload of a number: most are random, every tenth is a suite, every twentieth TPC-H, and every twentieth
/// asks what is easily taken for something else.
pub fn of(number: u64) -> Arc<Workload> {
    match number % 20 {
        3 | 13 => kept(format!("suite-{}", number / 10 % 4), |_| files::suite(number / 10 % 4)),
        17 => kept(format!("alike-{}", number / 20 % ALIKE_WORKLOADS), |name| {
            alike(name, number / 20 % ALIKE_WORKLOADS)
        }),
        7 => kept(format!("tpch-{}", number / 20 % 4), |_| files::tpch(number / 20 % 4)),
        _ => kept(format!("random-{}", number % RANDOM_WORKLOADS), |name| {
            random(name, number % RANDOM_WORKLOADS)
        }),
    }
}

fn kept(name: String, make: impl FnOnce(String) -> Workload) -> Arc<Workload> {
    static KEPT: LazyLock<Mutex<BTreeMap<String, Arc<Workload>>>> = LazyLock::new(Mutex::default);
    let mut kept = lock(&KEPT);
    if let Some(workload) = kept.get(&name) {
        return Arc::clone(workload);
    }
    let workload = Arc::new(make(name.clone()));
    kept.insert(name, Arc::clone(&workload));
    workload
}

fn random(name: String, number: u64) -> Workload {
    let mut rng = fastrand::Rng::with_seed(1000 + number);
    let tables = random_sql::tables(&mut rng);
    let mut asked = vec![];
    while asked.len() < RANDOM_QUERIES {
        let random_sql::Query { sql, ordered } = random_sql::query(&mut rng);
        let entry = QuerySpec { name: format!("q{}", asked.len()), sql, params: vec![] };
        asked.push((entry, ordered));
    }
    let mut workload = Workload::new(name, tables, asked);
    if number.is_multiple_of(FAILING_EVERY) {
        let sql = FAILING[rng.usize(..FAILING.len())].to_string();
        workload.queries.push(Query {
            entry: QuerySpec { name: "fails".to_string(), sql, params: vec![] },
            ordered: false,
            expected: vec![],
            fails: Some(codes::OVERFLOW),
        });
    }
    workload
}

/// Look-alikes in one session, and next to them plans that take special care: a stage that is read twice where it
/// could answer early, scalar subqueries, windows whose partitions are constant or equal to one another.
fn alike(name: String, number: u64) -> Workload {
    const CAREFUL: [&str; 6] = [
        "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT k, n FROM c WHERE k IN (SELECT k FROM c WHERE n > 1)",
        "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT x.k, y.n FROM c AS x JOIN c AS y ON x.k = y.k WHERE x.n > 2",
        "SELECT k FROM t WHERE n > (SELECT avg(n) FROM u) AND m < (SELECT max(m) FROM u)",
        "SELECT k, row_number() OVER (PARTITION BY k ORDER BY n, s, f, m, d) AS r FROM t WHERE k = 3",
        "SELECT t.k, sum(u.n) OVER (PARTITION BY t.k, u.k) AS r FROM t JOIN u ON t.k = u.k",
        "SELECT k, count(*) OVER (PARTITION BY k, n) AS r FROM t WHERE k = n",
    ];
    let mut rng = fastrand::Rng::with_seed(2000 + number);
    let tables = random_sql::tables(&mut rng);
    let mut alike = KINDS[rng.usize(..KINDS.len())].queries();
    alike.truncate(4);
    let careful = (0..2).map(|_| CAREFUL[rng.usize(..CAREFUL.len())].to_string());
    let asked = alike
        .into_iter()
        .chain(careful)
        .enumerate()
        .map(|(at, sql)| (QuerySpec { name: format!("q{at}"), sql, params: vec![] }, false));
    Workload::new(name, tables, asked.collect())
}

impl Workload {
    /// Queries that DataFusion cannot answer are left out.
    pub fn new(name: String, tables: Vec<Table>, asked: Vec<(QuerySpec, bool)>) -> Self {
        let runtime = runtime();
        let queries = asked.into_iter().filter_map(|(entry, ordered)| {
            let answering = oracle::plain(&tables, &entry.sql, &entry.params);
            let expected = runtime.block_on(answering)?;
            Some(Query { entry, ordered, expected, fails: None })
        });
        let queries = queries.collect();
        Self { name, tables, queries }
    }

    pub fn table_entries(&self) -> Vec<TableEntry> {
        let entry = |table: &Table| TableEntry {
            name: table.name.clone(),
            schema: core_schema::encode(&table.rows.schema()),
        };
        self.tables.iter().map(entry).collect()
    }

    pub fn query_entries(&self) -> Vec<QuerySpec> {
        self.queries.iter().map(|query| query.entry.clone()).collect()
    }

    /// Plans it, so that no node has to.
    pub fn remember_plan(&self, shards: usize) {
        let manifest = Manifest {
            session: SessionId(String::new()),
            tables: self.table_entries(),
            queries: self.query_entries(),
            shards,
            started_ms: 0,
            version: String::new(),
            fingerprint: String::new(),
            owner: String::new(),
        };
        let spec = SessionSpec::try_from(&manifest).expect("made of what a session is made of");
        if caudal_planner::remembered::find(&spec).is_none() {
            let plan = runtime().block_on(caudal_planner::plan(&spec));
            let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", self.name));
            caudal_planner::remembered::remember(&spec, plan);
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The rows with the hidden column that numbers them.
pub fn with_row_column(rows: &RecordBatch) -> RecordBatch {
    let mut fields: Vec<_> = rows.schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(ROW_COLUMN, DataType::UInt64, true)));
    let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
    columns.push(Arc::new(UInt64Array::from_iter_values(0..rows.num_rows() as u64)));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("one column more")
}

/// One batch of all.
pub fn join(schema: &SchemaRef, batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(schema, batches).expect("batches of one schema")
}
