//! How errors reach the person at the terminal, and which exit code they are.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use caudal::{Coded, Refusal};

/// A command that did not do what it was asked to.
#[derive(Debug)]
pub struct Failed {
    exit: Exit,
    code: String,
    message: String,
    /// The place in a text, drawn.
    excerpt: Option<String>,
    hint: Option<String>,
    /// What else went wrong, told before it.
    others: Vec<Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Whoever read our output has read enough.
    Success,
    QueryFailed,
    Usage,
    Interrupted,
}

impl Exit {
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
    pub fn new(exit: Exit, code: &str, message: impl ToString) -> Self {
        let (code, message) = (code.to_string(), message.to_string());
        Self { exit, code, message, excerpt: None, hint: None, others: vec![] }
    }

    pub fn usage(code: &str, message: impl ToString) -> Self {
        Self::new(Exit::Usage, code, message)
    }

    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "", "interrupted")
    }

    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Says it on stderr, in the form `error[CODE]: message`, then where, then what to do.
    pub fn tell(&self) {
        self.others.iter().for_each(Failed::tell);
        if self.exit != Exit::Success {
            // There is nobody to tell when stderr is closed.
            let _ = self.write(&mut io::stderr().lock());
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit.code())
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (red, bold, off) =
            if colors() { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        if self.exit == Exit::Interrupted {
            return writeln!(out, "{}", self.message);
        }
        let code = if self.code.is_empty() { String::new() } else { format!("[{}]", self.code) };
        writeln!(out, "{red}error{code}{off}: {}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            writeln!(out, "{excerpt}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(out, "{bold}hint{off}: {hint}")?;
        }
        Ok(())
    }
}

/// Whether stderr may be coloured.
pub fn colors() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

impl From<Refusal> for Failed {
    fn from(Refusal { code, message, hint, excerpt }: Refusal) -> Self {
        Self { exit: Exit::QueryFailed, code, message, excerpt, hint, others: vec![] }
    }
}

/// The last of several is the process's own; those before it are told with it.
impl From<Vec<Refusal>> for Failed {
    fn from(mut refusals: Vec<Refusal>) -> Self {
        let Some(last) = refusals.pop() else {
            return Failed::new(Exit::QueryFailed, "CDL-2008", "no query can be answered");
        };
        let others = refusals.into_iter().map(Failed::from).collect();
        Failed { others, ..last.into() }
    }
}

impl From<caudal::Error> for Failed {
    fn from(error: caudal::Error) -> Self {
        let exit = if error.is_of_query() { Exit::QueryFailed } else { Exit::Usage };
        let message = match &error {
            caudal::Error::Csv(_) | caudal::Error::Suite(_) => with_source(&error),
            other => other.to_string(),
        };
        let failed = Failed::new(exit, error.code(), message).hint(error.hint());
        let excerpt = error.excerpt().map(str::to_string);
        match error {
            caudal::Error::Refused(refusals) => refusals.into(),
            _ => Failed { excerpt, ..failed },
        }
    }
}

impl From<caudal_monitor::Error> for Failed {
    fn from(error: caudal_monitor::Error) -> Self {
        Failed::usage(error.code(), &error).hint(error.hint())
    }
}

impl From<caudal_suite::Error> for Failed {
    fn from(error: caudal_suite::Error) -> Self {
        caudal::Error::from(error).into()
    }
}

impl From<caudal_suite::compare::Error> for Failed {
    fn from(error: caudal_suite::compare::Error) -> Self {
        Failed::usage(error.code(), with_source(&error)).hint(error.hint())
    }
}

impl From<caudal_generate::Error> for Failed {
    fn from(error: caudal_generate::Error) -> Self {
        Failed::usage(error.code(), with_source(&error)).hint(error.hint())
    }
}

/// Writing to stdout or to a result's file.
impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // `caudal ... | head` is not an error.
            io::ErrorKind::BrokenPipe => Failed::new(Exit::Success, "", ""),
            _ => Failed::new(Exit::Usage, "CDL-6001", format!("cannot write: {error}")),
        }
    }
}

fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
