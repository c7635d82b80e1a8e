//! The planner's end of the pipe: `caudal planner`, which plans for a gateway and for nobody else.
//!
//! It is there to die instead of the gateway. One thread reads, another plans: when the gateway is gone, however it
//! went, the reader meets the end of its input, and the process ends in the middle of whatever it plans.

use std::any::Any;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use caudal_core::{Failure, QueryId, codes, limits};
use caudal_planner::{SessionSpec, plan_telling};
use caudal_protocol::manifest::Manifest;
use caudal_protocol::outline::Outline;
use caudal_runtime::failpoint::hit;
use tokio::runtime::Runtime;

use super::error::Error;
use super::pipe::{self, Said};

/// Plans what comes in, one session after the other, until there is nothing more.
pub fn run(mut input: impl Read, output: impl Write + Send + 'static) -> io::Result<()> {
    let (requests, received) = mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut planner = Planner { output, runtime };
    thread::Builder::new()
        .name("planner".to_string())
        .stack_size(limits::PLANNING_STACK_BYTES)
        .spawn(move || planner.answer_all(&received))?;
    while let Some(request) = pipe::read(&mut input, limits::PLANNER_REQUEST_BYTES_MAX)? {
        // The thread that plans ends when it cannot answer: nobody is there to read it.
        if requests.send(request).is_err() {
            break;
        }
    }
    Ok(())
}

struct Planner<W> {
    output: W,
    runtime: Runtime,
}

impl<W: Write> Planner<W> {
    fn answer_all(&mut self, requests: &Receiver<Vec<u8>>) -> io::Result<()> {
        for request in requests {
            self.say(&Said::Begins(None))?;
            let manifest = serde_json::from_slice(&request)?;
            let answer = self.answer(&manifest);
            self.say(&answer)?;
        }
        Ok(())
    }

    /// Final message about a session.
    fn answer(&mut self, manifest: &Manifest) -> Said {
        let mut begun = None;
        let planning = AssertUnwindSafe(|| self.plan(manifest, &mut begun));
        match catch_unwind(planning) {
            Ok(Ok(outline)) => Said::Planned(outline),
            Ok(Err(Error::Refused(refusals))) => Said::Refused(refusals),
            Ok(Err(error)) => Said::Failed(Failure::of(&error)),
            Err(panic) => Said::Failed(Failure::of(&Error::Died {
                what: what(manifest, begun),
                how: format!("met what should be impossible: {}", text_of(panic.as_ref())),
            })),
        }
    }

    fn plan(&mut self, manifest: &Manifest, begun: &mut Option<QueryId>) -> Result<Outline, Error> {
        let spec = SessionSpec::try_from(manifest)?;
        let output = &mut self.output;
        let begins = |query| {
            *begun = Some(query);
            // If nobody reads it, nobody reads the answer either, and that ends the process.
            let _ = say(output, &Said::Begins(Some(query)));
            hit("planner.begins");
        };
        Ok(self.runtime.block_on(plan_telling(&spec, begins))?.outline())
    }

    fn say(&mut self, said: &Said) -> io::Result<()> {
        say(&mut self.output, said)
    }
}

fn say(output: &mut impl Write, said: &Said) -> io::Result<()> {
    let bytes_max = limits::PLANNER_REPLY_BYTES_MAX;
    let too_long = || {
        let message = format!("the answers' columns take more than {bytes_max} bytes to describe");
        let failure = Failure::new(codes::PLANNING_TOO_LARGE, message);
        pipe::frame(&Said::Failed(failure), bytes_max).unwrap_or_default()
    };
    output.write_all(&pipe::frame(said, bytes_max).unwrap_or_else(too_long))?;
    output.flush()
}

/// Name of what was being planned, for an error.
pub fn what(manifest: &Manifest, begun: Option<QueryId>) -> String {
    let query = begun.and_then(|query| manifest.queries.get(query.index()));
    query.map_or_else(|| "the session".to_string(), |query| query.name.clone())
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use caudal_core::SessionId;
    use caudal_protocol::manifest::{QuerySpec, TableEntry};

    use super::*;

    fn manifest(queries: &[&str]) -> Manifest {
        let query = |(number, sql): (usize, &&str)| QuerySpec {
            name: format!("q{number}"),
            sql: sql.to_string(),
            params: vec![],
        };
        Manifest {
            session: SessionId("s".into()),
            tables: vec![],
            queries: queries.iter().enumerate().map(query).collect(),
            shards: 2,
            started_ms: 0,
            version: String::new(),
            fingerprint: String::new(),
            owner: String::new(),
        }
    }

    /// All that a planner says of these sessions.
    fn said(sessions: &[Manifest]) -> Vec<Said> {
        let requests = sessions.iter().map(|session| pipe::frame(session, 1 << 20).unwrap());
        let requests = requests.collect::<Vec<_>>().concat();
        let (mut reader, writer) = io::pipe().unwrap();
        run(requests.as_slice(), writer).unwrap();
        let frames = std::iter::from_fn(|| pipe::read(&mut reader, 1 << 20).unwrap());
        frames.map(|frame| serde_json::from_slice(&frame).unwrap()).collect()
    }

    #[test]
    fn it_says_what_it_begins_and_what_came_of_it() {
        let good = manifest(&["SELECT 1 AS one", "SELECT nothing", "SELECT 2 AS two"]);
        let [
            Said::Begins(None),
            Said::Begins(Some(QueryId(0))),
            Said::Begins(Some(QueryId(1))),
            Said::Begins(Some(QueryId(2))),
            Said::Planned(outline),
            Said::Begins(None),
            Said::Begins(Some(QueryId(0))),
            Said::Refused(refusals),
        ] = &said(&[good, manifest(&["SELEC"])])[..]
        else {
            panic!("it says something else");
        };
        let refused = outline.queries.iter().map(|query| query.refused.as_ref());
        let codes: Vec<_> = refused.map(|refused| refused.map(|failure| failure.code)).collect();
        assert_eq!(codes, [None, Some(codes::UNKNOWN_COLUMN), None]);
        assert_eq!(outline.queries[2].schema.field(0).name(), "two");
        assert_eq!((outline.shards, outline.fingerprint.len()), (2, 32));
        assert_eq!(refusals[0].code, codes::SYNTAX);
        assert!(refusals[0].excerpt.is_some());
    }

    #[test]
    fn a_session_that_is_none_is_told_as_such() {
        let mut manifest = manifest(&["SELECT 1"]);
        manifest.tables = vec![TableEntry { name: "t".into(), schema: "none".into() }];
        let [Said::Begins(None), Said::Failed(failure)] = &said(&[manifest])[..] else {
            panic!("it says something else");
        };
        assert_eq!(failure.code, codes::BAD_SCHEMA);
    }

    /// Output that panics when the second query is begun, in the middle of planning.
    struct Panics(usize);

    impl Write for Panics {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            assert!(self.0 < 2, "too much was said");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_an_error_of_its_query() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut planner = Planner { output: Panics(0), runtime };
        let Said::Failed(failure) = planner.answer(&manifest(&["SELECT 1", "SELECT 2"])) else {
            panic!("it says something else");
        };
        assert_eq!(failure.code, codes::PLANNER_FAILED);
        let message = "q1: its planner met what should be impossible: too much was said";
        assert_eq!(failure.message, message);
    }
}
