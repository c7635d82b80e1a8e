//! Errors as the person at the terminal sees them, and their exit codes.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use caudal::{Code, Coded, Failure, Kind, codes};

use crate::plain_text::plain;

/// A command that did not do what it was asked to.
#[derive(Debug)]
pub struct Failed {
    exit: Exit,
    /// All that went wrong. The last is the process's own, and decides how it exits.
    failures: Vec<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The reader of our output has read enough.
    Success,
    QueryFailed,
    Usage,
    Interrupted,
}

impl Exit {
    fn of(code: Code) -> Self {
        match code.kind() {
            Kind::Usage | Kind::Connection => Exit::Usage,
            Kind::Query => Exit::QueryFailed,
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::QueryFailed => 1,
            Exit::Usage => 2,
            Exit::Interrupted => 130,
        }
    }
}

impl Failed {
    pub fn new(code: Code, message: impl ToString) -> Self {
        Self::all(vec![Failure::new(code, message)])
    }

    pub fn all(mut failures: Vec<Failure>) -> Self {
        if failures.is_empty() {
            failures.push(Failure::new(codes::INVALID_QUERY, "no query can be answered"));
        }
        let exit = failures.last().map_or(Exit::QueryFailed, |own| Exit::of(own.code));
        Self { exit, failures }
    }

    pub fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, failures: vec![] }
    }

    /// Queries failed, and each was told when it did.
    pub fn told_already() -> Self {
        Self { exit: Exit::QueryFailed, failures: vec![] }
    }

    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        if let Some(own) = self.failures.last_mut() {
            own.hint = hint.into();
        }
        self
    }

    /// Says it on stderr, in the form `error[CODE]: message`, then where, then what to do.
    pub fn tell(&self) {
        let mut out = io::stderr().lock();
        // There is nobody to tell when stderr is closed.
        let _ = match self.exit {
            Exit::Interrupted => writeln!(out, "interrupted"),
            _ => self.failures.iter().try_for_each(|failure| write(&mut out, failure)),
        };
    }

    /// How a process that ends by it exits.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit.code())
    }
}

impl From<caudal::Error> for Failed {
    fn from(error: caudal::Error) -> Self {
        Self::all(error.failures())
    }
}

/// Writing to stdout or to a result's file.
impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // `caudal ... | head` is not an error.
            io::ErrorKind::BrokenPipe => Self { exit: Exit::Success, failures: vec![] },
            _ => Self::new(codes::OUTPUT_UNWRITABLE, format!("cannot write: {error}")),
        }
    }
}

/// Any error of Caudal's crates, told as what it is.
pub trait Told<T> {
    fn told(self) -> Result<T, Failed>;
}

impl<T, E: Coded> Told<T> for Result<T, E> {
    fn told(self) -> Result<T, Failed> {
        self.map_err(|error| Failed::all(error.failures()))
    }
}

fn write(out: &mut impl Write, failure: &Failure) -> io::Result<()> {
    let (red, bold, off) =
        if colors() { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
    let Failure { code, message, hint, excerpt } = failure;
    // What they quote may be from anywhere.
    writeln!(out, "{red}error[{code}]{off}: {}", plain(message))?;
    if let Some(excerpt) = excerpt {
        writeln!(out, "{}", plain(excerpt))?;
    }
    if let Some(hint) = hint {
        writeln!(out, "{bold}hint{off}: {}", plain(hint))?;
    }
    Ok(())
}

/// Whether stderr may be coloured.
pub fn colors() -> bool {
    io::stderr().is_terminal() && !no_color()
}

/// Whether whoever runs us wants no colours.
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
