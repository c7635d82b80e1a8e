//! Cause of a planner's death, from its exit status and its last words.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

#[derive(Debug, PartialEq, Eq)]
pub enum Death {
    /// It was refused memory.
    Memory,
    /// Its stack was too small.
    Stack,
    /// Somebody wanted it to end: an operator, the system when it had no memory left. It need not be the query's fault.
    Killed(i32),
    /// By a signal that a process brings upon itself.
    Signal(i32),
    /// It ended by itself, without an answer.
    Exit(i32),
    /// It had to be ended, for it made no sense any more.
    Silent,
}

/// Signals that come from other processes: SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM.
const FROM_OTHERS: [i32; 5] = [1, 2, 3, 9, 15];

/// Messages of Rust's runtime before it aborts. In both cases the signal is SIGABRT, which says nothing else.
const NO_MEMORY: &str = "memory allocation of ";
const NO_STACK: &str = "has overflowed its stack";

impl Death {
    pub fn of(status: ExitStatus, last_words: &str) -> Self {
        let Some(signal) = status.signal() else {
            return Death::Exit(status.code().unwrap_or_default());
        };
        match signal {
            _ if FROM_OTHERS.contains(&signal) => Death::Killed(signal),
            _ if last_words.contains(NO_MEMORY) => Death::Memory,
            _ if last_words.contains(NO_STACK) => Death::Stack,
            _ => Death::Signal(signal),
        }
    }
}

/// After "a planner".
impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Death::Memory => f.write_str("ran out of memory"),
            Death::Stack => f.write_str("ran out of stack"),
            Death::Killed(signal) => write!(f, "was killed by signal {signal}"),
            Death::Signal(signal) => write!(f, "crashed with signal {signal}"),
            Death::Exit(code) => write!(f, "ended with exit code {code}"),
            Death::Silent => f.write_str("made no sense any more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_and_last_words_tell_why() {
        let of = |status, words| Death::of(ExitStatus::from_raw(status), words);
        assert_eq!(of(6, "memory allocation of 4000000000000000000 bytes failed"), Death::Memory);
        let overflow = "thread 'planner' (12) has overflowed its stack\nfatal runtime error";
        assert_eq!(of(6, overflow), Death::Stack);
        assert_eq!(of(11, ""), Death::Signal(11));
        assert_eq!(of(9, overflow), Death::Killed(9));
        assert_eq!(of(3 << 8, ""), Death::Exit(3));
    }
}
