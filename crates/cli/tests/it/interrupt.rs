//! Ctrl-C: the program ends at once, with 130, and leaves nothing half-done.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use caudal_testing::wait_until;

use crate::place::{Place, Ran};

/// Time that "at once" may take, on a busy machine too.
const END_MAX: Duration = Duration::from_secs(5);

/// Three tables whose cross join takes hours.
fn hours_of_work(options: &[&str]) -> (Place, Child) {
    let numbers: String = (0..5000).map(|n| format!("{n}\n")).collect();
    let place = Place::with("n.csv", format!("x\n{numbers}"));
    let sql = "SELECT count(*) FROM a, b, c WHERE a.x * b.x + c.x = -1";
    let tables = ["-t", "a=n.csv", "-t", "b=n.csv", "-t", "c=n.csv"];
    let mut command = place.command(&[&["query", "-c", sql], &tables[..], options].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    (place, child)
}

/// Processor time of a program so far, so that it can be met in the middle of its work.
pub fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(11).unwrap().parse().unwrap()
}

fn press_ctrl_c(child: Child) -> (Ran, Duration) {
    let pressed = Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ran = child.wait_with_output().unwrap().into();
    (ran, pressed.elapsed())
}

#[test]
fn a_run_ends_at_once_without_partial_results() {
    for threads in ["1", "2"] {
        let (place, child) = hours_of_work(&["--out", "out", "--threads", threads]);
        let is_begun = || {
            place.path("out").is_dir()
                && place.list("out").iter().any(|name| name.ends_with(".part"))
        };
        wait_until("it has begun", is_begun);
        wait_until("it has begun", || cpu_ticks(child.id()) > 50);
        let (ran, took) = press_ctrl_c(child);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), "interrupted\n"));
        assert_eq!(place.list("out"), [""; 0]);
        assert!(took < END_MAX, "it took {took:?}");
    }
}

#[test]
fn a_run_to_stdout_ends_at_once_without_a_word() {
    let (_place, child) = hours_of_work(&[]);
    wait_until("it has begun", || cpu_ticks(child.id()) > 50);
    let (ran, took) = press_ctrl_c(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""));
    assert!(took < END_MAX, "it took {took:?}");
}

/// Each row is seconds of work of one call, which nothing can stop in the middle.
#[test]
fn a_run_ends_when_its_time_is_over_though_its_threads_compute() {
    let numbers: String = (10..99).map(|n| format!("{n}\n")).collect();
    let place = Place::with("n.csv", format!("x\n{numbers}"));
    let sql =
        "SELECT sum(levenshtein(repeat(CAST(x AS TEXT), 20000), repeat('y', 20000))) AS s FROM n";
    for threads in ["1", "2"] {
        let began = Instant::now();
        let ran = place.query(sql, &["-t", "n=n.csv", "--timeout", "1s", "--threads", threads]);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stderr.contains("CDL-3010"), "{ran}");
        assert!(began.elapsed() < Duration::from_secs(1) + END_MAX, "{:?}", began.elapsed());
    }
}

#[test]
fn what_does_not_listen_is_ended_too() {
    let place = Place::new();
    let mut command = place.command(&["generate", "steam", "--scale", "100", "--out", "out"]);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it has begun", || place.path("out/games.csv").exists());
    let (ran, took) = press_ctrl_c(child);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), "interrupted\n"));
    assert!(took < END_MAX, "it took {took:?}");
}
