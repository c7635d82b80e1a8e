//! The client that behaves: asks the same again and again, knows the right answer, and takes the time.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use crate::ground::{GOOD_TOKEN, Ground};
use crate::harness::caudal;

const SQL: &str =
    "SELECT k, count(*) AS n, sum(v) AS s, max(name) AS last FROM t GROUP BY k ORDER BY k";
const ROWS: usize = 20_000;
const QUIET_RUNS: usize = 20;
/// During each attack, so many at least.
const ANSWERS_MIN: usize = 3;

pub struct Good {
    gateways: String,
    table: PathBuf,
    right: String,
    answers: Mutex<Vec<Answer>>,
    is_over: AtomicBool,
}

struct Answer {
    began: Instant,
    took: Duration,
    /// None: right.
    wrong: Option<String>,
}

/// Ends the client that behaves.
pub struct Running<'a>(&'a Good);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

impl Good {
    pub fn new(ground: &Ground) -> Self {
        let table = ground.cluster.path("good.csv");
        let rows = (0..ROWS).map(|n| format!("{},{},name-{}\n", n % 17, n, n % 1000));
        std::fs::write(&table, format!("k,v,name\n{}", rows.collect::<String>())).unwrap();
        let gateways = ground.gateways.join(",");
        let good = Self {
            gateways,
            table,
            right: String::new(),
            answers: Mutex::default(),
            is_over: AtomicBool::new(false),
        };
        let alone = good.query().output().unwrap();
        assert!(alone.status.success(), "{alone:?}");
        Self { right: String::from_utf8(alone.stdout).unwrap(), ..good }
    }

    fn query(&self) -> Command {
        let mut command = caudal();
        command.args(["query", "-c", SQL, "-t", &format!("t={}", self.table.display())]);
        command
    }

    fn ask(&self) -> Answer {
        let began = Instant::now();
        let mut query = self.query();
        query.args(["--gateway", &self.gateways, "--timeout", "100s", "--wait", "60s"]);
        let output = query.env("CAUDAL_TOKEN", GOOD_TOKEN).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_right = output.status.success() && said == self.right;
        let wrong = (!is_right).then(|| {
            format!("{}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr))
        });
        Answer { began, took: began.elapsed(), wrong }
    }

    /// How long it takes when nobody attacks: 95 % of its answers.
    pub fn quiet(&self) -> Duration {
        self.ask();
        let mut took: Vec<Duration> = (0..QUIET_RUNS)
            .map(|_| {
                let answer = self.ask();
                assert!(answer.wrong.is_none(), "{:?}", answer.wrong);
                answer.took
            })
            .collect();
        percentile_95(&mut took)
    }

    pub fn start<'a>(&'a self, scope: &'a Scope<'a, '_>) -> Running<'a> {
        scope.spawn(move || {
            while !self.is_over.load(Ordering::Relaxed) {
                let answer = self.ask();
                self.all().push(answer);
            }
        });
        Running(self)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wait_for_answers_since(&self, since: Instant) {
        let enough =
            || self.all().iter().filter(|answer| answer.began >= since).count() >= ANSWERS_MIN;
        while !enough() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Of those that were under way between these times.
    pub fn percentile_95_between(&self, from: Instant, until: Instant) -> Duration {
        let all = self.all();
        let beside =
            all.iter().filter(|answer| answer.began + answer.took > from && answer.began < until);
        percentile_95(&mut beside.map(|answer| answer.took).collect::<Vec<_>>())
    }

    pub fn answers(&self) -> usize {
        self.all().len()
    }

    pub fn percentile_95(&self) -> Duration {
        percentile_95(&mut self.all().iter().map(|answer| answer.took).collect::<Vec<_>>())
    }

    pub fn was_right(&self) {
        let wrong: Vec<String> =
            self.all().iter().filter_map(|answer| answer.wrong.clone()).collect();
        assert!(wrong.is_empty(), "{} answers were not right:\n{}", wrong.len(), wrong.join("\n"));
    }

    pub fn stayed_near(&self, quiet: Duration) {
        let beside = self.percentile_95();
        assert!(beside <= 3 * quiet, "95 % within {beside:.2?}, quiet {quiet:.2?}");
    }
}

fn percentile_95(took: &mut [Duration]) -> Duration {
    took.sort();
    let at = (took.len() * 95).div_ceil(100).saturating_sub(1);
    took.get(at).copied().unwrap_or_default()
}
