//! Editing of a line: when it is whole, how it goes on, how it looks.

use std::borrow::Cow;

use caudal::sql::Script;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use crate::shell::command::is_command;
use crate::shell::complete::{Candidates, Vocabulary};
use crate::shell::highlight::colored;

/// What the editor asks while somebody types.
#[derive(Default)]
pub struct Editing {
    pub vocabulary: Vocabulary,
    pub has_colors: bool,
}

impl Helper for Editing {}

impl Hinter for Editing {
    type Hint = String;
}

/// A statement goes over lines until its semicolon.
impl Validator for Editing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_whole(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

fn is_whole(text: &str) -> bool {
    let mut script = Script::new();
    for line in text.lines() {
        match !script.is_begun() && is_command(line) {
            true => script.skip_line(),
            false => drop(script.line(line)),
        }
    }
    !script.is_begun()
}

impl Completer for Editing {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let Candidates { start, all } = self.vocabulary.candidates(line, at);
        let pair = |candidate: String| Pair { display: candidate.clone(), replacement: candidate };
        Ok((start, all.into_iter().map(pair).collect()))
    }
}

impl Highlighter for Editing {
    fn highlight<'l>(&self, line: &'l str, _at: usize) -> Cow<'l, str> {
        if self.has_colors { colored(line) } else { Cow::Borrowed(line) }
    }

    fn highlight_char(&self, _line: &str, _at: usize, kind: CmdKind) -> bool {
        self.has_colors && kind != CmdKind::MoveCursor
    }
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn what_is_whole_is_run() {
        for whole in [
            "",
            "  ",
            "SELECT 1;",
            "SELECT\n1\n;",
            ".help",
            "-- only this",
            "exit",
            "SELECT ';';",
            ".mode csv\nSELECT 1;",
        ] {
            assert!(is_whole(whole), "{whole}");
        }
        for begun in ["SELECT 1", "SELECT ';", "SELECT 1; SELECT", "SELECT\n.help", "/* SELECT 1;"]
        {
            assert!(!is_whole(begun), "{begun}");
        }
    }
}
