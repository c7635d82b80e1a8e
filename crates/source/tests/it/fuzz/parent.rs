//! The side that starts the reading process, watches it, and keeps what it died of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use caudal_testing::skip_on_this_machine;

/// Time that each target has, unless another is said.
const SECONDS: u64 = 3;

/// A file that takes so long is a hang.
const FILE_SECONDS_MAX: u64 = 60;

/// Address space of the reading process: what is not bounded does not fit.
const MEMORY_KIB: u64 = 4 << 20;

pub const TARGET: &str = "CAUDAL_FUZZ_TARGET";
pub const SECONDS_OF_CHILD: &str = "CAUDAL_FUZZ_SECONDS";
pub const FOLDER: &str = "CAUDAL_FUZZ_FOLDER";

/// The file that is being read.
pub const INPUT: &str = "input";

pub fn fuzz(target: &str) {
    let seconds = match std::env::var("CAUDAL_FUZZ_MINUTES") {
        Ok(minutes) => (minutes.parse::<f64>().unwrap() * 60.0) as u64,
        Err(_) => SECONDS,
    };
    let folder = tempfile::tempdir().unwrap();
    let started = start(target, seconds, folder.path());
    let child = match started {
        Ok(child) => child,
        Err(error) => return skip_on_this_machine("fuzz", &error.to_string()),
    };
    let pid = child.id();
    let watched = std::thread::spawn(move || child.wait_with_output().unwrap());
    let input = folder.path().join(INPUT);
    let mut hangs = false;
    while !watched.is_finished() {
        std::thread::sleep(Duration::from_millis(50));
        if !hangs && age(&input).is_some_and(|age| age.as_secs() > FILE_SECONDS_MAX) {
            hangs = true;
            Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        }
    }
    let Output { status, stdout, stderr } = watched.join().unwrap();
    let said = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{target}: {}", said[0].lines().find(|line| line.contains(" files")).unwrap_or("?"));
    if hangs || !status.success() {
        let kept = keep(target, &input);
        let why = if hangs { "it hangs".to_string() } else { status.to_string() };
        panic!("{}: {why}\n{}\n{}", kept.display(), said[0], said[1]);
    }
}

fn start(target: &str, seconds: u64, folder: &Path) -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY_KIB} && exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe()?)
        .args(["fuzz::child", "--exact", "--nocapture"])
        .env(TARGET, target)
        .env(SECONDS_OF_CHILD, seconds.to_string())
        .env(FOLDER, folder)
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Since when the same file is being read.
fn age(input: &Path) -> Option<Duration> {
    let modified = fs::metadata(input).and_then(|metadata| metadata.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}

fn keep(target: &str, input: &Path) -> PathBuf {
    let content = fs::read(input).unwrap_or_default();
    let name = format!("caudal-fuzz-{target}-{:08x}", crate::fuzz::check::checksum(&content));
    let kept = std::env::temp_dir().join(name);
    fs::write(&kept, content).unwrap();
    kept
}
