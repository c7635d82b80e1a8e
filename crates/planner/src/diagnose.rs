//! Turns DataFusion's errors into ours, with the place in the SQL and the name that was meant.

use std::ops::ControlFlow;

use caudal_core::error::nearest;
use caudal_functions::bounded::TooLarge;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Spanned};
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::columns;
use crate::error::{Error, Place};
use crate::mistakes::{self, Kind, Mistake, plain, syntax};
use crate::spec::QuerySpec;
use crate::walk::{Seen, walk};

pub struct Diagnose<'a> {
    pub query: &'a QuerySpec,
    pub state: &'a SessionState,
}

impl Diagnose<'_> {
    pub fn syntax(&self, error: DataFusionError) -> Error {
        let (message, at) = match error.find_root() {
            DataFusionError::SQL(parser, _) => match parser.as_ref() {
                ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
                    split_location(text)
                }
                ParserError::RecursionLimitExceeded => {
                    ("it is nested too deeply".to_string(), Some((1, 1)))
                }
            },
            // The two things that can be wrong with a text whose statements all parse.
            DataFusionError::NotImplemented(_) => return self.second_statement(),
            _ => ("there is no SQL".to_string(), Some((1, 1))),
        };
        let guess = syntax::guess(&self.query.sql, at);
        let at = guess.at.or(at).and_then(|(line, column)| self.place(line, column));
        Error::Unparsed {
            query: self.name(),
            message: guess.message.unwrap_or(message),
            hint: guess.hint,
            at: at.or_else(|| self.end()),
        }
    }

    fn second_statement(&self) -> Error {
        let at = syntax::second_statement_at(&self.query.sql);
        Error::Unparsed {
            query: self.name(),
            message: "there is more than one statement".to_string(),
            hint: Some("ask one SELECT at a time".to_string()),
            at: at.and_then(|(line, column)| self.place(line, column)),
        }
    }

    fn place(&self, line: u64, column: u64) -> Option<Place> {
        Place::in_sql(&self.query.sql, line, column)
    }

    pub fn too_long(&self, at: Location) -> Error {
        let message = "an integer of more than 76 digits".to_string();
        let at = Place::in_sql(&self.query.sql, at.line, at.column);
        Error::Syntax { query: self.name(), message, at }
    }

    /// The end of the text, where the parser does not say otherwise.
    fn end(&self) -> Option<Place> {
        let sql = self.query.sql.trim_end();
        let last = sql.lines().last()?;
        self.place(sql.lines().count() as u64, last.chars().count() as u64 + 1)
    }

    pub fn planning(&self, error: DataFusionError, statement: &Statement) -> Error {
        let at = span_of(&error).and_then(|(line, column)| self.place(line, column));
        if let DataFusionError::SchemaError(schema, _) = error.find_root()
            && let SchemaError::FieldNotFound { field, valid_fields } = schema.as_ref()
        {
            return columns::unknown(self, statement, field, valid_fields, at);
        }
        if let Some(unknown) = self.unknown_function(statement) {
            return unknown;
        }
        // Constants are computed here already.
        if let Some(what) = TooLarge::in_error(&error) {
            return Error::TooLarge { query: self.name(), what: what.clone() };
        }
        if let Some(what) = plain::overflow(&error) {
            return Error::Overflow { query: self.name(), what, at };
        }
        let Some(mistake) = mistakes::find(statement, self.state) else {
            return Error::Invalid { query: self.name(), source: Box::new(error), at };
        };
        let Mistake { kind, message, hint, at: found } = mistake;
        let at = found.and_then(|(line, column)| self.place(line, column)).or(at);
        match kind {
            Kind::Invalid => Error::Mistake { query: self.name(), message, hint, at },
            Kind::Unsupported => Error::NotSupported { query: self.name(), message, hint, at },
        }
    }

    /// The first call of a function nobody knows. Looked for only when planning has failed: some
    /// calls are syntax, and DataFusion knows those best.
    fn unknown_function(&self, statement: &Statement) -> Option<Error> {
        let Statement::Statement(statement) = statement else { return None };
        let mut found = None;
        walk(statement.as_ref(), &mut |seen| {
            if let Seen::Expr(ast::Expr::Function(call)) = seen
                && !self.knows(&name_of(call))
            {
                found = Some((name_of(call), call.name.span().start));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let (name, start) = found?;
        let state = self.state;
        let known = state
            .scalar_functions()
            .keys()
            .chain(state.aggregate_functions().keys())
            .chain(state.window_functions().keys());
        Some(Error::UnknownFunction {
            query: self.name(),
            nearest: nearest(&name, known.map(String::as_str)).map(str::to_string),
            at: Place::in_sql(&self.query.sql, start.line, start.column),
            name,
        })
    }

    fn knows(&self, function: &str) -> bool {
        const SYNTAX: [&str; 3] = ["unnest", "grouping", "struct"];
        SYNTAX.contains(&function)
            || self.state.scalar_functions().contains_key(function)
            || self.state.aggregate_functions().contains_key(function)
            || self.state.window_functions().contains_key(function)
    }

    pub fn name(&self) -> String {
        self.query.name.clone()
    }
}

fn name_of(call: &ast::Function) -> String {
    call.name.to_string().to_lowercase()
}

fn span_of(error: &DataFusionError) -> Option<(u64, u64)> {
    let start = error.diagnostic()?.span?.start;
    Some((start.line, start.column))
}

/// The parser says where only at the end of its message ("... at Line: 3, Column: 7"): it has no
/// field for it, so this one text is read.
fn split_location(message: &str) -> (String, Option<(u64, u64)>) {
    let parsed = message.rsplit_once(" at Line: ").and_then(|(what, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        Some((what, (line.trim().parse().ok()?, column.trim().parse().ok()?)))
    });
    let (what, at) = match parsed {
        Some((what, at)) => (what, Some(at)),
        None => (message, None),
    };
    let what = what.replace("Expected: ", "expected ").replace(", found: ", ", found ");
    (what.replace("found EOF", "found the end"), at)
}
