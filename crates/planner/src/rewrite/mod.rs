//! Pass: SQL that DataFusion would read otherwise than everybody else, written so that it does not.
//!
//! Statement in, statement out, before anything is planned. One rewrite a file:
//!
//! - [`distinct`]: `a IS DISTINCT FROM b AND c`;
//! - [`from_first`]: `FROM t` alone;
//! - [`aliases`]: `t POSITIONAL JOIN u`, which is no alias;
//! - [`functions`]: calls that are refused;
//! - [`windows`]: `OVER (w ORDER BY x)`, which is based on `w`;
//! - [`using`]: `JOIN ... USING` and `NATURAL JOIN`.

mod aliases;
mod columns;
mod distinct;
mod from_first;
mod functions;
mod relations;
mod using;
mod windows;

use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Ident};
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::error::{Error, Place};
use crate::spec::QuerySpec;

/// What would be read otherwise than it is written.
pub fn reading(query: &QuerySpec, statement: &mut Statement) -> Result<(), Error> {
    let Statement::Statement(statement) = statement else { return Ok(()) };
    let statement: &mut ast::Statement = statement;
    let refused = |refusal: Refusal| refusal.of(query);
    distinct::rewrite(statement);
    from_first::rewrite(statement);
    aliases::check(statement).map_err(refused)?;
    functions::check(statement).map_err(refused)?;
    windows::rewrite(statement).map_err(refused)
}

/// Joins by the names of columns, once all names are exact.
pub async fn joins(
    query: &QuerySpec,
    state: &SessionState,
    statement: &mut Statement,
) -> Result<(), Error> {
    let Statement::Statement(statement) = statement else { return Ok(()) };
    let statement: &mut ast::Statement = statement;
    let relations = relations::plan(state, statement).await;
    using::rewrite(statement, relations).map_err(|refusal| refusal.of(query))
}

/// Why a rewrite gives up, before it is known whose query it is.
#[derive(Debug)]
struct Refusal {
    message: String,
    hint: Option<String>,
    at: Option<Location>,
}

impl Refusal {
    fn new(message: impl Into<String>, at: Option<&Ident>) -> Self {
        let at = at.map(|ident| ident.span.start).filter(|start| start.line > 0);
        Self { message: message.into(), hint: None, at }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    fn of(self, query: &QuerySpec) -> Error {
        let at = self.at.and_then(|at| Place::in_sql(&query.sql, at.line, at.column));
        let query = query.name.clone();
        Error::Refused { query, message: self.message, hint: self.hint, at }
    }
}
