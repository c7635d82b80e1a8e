//! Four CSV readers on the same files, each making the same Arrow columns: `docs/adr/008-our-own-csv-reader.md`.
//!
//!     cargo run --release -p caudal-csv --example compare -- [--rounds 7] [--folder FOLDER]
//!
//! CPU time of one thread, from the file (in the page cache) to record batches; in turns, round after round.

mod build;
mod files;
mod readers;
mod sum;

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::files::{FILES, Work};
use crate::readers::{READERS, Read};
use crate::sum::Sum;

/// The allocator of the `caudal` binary, so that the figures are those of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compare CSV readers.
#[derive(Parser)]
struct Args {
    /// How often each reads each file
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Where the generated files are kept, some 400 MB; in a temporary folder, if not given
    #[arg(long)]
    folder: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let temporary = tempfile::tempdir()?;
    let folder = args.folder.as_deref().unwrap_or(temporary.path());
    for file in &FILES {
        let work = file.open(folder)?;
        compare(&work, args.rounds)?;
    }
    Ok(())
}

/// Prints a line for each reader: megabytes a second, and how often the time of ours it takes.
fn compare(work: &Work, rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    println!("\n{}: {} MB, {}", work.name, work.bytes / 1_000_000, work.columns_text());
    let mut expected: Option<Sum> = None;
    // Before anything is measured: all make the same of it.
    for (name, read) in READERS {
        let sum = read(work)?;
        let first = expected.get_or_insert_with(|| sum.clone());
        if !first.equals(&sum) {
            return Err(format!("{name} gives {sum:?} instead of {first:?}").into());
        }
    }
    let mut seconds = vec![vec![]; READERS.len()];
    for _ in 0..rounds {
        for (at, (_, read)) in READERS.iter().enumerate() {
            seconds[at].push(timed(work, *read)?);
        }
    }
    for (at, (name, _)) in READERS.iter().enumerate() {
        let ratios =
            sorted(seconds[at].iter().zip(&seconds[0]).map(|(theirs, ours)| theirs / ours));
        let times = sorted(seconds[at].iter().copied());
        println!(
            "  {name:<12} {:>6.0} MB/s   {:>5.2} times ours ({:.2}-{:.2})",
            work.bytes as f64 / 1e6 / times[rounds / 2],
            ratios[rounds / 2],
            ratios[0],
            ratios[rounds - 1],
        );
    }
    Ok(())
}

fn timed(work: &Work, read: Read) -> Result<f64, Box<dyn std::error::Error>> {
    let begin = thread_cpu_seconds()?;
    read(work)?;
    Ok(thread_cpu_seconds()? - begin)
}

/// What this thread has had of a processor: others on the machine do not count.
fn thread_cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let told = std::fs::read_to_string(Path::new("/proc/thread-self/schedstat"))?;
    let nanoseconds: f64 = told.split(' ').next().unwrap_or_default().parse()?;
    Ok(nanoseconds / 1e9)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}
