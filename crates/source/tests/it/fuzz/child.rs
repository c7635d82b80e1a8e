//! The process that reads changed files, one after the other, until its time is over.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::check::{Verdict, check};
use super::mutate::Mutator;
use super::originals::Originals;
use super::parent::{FOLDER, INPUT, SECONDS_OF_CHILD, TARGET};

/// Memory that a small file may take: xz looks back upon 128 MiB, decompressed bytes wait in buffers.
const PEAK_BYTES_MAX: u64 = 768 << 20;

pub fn run() {
    let Ok(target) = std::env::var(TARGET) else { return };
    let seconds = std::env::var(SECONDS_OF_CHILD).unwrap().parse().unwrap();
    let folder = std::env::var_os(FOLDER).unwrap();
    let input = Path::new(&folder).join(INPUT);
    let first_seed = std::env::var("CAUDAL_SEED").map_or(0, |seed| seed.parse().unwrap());
    let originals = Originals::of(&target);
    for original in &originals.files {
        fs::write(&input, original).unwrap();
        assert_eq!(check(&input), Verdict::Read, "an original cannot be read");
    }
    let (started, duration) = (Instant::now(), Duration::from_secs(seconds));
    let mut counts = Counts::default();
    for seed in first_seed.. {
        if started.elapsed() > duration {
            break;
        }
        let changed = Mutator::new(Rng::with_seed(seed), &originals).file();
        fs::write(&input, &changed).unwrap();
        counts.add(&input, seed);
    }
    println!("{}", counts.said());
}

#[derive(Default)]
struct Counts {
    files: u64,
    read: u64,
    slowest: Duration,
    peak_bytes: u64,
}

impl Counts {
    fn add(&mut self, input: &Path, seed: u64) {
        let begun = Instant::now();
        forget_peak();
        let verdict = check(input);
        let peak = peak_bytes();
        assert!(peak < PEAK_BYTES_MAX, "{peak} bytes of memory, with seed {seed}");
        self.files += 1;
        self.read += u64::from(verdict == Verdict::Read);
        self.slowest = self.slowest.max(begun.elapsed());
        self.peak_bytes = self.peak_bytes.max(peak);
    }

    fn said(&self) -> String {
        let Counts { files, read, slowest, peak_bytes } = self;
        let megabytes = peak_bytes >> 20;
        format!(
            "{files} files, {read} of them read, the slowest in {slowest:.1?}, {megabytes} MiB at most"
        )
    }
}

/// Lets the kernel begin anew to look for the most memory that was in use.
fn forget_peak() {
    // Where it cannot, the peak is that of all files so far.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
