//! Turns DataFusion's errors into ours, with the place in the SQL and the name that was meant.

use std::ops::ControlFlow;

use caudal_core::error::nearest;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Spanned, visit_expressions};
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::error::{Error, Place};
use crate::spec::{QuerySpec, SessionSpec};

pub struct Diagnose<'a> {
    pub spec: &'a SessionSpec,
    pub query: &'a QuerySpec,
    pub state: &'a SessionState,
}

impl Diagnose<'_> {
    pub fn syntax(&self, error: DataFusionError) -> Error {
        let (message, line, column) = match error.find_root() {
            DataFusionError::SQL(parser, _) => match parser.as_ref() {
                ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
                    split_location(text)
                }
                ParserError::RecursionLimitExceeded => {
                    ("it is nested too deeply".to_string(), 1, 1)
                }
            },
            // The two things that can be wrong with a text whose statements all parse.
            DataFusionError::NotImplemented(_) => ("one SELECT at a time".to_string(), 1, 1),
            _ => ("there is no SQL".to_string(), 1, 1),
        };
        let at = Place::in_sql(&self.query.sql, line, column).or_else(|| self.end());
        Error::Syntax { query: self.name(), message, at }
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
        Place::in_sql(sql, sql.lines().count() as u64, last.chars().count() as u64 + 1)
    }

    /// Refuses tables that are not there, by name.
    pub fn tables(&self, statement: &Statement) -> Result<(), Error> {
        let references = self
            .state
            .resolve_table_references(statement)
            .map_err(|error| self.planning(error, statement))?;
        let known = || self.spec.tables.iter().map(|table| table.name.as_str());
        let functions = self.state.table_functions();
        for reference in references {
            let name = reference.table();
            let known_here = reference.schema().is_none() && known().any(|table| table == name);
            if !known_here && !functions.contains_key(name) {
                return Err(Error::UnknownTable {
                    query: self.name(),
                    name: reference.to_string(),
                    nearest: nearest(name, known()).map(str::to_string),
                    known: known().map(str::to_string).collect(),
                });
            }
        }
        Ok(())
    }

    pub fn planning(&self, error: DataFusionError, statement: &Statement) -> Error {
        let at =
            span_of(&error).and_then(|(line, column)| Place::in_sql(&self.query.sql, line, column));
        if let DataFusionError::SchemaError(schema, _) = error.find_root()
            && let SchemaError::FieldNotFound { field, valid_fields } = schema.as_ref()
        {
            return self.unknown_column(field, valid_fields, at);
        }
        if let Some(unknown) = self.unknown_function(statement) {
            return unknown;
        }
        Error::Invalid { query: self.name(), source: Box::new(error), at }
    }

    fn unknown_column(&self, field: &Column, valid: &[Column], at: Option<Place>) -> Error {
        let names = valid.iter().map(|column| column.name());
        Error::UnknownColumn {
            query: self.name(),
            name: field.flat_name(),
            nearest: nearest(field.name(), names).map(str::to_string),
            at: at.or_else(|| {
                let span = field.spans.first()?;
                Place::in_sql(&self.query.sql, span.start.line, span.start.column)
            }),
        }
    }

    /// The first call of a function nobody knows. Looked for only when planning has failed: some
    /// calls are syntax, and DataFusion knows those best.
    fn unknown_function(&self, statement: &Statement) -> Option<Error> {
        let Statement::Statement(statement) = statement else { return None };
        let found = visit_expressions(statement.as_ref(), |expression| match expression {
            ast::Expr::Function(call) if !self.knows(&name_of(call)) => {
                ControlFlow::Break((name_of(call), call.name.span().start))
            }
            _ => ControlFlow::Continue(()),
        });
        let ControlFlow::Break((name, start)) = found else { return None };
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

    fn name(&self) -> String {
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
fn split_location(message: &str) -> (String, u64, u64) {
    let parsed = message.rsplit_once(" at Line: ").and_then(|(what, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        Some((what.to_string(), line.trim().parse().ok()?, column.trim().parse().ok()?))
    });
    parsed.unwrap_or_else(|| (message.to_string(), 0, 0))
}
