//! Mistakes in a query that DataFusion would not plan, in plain words.
//!
//! DataFusion says it in a text of its own, about its own types and names. So the mistake is looked for here, in
//! the query itself: [`unsupported`] syntax, [`aggregates`] where there can be none, parts whose [`shapes`] do
//! not fit, and last the innermost expression that makes no sense by its [`types`]. What is not found is
//! said in DataFusion's words, as [`plain`] as they get.

mod aggregates;
pub mod plain;
mod shapes;
pub mod syntax;
mod trial;
mod types;
mod unsupported;

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Cte, Expr, Query, Select, Spanned, Visit};
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::walk::{Seen, walk};

/// A mistake that was found.
#[derive(Debug)]
pub struct Mistake {
    pub kind: Kind,
    pub message: String,
    pub hint: Option<String>,
    /// Line and column.
    pub at: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It makes no sense.
    Invalid,
    /// It may make sense, and nobody here can answer it.
    Unsupported,
}

impl Mistake {
    fn new(message: impl Into<String>, at: Location) -> Self {
        let at = (at.line > 0).then_some((at.line, at.column));
        Self { kind: Kind::Invalid, message: message.into(), hint: None, at }
    }

    fn unsupported(message: impl Into<String>, at: Location) -> Self {
        Self { kind: Kind::Unsupported, ..Self::new(message, at) }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The mistake in a statement that was not planned, if it is one that we know.
pub fn find(statement: &Statement, state: &SessionState) -> Option<Mistake> {
    let Statement::Statement(statement) = statement else { return None };
    let ast::Statement::Query(query) = statement.as_ref() else { return None };
    unsupported::find(query)
        .or_else(|| aggregates::find(query, state))
        .or_else(|| shapes::find(query, state))
        .or_else(|| types::find(query, state))
}

fn start_of(expr: &Expr) -> Location {
    expr.span().start
}

/// Every SELECT of a query, each with the CTEs that it can see, from the inside out.
fn selects(query: &Query) -> Vec<(Select, Vec<Cte>)> {
    let (mut ctes, mut found) = (vec![], vec![]);
    walk(query, &mut |seen| {
        match seen {
            Seen::Query(query) => ctes.push(ctes_of(query)),
            Seen::AfterQuery => drop(ctes.pop()),
            Seen::AfterSelect(select) => found.push((select.clone(), ctes.concat())),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    found
}

fn ctes_of(query: &Query) -> Vec<Cte> {
    query.with.iter().flat_map(|with| with.cte_tables.clone()).collect()
}

/// The first mistake that is found on a walk.
fn first(part: &impl Visit, look: &mut dyn FnMut(Seen<'_>) -> Option<Mistake>) -> Option<Mistake> {
    let mut first = None;
    walk(part, &mut |seen| {
        first = look(seen);
        if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    first
}
