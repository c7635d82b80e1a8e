//! Clients that run suites, one after the other, for as long as something is done to the cluster: every answer is that of one
//! process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::harness::{Client, Data, caudal};

pub const SUITES: [(&str, &str); 4] =
    [("coffee", "0.02"), ("movies", "0.01"), ("books", "0.004"), ("steam", "0.001")];

/// A number of the environment, for the long form of a run.
pub fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// Runs clients until `meanwhile` is over; says how many runs there were. One that fails ends the test.
pub fn beside(
    clients: usize,
    gateways: &str,
    folder: &Path,
    meanwhile: impl FnOnce(&AtomicBool),
) -> usize {
    let suites: Vec<_> =
        SUITES.iter().map(|(suite, scale)| (*suite, Data::of(suite, scale))).collect();
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (suites, is_over, answered) = (&suites, &is_over, &answered);
            scope.spawn(move || {
                // A client that fails ends the rest, too.
                let _over = SetOnPanic(is_over);
                for run in 0.. {
                    let (suite, data) = &suites[(client + run) % suites.len()];
                    run_one(suite, data, gateways, folder, &format!("out-{client}-{run}"));
                    answered.fetch_add(1, Ordering::Relaxed);
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let _over = SetOnPanic(&is_over);
        meanwhile(&is_over);
        is_over.store(true, Ordering::Relaxed);
    });
    answered.into_inner()
}

fn run_one(suite: &str, data: &Data, gateways: &str, folder: &Path, out: &str) {
    let mut command = caudal();
    command.args(["run", suite, "--gateway", gateways, "--data"]).arg(&data.folder);
    command.arg("--out").arg(folder.join(out));
    Client::start(command, &folder.join(format!("{out}.log"))).succeeds();
    data.compare(&folder.join(out));
    std::fs::remove_dir_all(folder.join(out)).unwrap();
}

struct SetOnPanic<'a>(&'a AtomicBool);

impl Drop for SetOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
