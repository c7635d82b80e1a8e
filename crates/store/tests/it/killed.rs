//! Real processes on a real directory, killed at each named point.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use caudal_core::limits;
use caudal_store::{Directory, OutputWriter, Store, committed};

use crate::child;
use crate::tally::{FOLDER, Tally};

const SIGKILL: i32 = 9;

/// Lets `test` run on a fresh store until it is killed at a point.
fn kill_at(point: &str, test: &str, root: &Path) -> Output {
    let hits = root.join("hits");
    std::fs::create_dir(&hits).unwrap();
    let output = child::command(test, root.join("store").to_str().unwrap())
        .env("CAUDAL_FAILPOINT", format!("{point}=kill"))
        .env("CAUDAL_FAILPOINT_HITS", &hits)
        .output()
        .unwrap();
    assert_eq!(output.status.signal(), Some(SIGKILL), "{point}: {output:?}");
    let (name, _) = point.split_once('@').unwrap_or((point, ""));
    assert!(hits.join(name).exists(), "{point} was not hit");
    output
}

/// Opens what a dead process has left: its parts and its trash are gone.
fn open_after(root: &Path) -> Arc<dyn Store> {
    let root = root.join("store");
    let store = Directory::open(&root).unwrap();
    for hidden in [".parts", ".trash"] {
        assert_eq!(std::fs::read_dir(root.join(hidden)).unwrap().count(), 0, "{hidden} is swept");
    }
    Arc::new(store)
}

/// In a process of its own: says each number as soon as it is acknowledged.
#[tokio::test]
async fn journal_child() {
    let Some(root) = child::work() else { return };
    let mut tally = Tally::load(Arc::new(Directory::open(root).unwrap())).await.unwrap();
    for number in 0..12 {
        tally.append(number).await.unwrap();
        println!("acked {number}");
        if number % 4 == 3 {
            tally.snapshot().await.unwrap();
            tally.journal.compact().await.unwrap();
        }
    }
    println!("alive to the end");
}

#[tokio::test]
async fn a_journal_is_whole_after_a_kill_at_any_point() {
    let points = [
        ("journal.before_write", vec![1, 4, 5, 15]),
        ("journal.written", vec![1, 4, 12]),
        ("journal.snapshot_written", vec![1, 2, 3]),
        ("journal.compacting", vec![1, 3, 5]),
        ("store.part_written", vec![1, 5, 7, 13]),
        ("store.named", vec![1, 5, 7, 13]),
    ];
    for (point, times) in points {
        for time in times {
            let point = format!("{point}@{time}");
            let root = tempfile::tempdir().unwrap();
            let output = kill_at(&point, "killed::journal_child", root.path());
            let said = String::from_utf8(output.stdout).unwrap();
            let acked = said.lines().filter(|line| line.contains("acked")).count();

            let store = open_after(root.path());
            let mut tally = Tally::load(Arc::clone(&store)).await.unwrap();
            let seen = tally.numbers.len();
            assert!(seen == acked || seen == acked + 1, "{point}: {acked} acked, {seen} there");
            assert!(tally.numbers.iter().copied().eq(0..seen as u32), "{point}");
            tally.append(100).await.unwrap();
            tally.snapshot().await.unwrap();
            tally.journal.compact().await.unwrap();
            assert_eq!(Tally::load(store).await.unwrap().numbers, tally.numbers, "{point}");
        }
    }
}

fn bodies(writer: u8) -> Vec<Bytes> {
    let lengths = [10, limits::OUTPUT_INLINE_BYTES, 100];
    lengths.into_iter().map(|length| vec![writer; length].into()).collect()
}

async fn write_output(store: Arc<dyn Store>, writer: u8) -> Vec<Bytes> {
    let mut output = OutputWriter::new(Arc::clone(&store), FOLDER, "s1");
    for body in bodies(writer) {
        output.push(body).await.unwrap();
    }
    let output = output.commit().await.unwrap();
    let mut found = vec![];
    for index in 0..output.len() {
        found.push(output.read(index).await.unwrap());
    }
    found
}

/// In a process of its own: commits an output.
#[tokio::test]
async fn output_child() {
    let Some(root) = child::work() else { return };
    write_output(Arc::new(Directory::open(root).unwrap()), 1).await;
}

#[tokio::test]
async fn an_output_is_committed_or_not_after_a_kill_at_any_point() {
    let points = [
        ("store.named@2", false),
        ("outputs.before_commit", false),
        ("store.part_written@4", false),
        ("store.named@4", true),
        ("outputs.committed", true),
    ];
    for (point, is_committed) in points {
        let root = tempfile::tempdir().unwrap();
        kill_at(point, "killed::output_child", root.path());
        let store = open_after(root.path());
        let found = committed(Arc::clone(&store), FOLDER, "s1").await.unwrap();
        assert_eq!(found.is_some(), is_committed, "{point}");
        let expected = bodies(if is_committed { 1 } else { 2 });
        assert_eq!(write_output(store, 2).await, expected, "{point}");
    }
}

/// In a process of its own: removes a session.
#[tokio::test]
async fn removal_child() {
    let Some(root) = child::work() else { return };
    let store = Directory::open(root).unwrap();
    for number in 0..10 {
        store.put(&format!("sessions/a/b/{number}"), "x".into()).await.unwrap();
    }
    store.put("sessions/b/manifest", "x".into()).await.unwrap();
    store.delete_folder("sessions/a").await.unwrap();
}

#[tokio::test]
async fn half_a_session_is_never_seen() {
    let root = tempfile::tempdir().unwrap();
    kill_at("store.trashed", "killed::removal_child", root.path());
    let trash = root.path().join("store/.trash");
    assert_eq!(std::fs::read_dir(trash).unwrap().count(), 1, "it died before it was removed");
    let store = open_after(root.path());
    assert_eq!(store.folders("sessions").await.unwrap(), ["b"]);
    assert_eq!(store.list("sessions").await.unwrap(), ["sessions/b/manifest"]);
}

/// The parts of the living are not swept: another process that starts disturbs nobody.
#[tokio::test]
async fn opening_a_store_does_not_disturb_its_writers() {
    let root = tempfile::tempdir().unwrap();
    let store = Arc::new(Directory::open(root.path()).unwrap());
    let is_done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (store, is_done) = (Arc::clone(&store), Arc::clone(&is_done));
        tokio::spawn(async move {
            let mut written = 0;
            while !is_done.load(Ordering::Relaxed) {
                store.create(&format!("a/{written}"), vec![7; 100_000].into()).await.unwrap();
                written += 1;
            }
            written
        })
    };
    for _ in 0..100 {
        let root = root.path().to_path_buf();
        tokio::task::spawn_blocking(|| Directory::open(root).unwrap()).await.unwrap();
    }
    is_done.store(true, Ordering::Relaxed);
    let written = writer.await.unwrap();
    assert!(written > 0, "nobody was there to be disturbed");
    assert_eq!(store.list("a").await.unwrap().len(), written);
}
