//! Outputs named by their places, for queries that cannot be planned otherwise.
//!
//! ```text
//! SELECT 1.0, 1.00                           SELECT 1.0 AS "#1", 1.00 AS "#2"
//! SELECT id, k FROM a                        SELECT id, k FROM a
//! UNION ALL SELECT k, 0 FROM a        ==>    UNION ALL SELECT "k" AS "id", "0" AS "k" FROM (SELECT k, 0 AS "0" FROM a)
//! SELECT rank() OVER (ORDER BY count(*))     SELECT rank() OVER (ORDER BY count(*)) AS "#1"
//! FROM a GROUP BY k ORDER BY 1               FROM a GROUP BY k ORDER BY 1
//! ```
//!
//! DataFusion calls what has no name by a text of its own, in which much that is written otherwise is the same (`ORDER BY id`, `ORDER BY
//! id ASC`), and refuses two of one name. It calls the parts of a UNION as its first part, but only what is no column, which may then be
//! called as a column beside it. In ORDER BY it takes what stands at a place without its name for what is not there. None of that happens
//! to names that are there from the start and differ. They are not given to all queries: equal parts of different queries are
//! one, as long as they are called alike.

use std::collections::BTreeSet;

use datafusion::sql::sqlparser::ast::{Distinct, Expr, Ident, SelectItem, SetExpr};

use super::Use;
use super::expressions::nothing;
use super::order::called_as_shown;
use super::outputs::{Output, bare_name, free};
use super::scope::Column;

/// Gives outputs that have no name those of their places. Whether there was any.
pub fn name(outputs: &mut [Output], used: Use) -> bool {
    let mut any = false;
    for (at, output) in outputs.iter_mut().enumerate() {
        let SelectItem::UnnamedExpr(expr) = &output.item else { continue };
        // What is read as a table has names already, and so have columns.
        if used == Use::Table || bare_name(expr).is_some() {
            continue;
        }
        let name = format!("#{}", at + 1);
        let alias = Ident::with_quote('"', name.clone());
        output.item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        output.column.name = Some(name);
        any = true;
    }
    any
}

/// A part of a UNION, its columns called as those of the first part.
pub fn called_alike(part: &mut Box<SetExpr>, own: &[Column], first: &[Column]) {
    if own.len() != first.len() {
        return;
    }
    let mut taken = BTreeSet::new();
    let columns = own.iter().zip(first).map(|(own, first)| {
        let wanted = first.name.as_ref().unwrap_or(&first.shown);
        let name = if taken.contains(wanted) { free(wanted, &taken) } else { wanted.clone() };
        taken.insert(name.clone());
        let own = own.name.clone().unwrap_or_else(|| own.shown.clone());
        Column { name: Some(own), shown: name, hidden: false }
    });
    let mut columns: Vec<_> = columns.collect();
    let mut query = nothing();
    std::mem::swap(&mut query.body, part);
    called_as_shown(&mut query, &mut columns);
    *part = query.body;
}

/// A key of ORDER BY that is selected is that output: DISTINCT asks for one.
pub fn order(key: &mut Expr, distinct: Option<&Distinct>, items: &[SelectItem]) {
    if !matches!(distinct, Some(Distinct::Distinct)) {
        return;
    }
    let selected = items.iter().find_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if expr == key => Some(alias.clone()),
        _ => None,
    });
    if let Some(alias) = selected {
        *key = Expr::Identifier(alias);
    }
}
