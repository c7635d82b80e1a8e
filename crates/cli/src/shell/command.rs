//! Commands of the shell: lines that begin with a point.

use caudal::codes;
use caudal_core::error::nearest;

use crate::error::Failed;

/// A command, with what was said after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    Help,
    Tables,
    Schema(Option<&'a str>),
    Explain(Option<&'a str>),
    Mode(Option<&'a str>),
    Timer(Option<&'a str>),
    Open(Option<&'a str>),
    Read(&'a str),
    Param(Option<&'a str>),
    Table(&'a str),
    Forget(&'a str),
    Quit,
}

/// A command as it is described and completed.
pub struct Known {
    pub name: &'static str,
    pub takes: &'static str,
    does: &'static str,
}

const fn known(name: &'static str, takes: &'static str, does: &'static str) -> Known {
    Known { name, takes, does }
}

/// All of them, in the order in which `.help` lists them.
pub const KNOWN: &[Known] = &[
    known(".tables", "", "the tables that can be asked"),
    known(".table", "NAME=FILES{OPTIONS}", "makes a table of files, or of other files than before"),
    known(".schema", "[TABLE|'FILES']", "columns and types, of a table or of all"),
    known(".forget", "NAME", "takes a table or a parameter away"),
    known(".param", "[NAME=VALUE]", "gives $NAME a value; alone, says which have one"),
    known(".explain", "[SQL]", "the stages of a query; alone, of the last one"),
    known(".mode", "[MODE]", "how answers are written: table, csv, json, ndjson, markdown"),
    known(".timer", "[on|off]", "whether the time that each takes is told"),
    known(".open", "[HOST:PORT,...]", "answers on a cluster; alone, in this process again"),
    known(".read", "FILE", "reads statements and commands from a file"),
    known(".help", "", "this"),
    known(".quit", "", "ends the shell; so does Ctrl-D"),
];

/// What `.help` says.
pub fn help() -> String {
    let mut text =
        "SQL ends with a semicolon. A file in single quotes is a table: FROM 'games.csv'\n\n"
            .to_string();
    for Known { name, takes, does } in KNOWN {
        text += &format!("  {:28}  {does}\n", format!("{name} {takes}"));
    }
    text
}

/// Whether a line is one, given that no statement is begun.
pub fn is_command(line: &str) -> bool {
    line.trim_start().starts_with('.') || bare(line).is_some()
}

/// Commands that people type without a point.
fn bare(line: &str) -> Option<Command<'static>> {
    match line.trim().trim_end_matches(';').trim_end().to_ascii_lowercase().as_str() {
        "quit" | "exit" => Some(Command::Quit),
        "help" => Some(Command::Help),
        _ => None,
    }
}

impl<'a> Command<'a> {
    /// The command of a line that is one.
    pub fn parse(line: &'a str) -> Result<Self, Failed> {
        if let Some(command) = bare(line) {
            return Ok(command);
        }
        let line = line.trim();
        let (name, said) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let said = said.trim();
        let some = Some(said).filter(|said| !said.is_empty());
        let needed = || some.ok_or_else(|| lacks(name));
        let nothing = |command| match some {
            None => Ok(command),
            Some(_) => Err(bad(name, format!("it takes nothing, and was given {said:?}"))),
        };
        match name {
            ".help" => nothing(Self::Help),
            ".tables" => nothing(Self::Tables),
            ".schema" => Ok(Self::Schema(some)),
            ".explain" => Ok(Self::Explain(some)),
            ".mode" => Ok(Self::Mode(some)),
            ".timer" => Ok(Self::Timer(some)),
            ".open" => Ok(Self::Open(some)),
            ".read" => Ok(Self::Read(unquoted(needed()?))),
            ".param" => Ok(Self::Param(some)),
            ".table" => Ok(Self::Table(needed()?)),
            ".forget" => Ok(Self::Forget(needed()?)),
            ".quit" | ".exit" => nothing(Self::Quit),
            _ => Err(unknown(name)),
        }
    }
}

/// What is within single quotes, if it is.
pub fn unquoted(text: &str) -> &str {
    text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text)
}

fn unknown(name: &str) -> Failed {
    let near = nearest(name, KNOWN.iter().map(|known| known.name));
    let hint = near.map(|near| format!("did you mean {near}?"));
    Failed::new(codes::NO_SUCH_SHELL_COMMAND, format!("there is no command {name}"))
        .hint(hint.unwrap_or_else(|| ".help lists them".to_string()))
}

fn lacks(name: &str) -> Failed {
    let takes = KNOWN.iter().find(|known| known.name == name).map_or("", |known| known.takes);
    bad(name, "it needs to be told something").hint(format!("{name} {takes}"))
}

/// A command that was given what it does not take.
pub fn bad(name: &str, what: impl AsRef<str>) -> Failed {
    Failed::new(codes::BAD_SHELL_COMMAND, format!("{name}: {}", what.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        for (line, command) in [
            (".help", Command::Help),
            ("  .tables  ", Command::Tables),
            (".schema", Command::Schema(None)),
            (".schema  games ", Command::Schema(Some("games"))),
            (".explain SELECT 1;", Command::Explain(Some("SELECT 1;"))),
            (".mode\tcsv", Command::Mode(Some("csv"))),
            (".open", Command::Open(None)),
            (".open a:1,b:2", Command::Open(Some("a:1,b:2"))),
            (".read 'my file.sql'", Command::Read("my file.sql")),
            (".table t=t.csv{delimiter=\"; \"}", Command::Table("t=t.csv{delimiter=\"; \"}")),
            (".param a = b c", Command::Param(Some("a = b c"))),
            (".quit", Command::Quit),
            ("Exit;", Command::Quit),
            ("help", Command::Help),
        ] {
            assert!(is_command(line), "{line}");
            assert_eq!(Command::parse(line).unwrap(), command, "{line}");
        }
        for line in ["SELECT .5", "", "exit 1", "quit_at", "-- .help"] {
            assert!(!is_command(line), "{line}");
        }
    }

    #[test]
    fn what_is_no_command_is_told() {
        for line in [".", ".tabels", ".table", ".read", ".quit now", ".help me", ".5"] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn all_that_are_known_are_read() {
        for Known { name, takes, .. } in KNOWN {
            assert!(Command::parse(&format!("{name} {takes}")).is_ok(), "{name}");
            assert!(help().contains(name));
        }
    }
}
