//! Pass: SQL that DataFusion would read otherwise than everybody else, written so that it does not.
//!
//! Statement in, statement out, before anything is planned. One rewrite a file:
//!
//! - [`distinct`]: `a IS DISTINCT FROM b AND c`;
//! - [`from_first`]: `FROM t` alone;
//! - [`aliases`]: `t POSITIONAL JOIN u`, which is no alias;
//! - [`functions`]: calls that are refused;
//! - [`windows`]: `OVER (w ORDER BY x)`, which is based on `w`;
//! - [`frames`]: `ROWS k PRECEDING`, which are refused;
//! - [`bare_joins`]: `JOIN` without ON or USING;
//! - [`positions`]: `ROLLUP (1)`, `DISTINCT ON (1)`;
//! - [`fetch`]: `FETCH FIRST n ROWS ONLY`, which is LIMIT;
//! - [`counted_rows`], `count(t.*)`;
//! - [`lengths`]: `CAST(s AS VARCHAR(3))`;
//! - [`rows_in`]: `(a, b) IN (SELECT x, y ...)`;
//! - [`using`]: `JOIN ... USING` and `NATURAL JOIN`;
//! - [`casts`]: `sum(x), sum(CAST(x AS DOUBLE))`;
//! - [`recursion`], [`recursive_totals`]: recursive queries whose types change on the way, or that aggregate their own rows, which
//!   are refused;
//! - [`one_group`]: `GROUP BY ()`;
//! - [`any_array`]: `x = ANY(array)`;
//! - [`modulo`]: `mod(a, b)`;
//! - [`rows`]: `(a, b) = (c, d)`;
//! - [`zones`]: TIMESTAMP WITH TIME ZONE.

mod aliases;
mod any_array;
mod bare_joins;
mod casts;
mod columns;
mod counted_rows;
mod distinct;
mod fetch;
mod frames;
mod from_first;
mod functions;
mod lengths;
mod modulo;
mod one_group;
mod positions;
mod recursion;
mod recursive_totals;
mod relations;
mod rows;
mod rows_in;
mod using;
mod windows;
mod zones;

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
    Ident, ObjectName, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::error::{Error, Place};
use crate::spec::QuerySpec;

/// Rewrites of syntax that would be read otherwise than it is written.
pub fn reading(query: &QuerySpec, statement: &mut Statement) -> Result<(), Error> {
    let Statement::Statement(statement) = statement else { return Ok(()) };
    let statement: &mut ast::Statement = statement;
    let refused = |refusal: Refusal| refusal.of(query);
    distinct::rewrite(statement);
    from_first::rewrite(statement);
    fetch::rewrite(statement);
    rows_in::rewrite(statement);
    rows_in::check(statement).map_err(refused)?;
    aliases::check(statement).map_err(refused)?;
    bare_joins::check(statement).map_err(refused)?;
    positions::rewrite(statement).map_err(refused)?;
    functions::check(statement).map_err(refused)?;
    counted_rows::rewrite(statement).map_err(refused)?;
    windows::rewrite(statement).map_err(refused)?;
    frames::check(statement).map_err(refused)
}

/// Rewrites of what would be computed otherwise than it is written, once the names of the answer's columns are known.
pub fn computing(statement: &mut Statement) {
    let Statement::Statement(statement) = statement else { return };
    let _: ControlFlow<()> = statement.as_mut().visit(&mut Computing);
}

struct Computing;

impl VisitorMut for Computing {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut ast::Expr) -> ControlFlow<()> {
        any_array::rewrite(expression);
        modulo::rewrite(expression);
        rows::rewrite(expression);
        lengths::rewrite(expression);
        zones::rewrite(expression);
        ControlFlow::Continue(())
    }
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

/// Rewrites that need to know which calls are aggregates, once all names are exact.
pub fn aggregates(state: &SessionState, statement: &mut Statement) {
    let Statement::Statement(statement) = statement else { return };
    one_group::rewrite(state, statement);
    casts::rewrite(state, statement);
}

/// Recursive queries, once all is written as it will be planned.
pub async fn recursions(
    query: &QuerySpec,
    state: &SessionState,
    statement: &Statement,
) -> Result<(), Error> {
    let Statement::Statement(statement) = statement else { return Ok(()) };
    recursive_totals::check(state, statement).map_err(|refusal| refusal.of(query))?;
    let ast::Statement::Query(outer) = statement.as_ref() else { return Ok(()) };
    recursion::check(state, outer).await.map_err(|refusal| refusal.of(query))
}

/// A call of a function.
fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let argument = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.into_iter().map(argument).collect(),
            clauses: vec![],
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// Reason why a rewrite gives up, before it is known whose query it is.
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
