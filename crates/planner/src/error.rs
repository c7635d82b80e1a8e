//! Reasons why a session cannot be planned: what is wrong, in which query, where in it, and what to do.

use std::sync::Arc;

use caudal_core::{Code, Coded, Failure, codes, limits};
use caudal_functions::bounded::TooLarge;
use datafusion::error::DataFusionError;
use thiserror::Error;

use crate::mistakes::plain;

#[derive(Debug, Error)]
pub enum Error {
    #[error("{query}: {message}")]
    Syntax { query: String, message: String, at: Option<Place> },
    #[error("{query}: there is no table {name:?}")]
    UnknownTable {
        query: String,
        name: String,
        nearest: Option<String>,
        known: Vec<String>,
        /// Whether it is the CTE that it is used in.
        is_itself: bool,
        at: Option<Place>,
    },
    #[error("{query}: {name} could be {}", .candidates.join(" or "))]
    Ambiguous {
        query: String,
        what: &'static str,
        name: String,
        /// As each of them would be written.
        candidates: Vec<String>,
        /// Whether they differ by nothing but case.
        by_case: bool,
        at: Option<Place>,
    },
    #[error("{query}: there is no column {name:?}")]
    UnknownColumn { query: String, name: String, hint: Option<String>, at: Option<Place> },
    #[error("{query}: there is no function {name:?}")]
    UnknownFunction { query: String, name: String, nearest: Option<String>, at: Option<Place> },
    #[error("{query}: only a SELECT can be answered, not {statement}")]
    NotSelect { query: String, statement: String },
    #[error("{query}: {function} gives another value each time it is called")]
    Volatile { query: String, function: String },
    #[error("{query}: the parameter ${name} has no value")]
    MissingParam { query: String, name: String },
    /// As [`Error::Syntax`], with what was probably meant.
    #[error("{query}: {message}")]
    Unparsed { query: String, message: String, hint: Option<String>, at: Option<Place> },
    /// It makes no sense, and we know why.
    #[error("{query}: {message}")]
    Mistake { query: String, message: String, hint: Option<String>, at: Option<Place> },
    /// It may make sense, and nobody here can answer it.
    #[error("{query}: {message}")]
    NotSupported { query: String, message: String, hint: Option<String>, at: Option<Place> },
    /// A constant that cannot be computed, as it would be of a row.
    #[error("{query}: a number does not fit into its type: {what}")]
    Overflow { query: String, what: String, at: Option<Place> },
    /// Something that makes much of little, as it would be when it is run.
    #[error("{query}: {what}")]
    TooLarge { query: String, what: TooLarge },
    #[error("{query}: {}", plain::text(source))]
    Invalid { query: String, source: Box<DataFusionError>, at: Option<Place> },
    #[error("{query} cannot be divided into stages: {}", plain::text(source))]
    Unsupported { query: String, source: Box<DataFusionError> },
    /// The query would be answered wrongly, or otherwise than by other databases.
    #[error("{query}: {message}")]
    Refused { query: String, message: String, hint: Option<String>, at: Option<Place> },
    /// Of several queries not one can be answered.
    #[error("{}", .0.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))]
    Every(Vec<Arc<Error>>),
    #[error("two tables are called {name:?}")]
    TwoTables { name: String },
    #[error("{is} {what} in one session, where {max} are the most")]
    TooMany { what: &'static str, is: usize, max: usize },
    #[error("table {table}: its schema is none: {source}")]
    BadSchema { table: String, source: caudal_protocol::ipc::Error },
    #[error("the session says it started {ms} ms after 1970, which is no time")]
    BadStart { ms: i64 },
}

/// A place in a query's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
    /// The text of that line.
    pub text: String,
}

impl Place {
    /// The place in a query's text, if there is one there.
    pub fn in_sql(sql: &str, line: u64, column: u64) -> Option<Self> {
        let (line, column) = (usize::try_from(line).ok()?, usize::try_from(column).ok()?);
        let text = sql.lines().nth(line.checked_sub(1)?)?.to_string();
        Some(Self { line, column: column.max(1), text })
    }

    /// The line with a caret under the place. Of a long line, which programs write, what is around it.
    pub fn excerpt(&self) -> String {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let most = limits::EXCERPT_LETTERS_MAX;
        let from = if self.column > most { self.column - most / 2 } else { 0 };
        let mut caret = self.column - 1 - from;
        let mut letters = self.text.chars().skip(from);
        let mut shown: String = letters.by_ref().take(most).collect();
        if letters.next().is_some() {
            shown.push('…');
        }
        if from > 0 {
            shown.insert(0, '…');
            caret += 1;
        }
        let blank = |letter| if letter == '\t' { letter } else { ' ' };
        let before: String = shown.chars().take(caret).map(blank).collect();
        format!(
            "{margin}--> line {}, column {}\n{margin} |\n{number} | {shown}\n{margin} | {before}^",
            self.line, self.column
        )
    }
}

impl Error {
    /// Failures of the queries, if no query can be answered; `None` if the session itself is at fault.
    pub fn refusals(&self) -> Option<Vec<Failure>> {
        match self {
            Error::Every(errors) => {
                Some(errors.iter().map(|error| Failure::of(error.as_ref())).collect())
            }
            Error::TwoTables { .. }
            | Error::TooMany { .. }
            | Error::BadSchema { .. }
            | Error::BadStart { .. } => None,
            one => Some(vec![Failure::of(one)]),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Error::Syntax { at, .. }
            | Error::UnknownTable { at, .. }
            | Error::Ambiguous { at, .. }
            | Error::UnknownColumn { at, .. }
            | Error::UnknownFunction { at, .. }
            | Error::Refused { at, .. }
            | Error::Unparsed { at, .. }
            | Error::Mistake { at, .. }
            | Error::NotSupported { at, .. }
            | Error::Overflow { at, .. }
            | Error::Invalid { at, .. } => at.as_ref(),
            _ => None,
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Syntax { .. } | Error::Unparsed { .. } => codes::SYNTAX,
            Error::UnknownTable { .. } => codes::UNKNOWN_TABLE,
            Error::UnknownColumn { .. } => codes::UNKNOWN_COLUMN,
            Error::UnknownFunction { .. } => codes::UNKNOWN_FUNCTION,
            Error::NotSelect { .. } => codes::NOT_A_SELECT,
            Error::Volatile { .. } => codes::VOLATILE,
            Error::MissingParam { .. } => codes::PARAMETER_MISSING,
            Error::Invalid { .. } | Error::Mistake { .. } => codes::INVALID_QUERY,
            Error::Unsupported { .. } => codes::NOT_DIVISIBLE,
            Error::NotSupported { .. } => codes::NOT_SUPPORTED,
            Error::TooMany { .. } => codes::TOO_MANY,
            Error::TwoTables { .. } => codes::TABLE_NAME_TWICE,
            Error::BadSchema { .. } => codes::BAD_SCHEMA,
            Error::BadStart { .. } => codes::BAD_START,
            Error::Refused { .. } => codes::WOULD_BE_WRONG,
            Error::Overflow { .. } => codes::OVERFLOW,
            Error::TooLarge { .. } => codes::FUNCTION_MAKES_TOO_MUCH,
            Error::Ambiguous { .. } => codes::AMBIGUOUS_NAME,
            Error::Every(errors) => {
                errors.first().map_or(codes::INVALID_QUERY, |error| error.code())
            }
        }
    }

    fn hint(&self) -> Option<String> {
        let meant =
            |nearest: &Option<String>| nearest.as_ref().map(|n| format!("did you mean {n:?}?"));
        match self {
            Error::UnknownTable { name, is_itself: true, .. } => {
                Some(format!("to use {name} within itself, write WITH RECURSIVE"))
            }
            Error::UnknownTable { name, nearest, known, .. } => {
                let file = name.contains(['.', '/']).then(|| {
                    format!("a file stands in single quotes, or gets a name with -t: FROM '{name}'")
                });
                meant(nearest).or(file).or_else(|| match known.len() {
                    0 => Some("name your files with -t table=file.csv".into()),
                    _ => Some(format!("the tables are {}", listed(known))),
                })
            }
            Error::Ambiguous { what, by_case: true, .. } => {
                Some(format!("write the {what} that you mean exactly, in double quotes"))
            }
            Error::Ambiguous { what, by_case: false, .. } => {
                Some(format!("write the {what} with the name of its table"))
            }
            Error::UnknownFunction { nearest, .. } => meant(nearest),
            Error::UnknownColumn { hint, .. }
            | Error::Unparsed { hint, .. }
            | Error::Mistake { hint, .. }
            | Error::NotSupported { hint, .. } => hint.clone(),
            Error::NotSelect { statement, .. } => Some(instead_of(statement).into()),
            Error::Volatile { .. } => Some(
                "an answer that is the same after a crash cannot depend on chance; use a column"
                    .into(),
            ),
            Error::MissingParam { name, .. } => Some(format!("give it one: --param {name}=VALUE")),
            Error::Refused { hint, .. } => hint.clone(),
            Error::TooLarge { .. } => Some(TooLarge::HINT.into()),
            Error::Overflow { .. } => Some(
                "compute in a wider type: CAST(x AS DECIMAL(38, 0)) or CAST(x AS DOUBLE)".into(),
            ),
            _ => None,
        }
    }

    fn excerpt(&self) -> Option<String> {
        self.place().map(Place::excerpt)
    }

    fn failures(&self) -> Vec<Failure> {
        self.refusals().unwrap_or_else(|| vec![Failure::of(self)])
    }
}

/// What does here what a statement does elsewhere.
fn instead_of(statement: &str) -> &'static str {
    match statement {
        "EXPLAIN" => "caudal explain -c 'SELECT ...' shows how a query is divided into stages",
        "DESCRIBE" | "DESC" | "SHOW" | "SUMMARIZE" => {
            "caudal schema FILE shows what is in a file: columns, types, how it is written"
        }
        "COPY" => "ask the SELECT; --out writes its answer to a file",
        _ => "tables come from files (-t name=file.csv); queries only read them",
    }
}

/// Names, of many only the first.
pub fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(limits::NAMES_LISTED_MAX)].join(", ");
    match names.len().saturating_sub(limits::NAMES_LISTED_MAX) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, column: usize) -> String {
        Place { line: 7, column, text: text.to_string() }.excerpt()
    }

    #[test]
    fn a_caret_stands_under_its_place() {
        assert_eq!(
            at("SELECT nmae", 8),
            " --> line 7, column 8\n  |\n7 | SELECT nmae\n  |        ^"
        );
        assert_eq!(
            at("\tSELECT x", 9),
            " --> line 7, column 9\n  |\n7 | \tSELECT x\n  | \t       ^"
        );
        assert_eq!(at("SELECT", 7), " --> line 7, column 7\n  |\n7 | SELECT\n  |       ^");
    }

    #[test]
    fn of_a_line_that_a_program_wrote_there_is_only_what_is_around() {
        let text = format!("{}ñ!{}", "é".repeat(100_000), "x".repeat(100_000));
        for (column, letter) in [(100_001, 'ñ'), (100_002, '!'), (1, 'é'), (200_002, 'x')] {
            let excerpt = at(&text, column);
            let [_, _, line, caret] = excerpt.lines().collect::<Vec<_>>()[..] else { panic!() };
            let place = caret.chars().position(|letter| letter == '^').unwrap();
            assert_eq!(line.chars().nth(place), Some(letter), "{column}");
            assert!(line.chars().count() < limits::EXCERPT_LETTERS_MAX + 10, "{column}");
        }
    }
}
