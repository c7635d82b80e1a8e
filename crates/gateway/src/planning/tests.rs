//! Planners that are shell scripts: they answer, hang and die as they are told.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::{Code, Coded, Failure, QueryId, SessionId, codes};
use caudal_protocol::manifest::{Manifest, QuerySpec};
use caudal_runtime::Level;
use caudal_testing::until;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::pipe::{self, Said};
use super::pool::{Bounds, Pool};

/// Beginning of all of them: each start and each request is written down.
const BEGIN: &str = "cd $(dirname $0); echo $$ >> starts\n";
const READ: &str =
    "head -c $REQUEST > /dev/null; [ $? = 0 ] || exit; echo $$ >> requests; cat begins\n";

struct Fake {
    folder: TempDir,
    pool: Arc<Pool>,
    leaving: Level,
}

impl Fake {
    /// A planner that does this with each session.
    fn new(does: &str) -> Self {
        Self::with(does, |_| {})
    }

    fn with(does: &str, change: impl FnOnce(&mut Bounds)) -> Self {
        let script = format!("{BEGIN}while :; do\n{READ}{does}\ndone\n");
        Self::of_script(&script, change)
    }

    fn of_script(script: &str, change: impl FnOnce(&mut Bounds)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let request = pipe::frame(&manifest("one"), 1 << 20).unwrap().len();
        let script = script.replace("$REQUEST", &request.to_string());
        let (program, begins) = (folder.path().join("fake"), Said::Begins(Some(QueryId(0))));
        // By another process: as long as one that this one forks has the file open, it could not be run.
        let text = folder.path().join("script");
        fs::write(&text, format!("#!/bin/sh\n{script}")).unwrap();
        let install = Command::new("install").arg("-m700").args([&text, &program]).status();
        assert!(install.unwrap().success());
        fs::write(folder.path().join("begins"), pipe::frame(&begins, 1 << 20).unwrap()).unwrap();
        let answer = Said::Failed(Failure::new(codes::TOO_MANY, "answered"));
        fs::write(folder.path().join("answer"), pipe::frame(&answer, 1 << 20).unwrap()).unwrap();
        let mut bounds = Bounds::new(true);
        change(&mut bounds);
        let leaving = Level::default();
        let pool = Pool::new("gateway-1".to_string(), program, bounds, leaving.clone());
        Self { folder, pool, leaving }
    }

    async fn plan(&self) -> Failure {
        self.planning("one").await.unwrap()
    }

    fn planning(&self, owner: &str) -> JoinHandle<Failure> {
        let (pool, manifest) = (Arc::clone(&self.pool), manifest(owner));
        tokio::spawn(async move { Failure::of(&pool.plan(&manifest).await.unwrap_err()) })
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(file)).unwrap_or_default();
        text.lines().map(str::to_string).collect()
    }

    fn make(&self, file: &str) {
        fs::write(self.folder.path().join(file), "").unwrap();
    }

    async fn until_requests(&self, count: usize) {
        until("requests", async || self.lines("requests").len() >= count).await;
    }
}

/// Owners' names are of one length, so that all requests are.
fn manifest(owner: &str) -> Manifest {
    assert_eq!(owner.len(), 3);
    Manifest {
        session: SessionId("s".into()),
        tables: vec![],
        queries: vec![QuerySpec { name: "q7".into(), sql: String::new(), params: vec![] }],
        shards: 1,
        started_ms: 0,
        version: String::new(),
        fingerprint: String::new(),
        owner: owner.to_string(),
    }
}

fn is_running(pid: &str) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap()
}

const ANSWER: &str = "cat answer";

#[tokio::test]
async fn a_planner_is_used_again_until_it_has_planned_for_long() {
    let fake = Fake::with(ANSWER, |bounds| bounds.requests = 3);
    for _ in 0..4 {
        let answered = fake.plan().await;
        assert_eq!((answered.code, &*answered.message), (codes::TOO_MANY, "answered"));
    }
    let [first, second] = &fake.lines("starts")[..] else { panic!("{:?}", fake.lines("starts")) };
    let asked = fake.lines("requests");
    assert_eq!(asked.iter().collect::<Vec<_>>(), [first, first, first, second]);
    until("its end", async || !is_running(first)).await;
    assert!(is_running(second));
}

/// The one error that its client is told of a planner that does this, after so many starts.
async fn final_error(does: &str, starts: usize) -> Failure {
    let fake = Fake::new(does);
    let failure = fake.plan().await;
    assert_eq!(fake.lines("starts").len(), starts, "{failure:?}");
    assert_eq!(fake.lines("requests").len(), starts, "{failure:?}");
    failure
}

#[tokio::test]
async fn what_kills_its_planner_is_told_once_and_why() {
    let abort = |words: &str| format!("echo '{words}' >&2; kill -ABRT $$");
    let cases: [(String, Code, &str); 5] = [
        (
            abort("memory allocation of 12 bytes failed"),
            codes::PLANNING_TOO_LARGE,
            "q7: planning it takes more than 1024 MiB",
        ),
        (
            abort("thread planner has overflowed its stack"),
            codes::SYNTAX,
            "q7: it is nested too deeply to be planned",
        ),
        (abort("?"), codes::PLANNER_FAILED, "q7: its planner crashed with signal 6"),
        ("kill -SEGV $$".into(), codes::PLANNER_FAILED, "q7: its planner crashed with signal 11"),
        ("exit 3".into(), codes::PLANNER_FAILED, "q7: its planner ended with exit code 3"),
    ];
    for (does, code, message) in cases {
        let failure = final_error(&does, 1).await;
        assert_eq!((failure.code, &*failure.message), (code, message));
        assert!(!failure.is_retryable() && failure.hint.is_some());
    }
}

#[tokio::test]
async fn what_somebody_else_kills_is_planned_again_but_not_for_ever() {
    let fake = Fake::new("[ -e killed ] || { touch killed; kill -KILL $$; }; cat answer");
    assert_eq!(fake.plan().await.message, "answered");
    assert_eq!(fake.lines("starts").len(), 2);
    let failure = final_error("kill -KILL $$", 2).await;
    assert_eq!(failure.message, "q7: its planner was killed by signal 9");
    assert!(!failure.is_retryable());
}

#[tokio::test]
async fn one_that_has_planned_before_may_run_out_of_memory_of_its_own() {
    let dies = "[ $(wc -l < requests) = 2 ] && { echo 'memory allocation of 1 bytes failed' >&2; kill -ABRT $$; }";
    let fake = Fake::new(&format!("{dies}; cat answer"));
    for _ in 0..2 {
        assert_eq!(fake.plan().await.message, "answered");
    }
    let [first, second] = &fake.lines("starts")[..] else { panic!("{:?}", fake.lines("starts")) };
    let asked = fake.lines("requests");
    assert_eq!(
        asked.iter().collect::<Vec<_>>(),
        [first, first, second],
        "a new one, the second time"
    );
}

#[tokio::test]
async fn one_that_never_begins_is_no_fault_of_the_session() {
    let sleeps = format!("{BEGIN}exec sleep 60");
    let fake = Fake::of_script(&sleeps, |bounds| bounds.planning = Duration::from_millis(500));
    let failure = fake.plan().await;
    assert_eq!((failure.code, failure.is_retryable()), (codes::PLANNER_CANNOT_START, true));
    assert_eq!(fake.lines("starts").len(), 2);
}

#[tokio::test]
async fn one_that_died_while_it_was_idle_is_replaced() {
    let fake = Fake::new(ANSWER);
    fake.plan().await;
    let first = fake.lines("starts").remove(0);
    let kill = Command::new("kill").args(["-KILL", &first]).status().unwrap();
    assert!(kill.success());
    assert_eq!(fake.plan().await.message, "answered");
    assert_eq!(fake.lines("starts").len(), 2);
}

#[tokio::test]
async fn one_that_cannot_be_started_is_no_fault_of_the_session() {
    let fake = Fake::of_script(&format!("{BEGIN}exit 127"), |_| {});
    let failure = fake.plan().await;
    assert_eq!(failure.code, codes::PLANNER_CANNOT_START);
    let message = "gateway gateway-1 cannot start a planner: ended with exit code 127";
    assert_eq!((&*failure.message, fake.lines("starts").len()), (message, 2));
    assert!(failure.is_retryable(), "another gateway may have one");
    fs::remove_file(fake.folder.path().join("fake")).unwrap();
    assert_eq!(fake.plan().await.code, codes::PLANNER_CANNOT_START);
}

#[tokio::test]
async fn one_that_takes_too_long_is_killed() {
    let hangs = "exec sleep 600";
    let fake = Fake::with(hangs, |bounds| bounds.planning = Duration::from_millis(1500));
    let failure = fake.plan().await;
    assert_eq!(failure.code, codes::PLANNING_TOO_SLOW);
    assert_eq!(failure.message, "q7: planning it takes more than 1.5 s");
    let [planner] = &fake.lines("starts")[..] else { panic!("one try") };
    until("its end", async || !is_running(planner)).await;
}

#[tokio::test]
async fn one_that_makes_no_sense_is_killed() {
    let failure = final_error("printf '\\377\\377\\377\\377'; exec sleep 60", 1).await;
    assert_eq!(failure.message, "q7: its planner made no sense any more");
    let failure = final_error("printf '\\002\\000\\000\\000{}'; exec sleep 60", 1).await;
    assert_eq!(failure.code, codes::PLANNER_FAILED);
}

/// Each waits until the file of its number is there.
const IN_TURN: &str = "n=$(wc -l < requests); until [ -e go$n ]; do sleep 0.02; done; cat answer";

#[tokio::test]
async fn an_owner_whose_queries_are_slow_leaves_a_planner_to_others() {
    let fake = Fake::new(IN_TURN);
    let slow = [fake.planning("bad"), fake.planning("bad"), fake.planning("bad")];
    fake.until_requests(1).await;
    for request in [2, 3] {
        let other = fake.planning("one");
        fake.until_requests(request).await;
        fake.make(&format!("go{request}"));
        assert_eq!(other.await.unwrap().message, "answered");
    }
    assert!(slow.iter().all(|slow| !slow.is_finished()));
    assert_eq!(fake.lines("starts").len(), 2);
    for request in [1, 4, 5] {
        fake.make(&format!("go{request}"));
    }
    for slow in slow {
        assert_eq!(slow.await.unwrap().message, "answered");
    }
}

#[tokio::test]
async fn who_has_to_wait_too_long_may_try_elsewhere() {
    let short = |bounds: &mut Bounds| {
        bounds.waiting = Duration::from_millis(1500);
        bounds.turns.waiting_of_owner = 1;
    };
    let fake = Fake::with(IN_TURN, short);
    let first = fake.planning("one");
    fake.until_requests(1).await;
    let second = fake.planning("one");
    tokio::task::yield_now().await;
    let third = fake.plan().await;
    assert!(!second.is_finished(), "one too many does not wait at all");
    assert_eq!((third.code, third.is_retryable()), (codes::PLANNERS_BUSY, true));
    assert_eq!(second.await.unwrap().code, codes::PLANNERS_BUSY);
    fake.make("go1");
    assert_eq!(first.await.unwrap().message, "answered");
    fake.make("go2");
    assert_eq!(fake.plan().await.message, "answered", "who gave up is not waited for");
}

#[tokio::test]
async fn a_client_that_hangs_up_costs_no_planner() {
    let fake = Fake::new(IN_TURN);
    let gone = fake.planning("one");
    fake.until_requests(1).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    fake.make("go1");
    fake.make("go2");
    assert_eq!(fake.plan().await.message, "answered");
    assert_eq!(fake.lines("starts").len(), 1);
}

#[tokio::test]
async fn a_gateway_that_leaves_ends_its_planners() {
    let fake = Fake::new(IN_TURN);
    let planning = fake.planning("one");
    fake.until_requests(1).await;
    fake.leaving.raise();
    assert!(planning.await.unwrap().is_retryable());
    let [planner] = &fake.lines("starts")[..] else { panic!("one") };
    until("its end", async || !is_running(planner)).await;
}
