//! Scripts: statements and commands from standard input or a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use caudal::codes;
use caudal::sql::Script;
use caudal_core::limits;

use crate::Done;
use crate::error::Failed;
use crate::shell::command::bad;
use crate::shell::session::{Next, Session};

/// All of standard input. Fails if something in it did.
pub fn run(mut session: Session) -> Done {
    let next = read(&mut session, io::stdin().lock(), "standard input")?;
    match next {
        Next::Drop => Err(Failed::interrupted()),
        Next::Line | Next::End if session.has_failed() => Err(Failed::told_already()),
        Next::Line | Next::End => Ok(()),
    }
}

/// All of a file, in the middle of something else.
pub fn read_file(session: &mut Session, file: &Path) -> Result<Next, Failed> {
    if session.depth == limits::SCRIPT_LEVELS_MAX {
        return Err(bad(".read", format!("{} scripts read one another", session.depth)));
    }
    let name = file.display().to_string();
    let opened = File::open(file).map_err(|error| unreadable(&name, &error))?;
    session.depth += 1;
    let next = read(session, BufReader::new(opened), &name);
    session.depth -= 1;
    next
}

fn read(session: &mut Session, mut from: impl BufRead, name: &str) -> Result<Next, Failed> {
    let mut script = Script::new();
    let mut line = vec![];
    loop {
        line.clear();
        let room = limits::SQL_BYTES_MAX as u64 + 1;
        let read = from.by_ref().take(room).read_until(b'\n', &mut line);
        if read.map_err(|error| unreadable(name, &error))? == 0 {
            break;
        }
        let text = std::str::from_utf8(&line).map_err(|_| {
            let at = script.line_count() + 1;
            unreadable(name, &format!("line {at} is not UTF-8"))
        });
        let next = session.line(&mut script, text?.trim_end_matches(['\n', '\r']), Some(name));
        if next != Next::Line {
            return Ok(next);
        }
        if line.len().max(script.begun_bytes()) > limits::SQL_BYTES_MAX {
            let message = format!(
                "a statement of more than {} bytes ends at line {} of {name}, and nothing after it was read",
                limits::SQL_BYTES_MAX,
                script.line_count()
            );
            return Err(Failed::new(codes::TOO_MANY, message));
        }
    }
    match script.finish() {
        Some(last) => Ok(session.statement(last, Some(name))),
        None => Ok(Next::Line),
    }
}

fn unreadable(name: &str, error: &impl ToString) -> Failed {
    Failed::new(codes::QUERY_TEXT_UNREADABLE, format!("cannot read {name}: {}", error.to_string()))
}
