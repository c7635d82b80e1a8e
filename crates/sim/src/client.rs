//! A client: the real one, on lines of the simulation instead of the network.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{RecordBatch, RecordBatchOptions};
use caudal_client::remote::{self, Settings};
use caudal_client::{Error, Event, Remote, Service, UploadCounters};
use caudal_core::{Code, Coded, TableId, codes, limits};
use caudal_oracle::{compare, is_part};
use caudal_protocol::calls::{OpenRequest, TableRows};
use caudal_protocol::{Failure, TableFragment};
use caudal_runtime::Scope;
use caudal_runtime::time::{sleep, timeout};
use tokio::sync::oneshot;

use crate::faults::Fault;
use crate::line::SimDial;
use crate::verdict::Life;
use crate::workload::{Workload, with_row_column};
use crate::world::{World, elapsed, lock};

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
        life: Life,
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
    /// It does nothing for so long in the middle of its upload.
    pub idle: Duration,
    /// How long it waits for its answers.
    pub patience: Option<Duration>,
    /// After this somebody else cancels it.
    pub cancelled_after: Option<Duration>,
}

impl Session {
    /// The whole life of a session.
    pub async fn live(self, world: Arc<World>) -> End {
        let start = elapsed();
        let mut life = Life {
            client: self.name.clone(),
            session: None,
            time: start..start,
            patience: self.patience,
            heard_of_gateways: false,
        };
        let lived = match self.patience {
            None => self.live_on(&world, &mut life).await,
            Some(patience) => {
                let living = timeout(patience, self.live_on(&world, &mut life)).await;
                living.unwrap_or_else(|_| Err((codes::TIMED_OUT, "it took too long".to_string())))
            }
        };
        life.time.end = elapsed();
        let end = match lived {
            Ok(end) => end,
            Err((code, message)) => End::Coded { code, message, life },
        };
        world.say(&self.name, format_args!("ends: {end:?}"));
        end
    }

    async fn live_on(&self, world: &Arc<World>, life: &mut Life) -> Result<End, (Code, String)> {
        let request = OpenRequest {
            nonce: caudal_client::remote::nonce(),
            tables: self.workload.table_entries(),
            queries: self.workload.query_entries(),
            shards: Some(self.shards),
        };
        let dial = Arc::new(SimDial(Arc::clone(world)));
        let settings = Settings { dial: Some(dial), ..Settings::new(self.gateways.clone()) };
        let opened = Remote::open(&settings, &request).await;
        if let Err(remote::Error::NoGateway { seconds, .. }) = &opened {
            life.heard_of_gateways = *seconds >= limits::GATEWAY_AWAY_SECONDS_MAX;
        }
        let remote = Arc::new(opened.map_err(|error| coded(&error))?);
        life.heard_of_gateways = true;
        world.say(&self.name, format_args!("is session {}", remote.session));
        life.session = Some(remote.session.to_string());
        // Where its time is over it is cancelled, too, whatever it is at.
        let open = Open(Arc::clone(world), Some(Arc::clone(&remote)));
        self.cancel_later(world, &settings, &remote);
        let end = self.ask(&remote).await;
        open.leave(matches!(end, Ok(End::Answered { .. }))).await;
        end
    }

    /// Somebody else cancels the session, wherever it is then.
    fn cancel_later(&self, world: &Arc<World>, settings: &Settings, remote: &Remote) {
        let Some(after) = self.cancelled_after else { return };
        let (world, settings) = (Arc::clone(world), settings.clone());
        let (session, client) = (remote.session.clone(), self.name.clone());
        world.clone().scope.spawn(async move {
            sleep(after).await;
            if lock(&world.objects).contains_key(&format!("sessions/{session}/manifest")) {
                world.say("world", format_args!("somebody cancels {session}"));
                world.count(Fault::Cancel);
                lock(&world.facts).cancelled.insert(client);
                // Where no gateway hears it the session goes on.
                let _ = caudal_client::remote::cancel(&settings, session).await;
            }
        });
    }

    async fn ask(&self, remote: &Arc<Remote>) -> Result<End, (Code, String)> {
        let mut answers = vec![vec![]; self.workload.queries.len()];
        let mut failures: Vec<Option<Failure>> = vec![None; self.workload.queries.len()];
        let counters = Arc::new(UploadCounters::new(self.workload.tables.len()));
        let service: Arc<dyn Service> = Arc::<Remote>::clone(remote);
        let reading = caudal_client::run::<Error>(service, vec![], 1, counters, |event| {
            match event {
                Event::Rows(query, batch) => answers[query.index()].push(batch),
                Event::Done(query, Err(failed)) => failures[query.index()] = Some(failed),
                Event::Done(_, Ok(()))
                | Event::Rejected(..)
                | Event::Noted(..)
                | Event::Waiting(_) => {}
            }
            Ok(())
        });
        let (sent, again) = oneshot::channel();
        let uploading = async {
            let _ = sent.send(self.upload(remote).await?);
            Ok::<_, Error>(())
        };
        let lived = tokio::select! {
            biased;
            ended = async { tokio::try_join!(reading, uploading) } => ended.map(drop),
            error = send_again(remote, again) => Err(error),
        };
        if let Some(end) = self.check_parts(&answers) {
            return Ok(end);
        }
        lived.map_err(|error| coded(&error))?;
        for (query, failure) in self.workload.queries.iter().zip(failures) {
            match (query.fails, failure) {
                (Some(right), Some(Failure { code, .. })) if code == right => {}
                (_, Some(Failure { code, message, .. })) => return Err((code, message)),
                (None, None) => {}
                (Some(code), None) => {
                    let difference = format!("it was answered, and should fail with {code}");
                    return Ok(End::Wrong { query: query.entry.name.clone(), difference });
                }
            }
        }
        Ok(self.check(&answers))
    }

    /// However it ended: the rows that came are rows of the right answer, each as often at most.
    fn check_parts(&self, answers: &[Vec<RecordBatch>]) -> Option<End> {
        let answered = self.workload.queries.iter().zip(answers);
        for (query, answer) in answered.filter(|(query, _)| query.fails.is_none()) {
            if let Err(difference) = is_part(answer, &query.expected) {
                return Some(End::Wrong { query: query.entry.name.clone(), difference });
            }
        }
        None
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

    /// The fragments of each table that was sent.
    async fn upload(&self, remote: &Remote) -> Result<Vec<(TableId, Vec<RecordBatch>)>, Error> {
        let mut sent = vec![];
        for (index, table) in self.workload.tables.iter().enumerate() {
            let Some(columns) = remote.tables[index].sent() else { continue };
            let id = TableId::from(index);
            let fragments = cut(&with_row_column(&table.rows), columns);
            let count = u32::try_from(fragments.len()).expect("few");
            for (number, batch) in (0..).zip(fragments.clone()) {
                if index == 0 && number == count / 2 {
                    sleep(self.idle).await;
                }
                if self.think_ms_max > 0 {
                    sleep(Duration::from_millis(fastrand::u64(0..=self.think_ms_max))).await;
                }
                remote.put(TableFragment::new(id, number, batch)).await?;
            }
            remote.end_table(id, count, rows_of(&fragments)).await?;
            sent.push((id, fragments));
        }
        Ok(sent)
    }
}

/// Sends all tables again as often as that is asked for, as `caudal_client` does with those of files.
async fn send_again(
    remote: &Remote,
    sent: oneshot::Receiver<Vec<(TableId, Vec<RecordBatch>)>>,
) -> Error {
    let Ok(tables) = sent.await else { return std::future::pending().await };
    let mut done = 0;
    loop {
        done = remote.resend(done).await;
        for (id, fragments) in &tables {
            let count = u32::try_from(fragments.len()).expect("few");
            for (number, batch) in (0..).zip(fragments) {
                if let Err(error) = remote.put(TableFragment::new(*id, number, batch.clone())).await
                {
                    return error;
                }
            }
            if let Err(error) = remote.end_table(*id, count, rows_of(fragments)).await {
                return error;
            }
        }
    }
}

fn rows_of(fragments: &[RecordBatch]) -> TableRows {
    let sent = fragments.iter().map(|batch| batch.num_rows() as u64).sum();
    TableRows { sent, rejected: 0 }
}

fn coded(error: &impl Coded) -> (Code, String) {
    (error.code(), error.to_string())
}

/// An open session: its client cancels it when it gives up, as `caudal` does.
struct Open(Arc<World>, Option<Arc<Remote>>);

impl Open {
    async fn leave(mut self, is_answered: bool) {
        let Some(remote) = self.1.take() else { return };
        match is_answered {
            true => remote.close().await,
            false => remote.cancel().await,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // A client that is gone says nothing.
        let is_there = Scope::current().is_some_and(|scope| scope.is_alive());
        if let Some(remote) = self.1.take().filter(|_| is_there) {
            self.0.count(Fault::ClientDeadline);
            self.0.scope.spawn(async move { remote.cancel().await });
        }
    }
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
