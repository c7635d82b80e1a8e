//! Named points at which a test may end or freeze the process.
//!
//! A point is a line `failpoint::hit("shard.journaled")`. Built without debug assertions it is
//! nothing at all. Otherwise the environment decides:
//!
//! ```text
//! CAUDAL_FAILPOINT=shard.journaled=kill     SIGKILL, the first time it is reached
//! CAUDAL_FAILPOINT=shard.journaled@3=kill   the third time
//! CAUDAL_FAILPOINT=map.published=stop       SIGSTOP: the process freezes until somebody thaws it
//! CAUDAL_FAILPOINT=map.published=sleep:500  this thread does nothing for so many milliseconds
//! CAUDAL_FAILPOINT_HITS=/tmp/hits           a folder: before it acts, a file with the point's name
//!                                           and this process's pid in it
//! ```
//!
//! Several points are separated by `;`. Where the folder has the file already, nothing happens: of
//! all the processes that share the folder, one acts, once.

/// Reaches a point.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn hit(_point: &'static str) {}

#[cfg(debug_assertions)]
pub use armed::hit;

#[cfg(debug_assertions)]
pub mod simulated;
#[cfg(debug_assertions)]
pub use simulated::{knob, mutant};

/// Whether a simulation has switched on a deliberate defect, which it then has to find.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn mutant(_name: &'static str) -> bool {
    false
}

/// A bound; a simulation may draw a smaller one each time it is asked for, `CAUDAL_KNOBS` sets one for a process.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn knob(_name: &'static str, bound: usize) -> usize {
    bound
}

#[cfg(debug_assertions)]
mod armed {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::Path;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};

    struct Point {
        name: String,
        /// Acts when it is reached for this time, counted from one.
        at: u64,
        reached: AtomicU64,
        act: Act,
    }

    #[derive(Debug, PartialEq, Eq)]
    enum Act {
        Kill,
        Stop,
        Sleep(Duration),
    }

    static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
        let text = std::env::var("CAUDAL_FAILPOINT").unwrap_or_default();
        let texts = text.split(';').filter(|text| !text.is_empty());
        texts
            .map(|text| parse(text).unwrap_or_else(|| panic!("CAUDAL_FAILPOINT: {text}")))
            .collect()
    });

    /// Reaches a point.
    pub fn hit(point: &'static str) {
        super::simulated::count_hit(point);
        for armed in POINTS.iter().filter(|armed| armed.name == point) {
            if armed.reached.fetch_add(1, Ordering::Relaxed) + 1 == armed.at && claim(point) {
                act(&armed.act);
            }
        }
    }

    fn act(act: &Act) {
        match act {
            Act::Kill => {
                let _ = kill_process(getpid(), Signal::KILL);
            }
            Act::Stop => {
                let _ = kill_process(getpid(), Signal::STOP);
            }
            Act::Sleep(duration) => std::thread::sleep(*duration),
        }
    }

    /// Writes the hit down, unless another process did before.
    fn claim(point: &str) -> bool {
        let Some(hits) = std::env::var_os("CAUDAL_FAILPOINT_HITS") else { return true };
        let file = Path::new(&hits).join(point);
        match OpenOptions::new().write(true).create_new(true).open(file) {
            Ok(mut file) => write!(file, "{}", std::process::id()).is_ok(),
            Err(_) => false,
        }
    }

    fn parse(text: &str) -> Option<Point> {
        let (point, act) = text.split_once('=')?;
        let (name, at) = match point.split_once('@') {
            Some((name, at)) => (name, at.parse().ok()?),
            None => (point, 1),
        };
        let act = match act.split_once(':') {
            None if act == "kill" => Act::Kill,
            None if act == "stop" => Act::Stop,
            Some(("sleep", ms)) => Act::Sleep(Duration::from_millis(ms.parse().ok()?)),
            _ => return None,
        };
        Some(Point { name: name.to_string(), at, reached: AtomicU64::new(0), act })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_point_names_when_it_acts_and_how() {
            let point = parse("shard.journaled@3=sleep:20").unwrap();
            assert_eq!((point.name.as_str(), point.at), ("shard.journaled", 3));
            assert_eq!(point.act, Act::Sleep(Duration::from_millis(20)));
            assert_eq!(parse("a=kill").unwrap().act, Act::Kill);
            assert!(parse("a").is_none() && parse("a=explode").is_none());
        }
    }
}
