//! Speed of a journal on a store: `cargo run -p caudal-store --example journal_speed -- STORE`.
//!
//! Prints the latency of appending records of 100 kB, alone and with eight shards at once, and how
//! long snapshot, compaction and loading take. What it writes it removes.

#![allow(clippy::unwrap_used, reason = "a measurement may fail")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use caudal_store::{Journal, Loader, Store, open};
use futures::future::join_all;

const RECORDS: usize = 200;
const RECORD_BYTES: usize = 100_000;
const SHARDS: usize = 8;
const SESSION: &str = "sessions/speed";

#[tokio::main]
async fn main() {
    let url = std::env::args().nth(1).expect("the address of a store");
    let store = open(&url).unwrap();
    one_shard(&store).await;
    many_shards(&store).await;
    store.delete_folder(SESSION).await.unwrap();
}

async fn one_shard(store: &Arc<dyn Store>) {
    let mut journal = load(store, 0).await;
    let latencies = append(&mut journal).await;
    print("one shard", &latencies, latencies.iter().sum());

    let started = Instant::now();
    load(store, 0).await;
    println!("load of {RECORDS} records: {:.1?}", started.elapsed());

    let started = Instant::now();
    journal.snapshot(body()).await.unwrap();
    println!("snapshot: {:.1?}", started.elapsed());
    let started = Instant::now();
    journal.compact().await.unwrap();
    println!("compaction of {RECORDS} records: {:.1?}", started.elapsed());
    let started = Instant::now();
    load(store, 0).await;
    println!("load of a snapshot: {:.1?}", started.elapsed());
}

async fn many_shards(store: &Arc<dyn Store>) {
    let journals = join_all((1..=SHARDS).map(|shard| load(store, shard))).await;
    let started = Instant::now();
    let appending = journals
        .into_iter()
        .map(|mut journal| tokio::spawn(async move { append(&mut journal).await }));
    let latencies: Vec<_> =
        join_all(appending).await.into_iter().flat_map(Result::unwrap).collect();
    print(&format!("{SHARDS} shards at once"), &latencies, started.elapsed());
}

async fn load(store: &Arc<dyn Store>, shard: usize) -> Journal {
    let folder = format!("{SESSION}/shards/{shard}");
    let mut loader = Loader::open(Arc::clone(store), folder, u64::MAX).await.unwrap();
    while loader.next().await.unwrap().is_some() {}
    loader.into_journal()
}

async fn append(journal: &mut Journal) -> Vec<Duration> {
    let mut latencies = vec![];
    for _ in 0..RECORDS {
        let started = Instant::now();
        journal.append(body()).await.unwrap();
        latencies.push(started.elapsed());
    }
    latencies
}

fn body() -> Bytes {
    Bytes::from(vec![7; RECORD_BYTES])
}

fn print(what: &str, latencies: &[Duration], elapsed: Duration) {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let percentile = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    let per_second = latencies.len() as f64 / elapsed.as_secs_f64();
    let (p50, p99) = (percentile(50), percentile(99));
    println!("append, {what}: {per_second:.0} records/s; median {p50:.2?}, p99 {p99:.2?}");
}
