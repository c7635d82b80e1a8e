//! Check: no aggregate over the rows of a recursive query within itself.
//!
//! ```text
//! WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT max(n) + 1 FROM r WHERE n < 3)    refused
//! ```
//!
//! An aggregate of no rows is one row: it would go on for ever. PostgreSQL refuses it, too.

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, Ident, Select, SetExpr, Statement, TableFactor, TableWithJoins, Visit,
};

use super::Refusal;
use crate::idents::means;
use crate::walk::{Seen, walk};

pub fn check(state: &SessionState, statement: &Statement) -> Result<(), Refusal> {
    let mut found = None;
    walk(statement, &mut |seen| {
        if let Seen::Query(query) = seen
            && let Some(with) = query.with.as_ref().filter(|with| with.recursive)
        {
            found = with.cte_tables.iter().find_map(|cte| {
                let SetExpr::SetOperation { right, .. } = cte.query.body.as_ref() else {
                    return None;
                };
                total_of(state, right, &cte.alias.name)
            });
        }
        if found.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.map_or(Ok(()), Err)
}

/// An aggregate in a SELECT that reads this table itself.
fn total_of(state: &SessionState, goes_on: &SetExpr, table: &Ident) -> Option<Refusal> {
    let mut found = None;
    walk(goes_on, &mut |seen| {
        if let Seen::Select(select) = seen
            && select.from.iter().any(|tables| reads(tables, table))
        {
            found = total_in(state, select).map(|total| {
                let message =
                    format!("{} over the recursive {} within itself", total.name, table.value);
                let at = total.name.0.last().and_then(|part| part.as_ident());
                Refusal::new(message, at).hint(format!(
                    "aggregate the rows of {} in the query that reads it",
                    table.value
                ))
            });
        }
        if found.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found
}

fn reads(tables: &TableWithJoins, table: &Ident) -> bool {
    let joined = tables.joins.iter().map(|join| &join.relation);
    std::iter::once(&tables.relation).chain(joined).any(|factor| match factor {
        TableFactor::Table { name, .. } => {
            let name = name.0.last().and_then(|part| part.as_ident());
            name.is_some_and(|name| means(name, &table.value))
        }
        TableFactor::NestedJoin { table_with_joins, .. } => reads(table_with_joins, table),
        _ => false,
    })
}

fn total_in(state: &SessionState, select: &Select) -> Option<Function> {
    let of_items = first_total(state, &select.projection);
    of_items
        .or_else(|| first_total(state, &select.having))
        .or_else(|| first_total(state, &select.qualify))
}

/// The first aggregate, but not of windows or in subqueries.
fn first_total(state: &SessionState, part: &impl Visit) -> Option<Function> {
    let (mut found, mut depth) = (None, 0);
    walk(part, &mut |seen| {
        match seen {
            Seen::Query(_) => depth += 1,
            Seen::AfterQuery => depth -= 1,
            Seen::Expr(Expr::Function(call)) if depth == 0 && call.over.is_none() => {
                let name = call.name.to_string().to_lowercase();
                if state.aggregate_functions().contains_key(&name) {
                    found = Some(call.clone());
                    return ControlFlow::Break(());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    found
}
