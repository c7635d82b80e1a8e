//! Starts nodes that are containers of this machine, by the Engine's API over its socket.
//!
//! A container has no name for one of its incarnations but the time it was started at. A process says when it
//! started, too, by the same machine's clock: so whether the process that fell silent is of the incarnation that
//! runs now can be told.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use caudal_core::limits;
use caudal_core::limits::KILL_MS;
use serde::Deserialize;

use crate::Process;
use crate::launch::{Decision, Host, Outcome, decide, does_not_die};

const LOOK: Duration = Duration::from_millis(limits::DOCKER_LOOK_MS);
/// Clocks of processes tick in hundredths of a second.
const MS_PER_TICK: u64 = 10;

/// Under the node's lock, as `process::launch`.
pub fn launch(container: &str, socket: &Path, dead: Option<Process>) -> io::Result<Outcome> {
    let engine = Engine { socket, container };
    let state = engine.inspect()?;
    match decide(state.host(dead, machine_started_ms()?), dead) {
        Decision::LeaveAlone => return Ok(Outcome::LeftAlone),
        Decision::Start => {}
        Decision::Replace(_) => {
            engine.post("kill")?;
            if !engine.is_gone_by(Instant::now() + Duration::from_millis(KILL_MS))? {
                return Err(does_not_die());
            }
        }
    }
    engine.post("start")?;
    Ok(Outcome::Started)
}

#[derive(Debug, Deserialize)]
struct Inspected {
    #[serde(rename = "State")]
    state: State,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct State {
    running: bool,
    paused: bool,
    started_at: String,
}

impl State {
    fn host(&self, dead: Option<Process>, machine_started_ms: u64) -> Host {
        // The running process is not the one that is dead, until that is shown.
        let unknown = Process { pid: 0, started: 0 };
        match (self.running, self.paused) {
            (false, _) => Host::Gone,
            (true, true) => Host::Frozen(unknown),
            (true, false) => {
                let is_of_this_incarnation = |dead: &Process| {
                    let born_ms = machine_started_ms + dead.started * MS_PER_TICK;
                    unix_ms(&self.started_at)
                        .is_some_and(|at_ms| born_ms + limits::DOCKER_START_MS >= at_ms)
                };
                Host::Running(dead.filter(is_of_this_incarnation).unwrap_or(unknown))
            }
        }
    }
}

/// HTTP/1.0 on a connection for each call: no chunks, and the answer ends with the connection.
struct Engine<'a> {
    socket: &'a Path,
    container: &'a str,
}

impl Engine<'_> {
    fn inspect(&self) -> io::Result<State> {
        let (status, body) = self.call("GET", "json")?;
        match status {
            200 => {
                let inspected: Inspected = serde_json::from_slice(&body)?;
                Ok(inspected.state)
            }
            _ => Err(self.refused("inspect", status, &body)),
        }
    }

    fn post(&self, what: &str) -> io::Result<()> {
        match self.call("POST", what)? {
            // 304: it is so already; 409: it died by itself in between.
            (200..300 | 304 | 409, _) => Ok(()),
            (status, body) => Err(self.refused(what, status, &body)),
        }
    }

    fn is_gone_by(&self, deadline: Instant) -> io::Result<bool> {
        while self.inspect()?.running {
            if Instant::now() > deadline {
                return Ok(false);
            }
            std::thread::sleep(LOOK);
        }
        Ok(true)
    }

    fn call(&self, method: &str, what: &str) -> io::Result<(u16, Vec<u8>)> {
        let mut stream = UnixStream::connect(self.socket)?;
        let timeout = Some(Duration::from_millis(KILL_MS));
        stream.set_read_timeout(timeout)?;
        stream.set_write_timeout(timeout)?;
        let container = self.container;
        write!(stream, "{method} /containers/{container}/{what} HTTP/1.0\r\nHost: docker\r\n\r\n")?;
        let mut answer = vec![];
        stream.take(limits::DOCKER_ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        parse(&answer).ok_or_else(|| io::Error::other("not an answer of a Docker Engine"))
    }

    fn refused(&self, what: &str, status: u16, body: &[u8]) -> io::Error {
        let said = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
        io::Error::other(format!("docker {what} {}: {status}: {}", self.container, said.trim()))
    }
}

/// The status and the body of an answer.
fn parse(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some((status, answer[end + 4..].to_vec()))
}

/// Time at which the machine was started, by the clock that it has now. (`btime` of /proc/stat is too coarse.)
fn machine_started_ms() -> io::Result<u64> {
    let uptime = std::fs::read_to_string("/proc/uptime")?;
    let seconds: Option<f64> = uptime.split(' ').next().and_then(|first| first.parse().ok());
    let uptime_ms = seconds.ok_or_else(|| io::Error::other("/proc/uptime has no uptime"))? * 1000.0;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok((now.as_millis() as u64).saturating_sub(uptime_ms as u64))
}

/// Of `2024-05-01T12:34:56.789Z`: milliseconds since 1970.
fn unix_ms(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let ms: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    // Years that begin in March: the leap day is the last of one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(unix_ms("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(unix_ms("2000-02-29T23:59:59.5Z"), Some(951_868_799_500));
        assert_eq!(unix_ms("2024-03-01T00:00:00.123456789Z"), Some(1_709_251_200_123));
        // What a container that never ran says.
        assert_eq!(unix_ms("0001-01-01T00:00:00Z"), None);
        assert_eq!(unix_ms("yesterday"), None);
    }

    #[test]
    fn answers_are_divided_into_status_and_body() {
        let answer = b"HTTP/1.0 404 Not Detection\r\nServer: Docker\r\n\r\n{}";
        assert_eq!(parse(answer), Some((404, b"{}".to_vec())));
        assert_eq!(parse(b"SSH-2.0"), None);
    }

    #[test]
    fn only_the_incarnation_that_fell_silent_is_the_dead_one() {
        let started_at = "1970-01-01T00:01:40Z".to_string();
        let state = State { running: true, paused: false, started_at };
        // The machine was started at second 10: a process of tick 9000 was born at second 100.
        let born = |started| Some(Process { pid: 1, started });
        assert_eq!(state.host(born(9000), 10_000), Host::Running(born(9000).unwrap()));
        assert_ne!(state.host(born(8000), 10_000), Host::Running(born(8000).unwrap()));
        assert_eq!(
            decide(state.host(born(9010), 10_000), born(9010)),
            Decision::Replace(born(9010).unwrap())
        );
        assert_eq!(decide(state.host(born(8000), 10_000), born(8000)), Decision::LeaveAlone);
        assert_eq!(decide(state.host(None, 10_000), None), Decision::LeaveAlone);
        let paused = State { paused: true, ..state };
        assert!(matches!(paused.host(None, 10_000), Host::Frozen(_)));
    }
}
