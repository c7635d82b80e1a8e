//! A client: the real one, on lines of the simulation instead of the network.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{RecordBatch, RecordBatchOptions};
use caudal_client::remote::Settings;
use caudal_client::{Error, Event, Remote, Service, UploadCounters};
use caudal_core::{Code, Coded, TableId};
use caudal_oracle::compare;
use caudal_protocol::calls::OpenRequest;
use caudal_protocol::{Failure, TableFragment};
use caudal_runtime::time::sleep;

use crate::line::SimDial;
use crate::workload::{Workload, with_row_column};
use crate::world::World;

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All its answers are right; so many rows.
    Answered {
        rows: usize,
    },
    /// It was told why not, with a code.
    Coded {
        code: Code,
        message: String,
    },
    Wrong {
        query: String,
        difference: String,
    },
    /// Its client went away, as it was meant to.
    Vanished,
    /// It has not ended.
    Hangs,
}

pub struct Session {
    pub name: String,
    pub workload: Arc<Workload>,
    pub shards: usize,
    pub gateways: Vec<String>,
    /// The longest that the client thinks between two fragments.
    pub think_ms_max: u64,
}

impl Session {
    /// The whole life of a session.
    pub async fn live(self, world: Arc<World>) -> End {
        let request = OpenRequest {
            nonce: caudal_client::remote::nonce(),
            tables: self.workload.table_entries(),
            queries: self.workload.query_entries(),
            shards: Some(self.shards),
        };
        let dial = Arc::new(SimDial(Arc::clone(&world)));
        let settings = Settings { dial: Some(dial), ..Settings::new(self.gateways.clone()) };
        let remote = match Remote::open(&settings, &request).await {
            Ok(remote) => Arc::new(remote),
            Err(error) => return coded(&error),
        };
        world.say(&self.name, format_args!("is session {}", remote.session));
        let end = self.ask(&remote).await;
        world.say(&self.name, format_args!("ends: {end:?}"));
        match end {
            End::Answered { .. } | End::Wrong { .. } => remote.close().await,
            _ => remote.cancel().await,
        }
        end
    }

    async fn ask(&self, remote: &Arc<Remote>) -> End {
        let mut answers = vec![vec![]; self.workload.queries.len()];
        let mut failures: Vec<Option<Failure>> = vec![None; self.workload.queries.len()];
        let counters = Arc::new(UploadCounters::new(self.workload.tables.len()));
        let service: Arc<dyn Service> = Arc::<Remote>::clone(remote);
        let reading = caudal_client::run::<Error>(service, vec![], 1, counters, |event| {
            match event {
                Event::Rows(query, batch) => answers[query.index()].push(batch),
                Event::Done(query, Err(failed)) => failures[query.index()] = Some(failed),
                Event::Done(_, Ok(())) | Event::Rejected(..) | Event::Waiting(_) => {}
            }
            Ok(())
        });
        if let Err(error) = tokio::try_join!(reading, self.upload(remote)) {
            return coded(&error);
        }
        for (query, failure) in self.workload.queries.iter().zip(failures) {
            match (query.fails, failure) {
                (Some(right), Some(Failure { code, .. })) if code == right => {}
                (_, Some(Failure { code, message, .. })) => return End::Coded { code, message },
                (None, None) => {}
                (Some(code), None) => {
                    let difference = format!("it was answered, and should fail with {code}");
                    return End::Wrong { query: query.entry.name.clone(), difference };
                }
            }
        }
        self.check(&answers)
    }

    fn check(&self, answers: &[Vec<RecordBatch>]) -> End {
        let mut rows = 0;
        let answered = self.workload.queries.iter().zip(answers);
        for (query, answer) in answered.filter(|(query, _)| query.fails.is_none()) {
            match compare(answer, &query.expected, query.ordered) {
                Ok(equal) => rows += equal,
                Err(difference) => {
                    return End::Wrong { query: query.entry.name.clone(), difference };
                }
            }
        }
        End::Answered { rows }
    }

    async fn upload(&self, remote: &Remote) -> Result<(), Error> {
        for (index, table) in self.workload.tables.iter().enumerate() {
            let Some(columns) = remote.tables[index].sent() else { continue };
            let id = TableId::from(index);
            let fragments = cut(&with_row_column(&table.rows), columns);
            let count = u32::try_from(fragments.len()).expect("few");
            for (number, batch) in (0..).zip(fragments) {
                if self.think_ms_max > 0 {
                    sleep(Duration::from_millis(fastrand::u64(0..=self.think_ms_max))).await;
                }
                remote.put(TableFragment::new(id, number, batch)).await?;
            }
            remote.end_table(id, count).await?;
        }
        Ok(())
    }
}

fn coded(error: &impl Coded) -> End {
    End::Coded { code: error.code(), message: error.to_string() }
}

/// Fragments of random sizes, some of them empty, with the columns that are asked for.
fn cut(rows: &RecordBatch, columns: &[usize]) -> Vec<RecordBatch> {
    let most = (rows.num_rows() / fastrand::usize(2..10)).max(20);
    let mut fragments = vec![];
    let mut start = 0;
    while start < rows.num_rows() {
        let length = fastrand::usize(0..=most).min(rows.num_rows() - start);
        let slice = rows.slice(start, length);
        let options = RecordBatchOptions::new().with_row_count(Some(length));
        let fields: Vec<_> =
            columns.iter().map(|at| Arc::new(slice.schema().field(*at).clone())).collect();
        let arrays = columns.iter().map(|at| Arc::clone(slice.column(*at))).collect();
        let schema = Arc::new(arrow::datatypes::Schema::new(fields));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
        fragments.push(batch.expect("columns of the table"));
        start += length;
    }
    fragments
}
