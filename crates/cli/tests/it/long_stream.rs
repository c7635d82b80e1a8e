//! Streams longer than memory, through standard input: answered exactly, in memory that does not grow with them.
//!
//!     CAUDAL_STREAM_MB=20000 cargo test -p caudal-cli --test it long_stream -- --nocapture --test-threads 1

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use crate::place::{Place, Ran};

/// Megabytes of each stream, as they are once unpacked, unless another number is said.
const MEGABYTES: u64 = 250;

/// Whatever the length: the program, its threads, and all that waits between them.
const PEAK_MEGABYTES_MAX: u64 = 400;

const SQL: &str =
    "SELECT k, count(*) AS n, sum(v) AS sum, max(name) AS last FROM t GROUP BY k ORDER BY k";

/// Rows that come again and again, as `yes` writes its line.
const ROWS: u64 = 20_000;

fn block(row: impl Fn(u64) -> String) -> Vec<u8> {
    (0..ROWS).map(row).collect::<String>().into_bytes()
}

fn expected(blocks: u64) -> String {
    let of_key = |k: u64| {
        let sum: u64 = (0..ROWS).filter(|v| v % 4 == k).sum();
        format!("{k},{},{},name {}\n", blocks * ROWS / 4, blocks * sum, 9996 + k)
    };
    "k,n,sum,last\n".to_string() + &(0..4).map(of_key).collect::<String>()
}

#[test]
fn csv_that_does_not_end_soon() {
    let rows = block(|n| format!("{},{n},name {n},\"some, more\ntext\"\n", n % 4));
    check("CSV", b"k,v,name,rest\n", &rows, rows.len());
}

#[test]
fn json_that_does_not_end_soon() {
    let rows =
        block(|n| format!("{{\"k\":{},\"v\":{n},\"name\":\"name {n}\",\"rest\":[{n}]}}\n", n % 4));
    check("JSON", b"", &rows, rows.len());
}

#[test]
fn gzip_that_does_not_end_soon() {
    let rows = block(|n| format!("{},{n},name {n},{}\n", n % 4, n * 7919));
    // Members of one file.
    check("gzip", &gzip(b"k,v,name,rest\n"), &gzip(&rows), rows.len());
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut command = Command::new("gzip");
    command.arg("-1c").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(content).unwrap());
        child.wait_with_output().unwrap().stdout
    })
}

/// Streams a beginning and then the same block, of so many bytes once unpacked, over and over.
fn check(name: &str, beginning: &[u8], block: &[u8], block_bytes: usize) {
    let megabytes = env::var("CAUDAL_STREAM_MB").map_or(MEGABYTES, |text| text.parse().unwrap());
    let blocks = (megabytes << 20) / block_bytes as u64 + 1;
    let started = Instant::now();
    let (ran, peak) = watched(|stdin| {
        stdin.write_all(beginning)?;
        (0..blocks).try_for_each(|_| stdin.write_all(block))
    });
    println!("{name}: {megabytes} MB in {:.1?}, {peak} MB of memory", started.elapsed());
    assert_eq!(ran.answer(), expected(blocks));
    assert!((1..PEAK_MEGABYTES_MAX).contains(&peak), "{name}: {peak} MB of memory");
}

/// Runs the query over what is written, and looks at its memory meanwhile: its peak, in megabytes.
fn watched(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()> + Send) -> (Ran, u64) {
    let place = Place::new();
    let mut command = place.command(&["query", "-t", "t=-", "-c", SQL, "--threads", "2"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut caudal = command.spawn().unwrap();
    let (pid, mut stdin) = (caudal.id(), caudal.stdin.take().unwrap());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut peak = 0;
            while !is_over.load(Ordering::Relaxed) {
                peak = peak.max(peak_megabytes(pid).unwrap_or(0));
                thread::sleep(Duration::from_millis(20));
            }
            peak
        });
        // One that ends early says why.
        let writer = scope.spawn(move || drop(write(&mut stdin)));
        let output = caudal.wait_with_output().unwrap();
        is_over.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        (output.into(), watch.join().unwrap())
    })
}

/// The most that was resident so far.
fn peak_megabytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().split(' ').next()?.parse::<u64>().ok()? >> 10)
}
