//! One client: a process of its own for each run, its answers compared with those of one process.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use caudal::codes;
use caudal::compare::{Order, compare_dirs};
use caudal_core::limits;

use super::workload::Workload;

/// Interval at which a process is looked at.
const LOOK: Duration = Duration::from_millis(limits::CLIENT_LOOK_MS);

/// State of a client that everybody may see.
#[derive(Clone, Debug)]
pub struct Record {
    pub number: usize,
    pub suite: String,
    pub state: State,
    /// Times of the runs whose answers were right.
    pub equal: Vec<Duration>,
    pub refused: u32,
    /// Errors, one text for each run that went wrong.
    pub wrong: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Running { since: Instant },
    Done,
    Killed,
}

/// Condition on which a client has done enough.
#[derive(Clone, Copy)]
pub struct Until {
    pub runs: usize,
    pub deadline: Option<Instant>,
}

pub struct Client {
    pub workload: Arc<Workload>,
    /// The options that name the cluster.
    pub cluster: Vec<String>,
    pub token: Option<String>,
    pub folder: PathBuf,
    pub record: Mutex<Record>,
    pub kill: Mutex<bool>,
}

impl Client {
    pub fn new(
        number: usize,
        workload: Arc<Workload>,
        cluster: Vec<String>,
        token: Option<String>,
        folder: &Path,
    ) -> Arc<Self> {
        let record = Record {
            number,
            suite: workload.suite.clone(),
            state: State::Waiting,
            equal: vec![],
            refused: 0,
            wrong: vec![],
        };
        let folder = folder.join(format!("client-{number}"));
        let (record, kill) = (Mutex::new(record), Mutex::new(false));
        Arc::new(Self { workload, cluster, token, folder, record, kill })
    }

    pub fn record(&self) -> Record {
        lock(&self.record).clone()
    }

    /// Asks for the death of the client's process; it does not come back.
    pub fn kill(&self) {
        *lock(&self.kill) = true;
    }

    /// Runs again and again until it is enough.
    pub fn live(&self, until: Until) {
        let mut runs = 0;
        while !self.is_killed() && !until.is_reached(runs) {
            match self.run() {
                Ran::Refused => {
                    lock(&self.record).refused += 1;
                    lock(&self.record).state = State::Waiting;
                    thread::sleep(Duration::from_millis(limits::SESSIONS_RETRY_MS));
                    continue;
                }
                Ran::Equal(took) => lock(&self.record).equal.push(took),
                Ran::Wrong(why) => lock(&self.record).wrong.push(why),
                Ran::Killed => {}
            }
            runs += 1;
        }
        lock(&self.record).state = if self.is_killed() { State::Killed } else { State::Done };
    }

    fn is_killed(&self) -> bool {
        *lock(&self.kill)
    }

    fn run(&self) -> Ran {
        let started = Instant::now();
        lock(&self.record).state = State::Running { since: started };
        match self.answer(started) {
            Ok(ran) => ran,
            Err(error) => Ran::Wrong(format!("cannot be run: {error}")),
        }
    }

    fn answer(&self, started: Instant) -> std::io::Result<Ran> {
        // Of the run before; the first has none.
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder)?;
        let (out, log) = (self.folder.join("out"), self.folder.join("log"));
        let mut child = self.start(&out, &log)?;
        let exit = loop {
            if let Some(exit) = child.try_wait()? {
                break exit;
            }
            let is_hanging =
                started.elapsed() > Duration::from_secs(limits::CLIENT_RUN_SECONDS_MAX);
            if self.is_killed() || is_hanging {
                child.kill()?;
                child.wait()?;
                return Ok(match self.is_killed() {
                    true => Ran::Killed,
                    false => Ran::Wrong(format!("hung: {}", fs::read_to_string(&log)?)),
                });
            }
            thread::sleep(LOOK);
        };
        if !exit.success() {
            let said = fs::read_to_string(&log)?;
            // A process has no other way to say why it failed. If it waited for its turn as long as a run may take,
            // a full cluster would look like a hang.
            let too_many = format!("error[{}]", codes::TOO_MANY_SESSIONS);
            return Ok(if said.contains(&too_many) { Ran::Refused } else { Ran::Wrong(said) });
        }
        let took = started.elapsed();
        Ok(match compare_dirs(&out, &self.workload.expected, Order::Any) {
            Ok(report) if report.passed() => Ran::Equal(took),
            Ok(report) => Ran::Wrong(report.to_string()),
            Err(error) => Ran::Wrong(error.to_string()),
        })
    }

    fn start(&self, out: &Path, log: &Path) -> std::io::Result<Child> {
        let Workload { suite, data, params, .. } = self.workload.as_ref();
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["run", suite, "--quiet", "--data"]).arg(data).arg("--out").arg(out);
        for param in params {
            command.args(["--param", param]);
        }
        if let Some(token) = &self.token {
            command.env("CAUDAL_TOKEN", token);
        }
        let log = File::create(log)?;
        command
            .args(&self.cluster)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
    }
}

impl Until {
    fn is_reached(self, runs: usize) -> bool {
        match self.deadline {
            Some(deadline) => Instant::now() >= deadline,
            None => runs >= self.runs,
        }
    }
}

/// Outcome of a run.
enum Ran {
    Equal(Duration),
    Wrong(String),
    Refused,
    Killed,
}

/// A panic elsewhere leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
