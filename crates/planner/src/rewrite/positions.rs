//! Rewrite: positions stand for what is selected there.
//!
//! ```text
//! SELECT k, n ... GROUP BY ROLLUP (1, 2)     ==>     SELECT k, n ... GROUP BY ROLLUP (k, n)
//! SELECT DISTINCT ON (1) k, n ...                    SELECT DISTINCT ON (k) k, n ...
//! ```
//!
//! As in GROUP BY 1 and ORDER BY 1. DataFusion takes them for constants. `WITH ROLLUP`, which it forgets, is refused.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, Statement, Value,
};

use super::Refusal;
use crate::walk::{SeenMut, walk_mut};

pub fn rewrite(statement: &mut Statement) -> Result<(), Refusal> {
    let mut done = Ok(());
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(Query { body, .. }) = seen {
            done = in_body(body);
        }
        if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    done
}

fn in_body(body: &mut SetExpr) -> Result<(), Refusal> {
    match body {
        SetExpr::Select(select) => in_select(select),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left)?;
            in_body(right)
        }
        // What is in parentheses is a query that will be come by.
        _ => Ok(()),
    }
}

fn in_select(select: &mut Select) -> Result<(), Refusal> {
    let items = &select.projection;
    if let GroupByExpr::Expressions(keys, modifiers) = &mut select.group_by {
        if let Some(modifier) = modifiers.first() {
            return Err(Refusal::new(format!("{modifier} is not known behind GROUP BY"), None)
                .hint("GROUP BY ROLLUP (...), CUBE (...) or GROUPING SETS (...)"));
        }
        keys.iter_mut().try_for_each(|key| match key {
            Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_) => in_key(key, items, meant),
            _ => Ok(()),
        })?;
    }
    if let Some(Distinct::On(keys)) = &mut select.distinct {
        keys.iter_mut().try_for_each(|key| in_key(key, items, named))?;
    }
    Ok(())
}

fn in_key(
    key: &mut Expr,
    items: &[SelectItem],
    stands_for: fn(&SelectItem) -> Option<Expr>,
) -> Result<(), Refusal> {
    match key {
        Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => {
            sets.iter_mut().flatten().try_for_each(|key| in_key(key, items, stands_for))
        }
        Expr::Tuple(keys) => keys.iter_mut().try_for_each(|key| in_key(key, items, stands_for)),
        Expr::Nested(inner) => in_key(inner, items, stands_for),
        Expr::Value(value) => {
            let Value::Number(text, _) = &value.value else { return Ok(()) };
            let Ok(position) = text.parse::<usize>() else { return Ok(()) };
            let refused = |message: String| {
                let at = value.span.start;
                Refusal { at: (at.line > 0).then_some(at), ..Refusal::new(message, None) }
            };
            let up_to = &items[..position.min(items.len())];
            let Some(mut up_to) = up_to.iter().map(stands_for).collect::<Option<Vec<_>>>() else {
                return Err(refused(format!("column {position} is counted after a *"))
                    .hint("name the column here"));
            };
            match up_to.pop() {
                Some(item) if position <= items.len() => *key = item,
                _ => return Err(refused(format!("there is no column {position} in the SELECT"))),
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What is selected. Of a `*` it is not known how many columns it is.
fn meant(item: &SelectItem) -> Option<Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
            Some(expr.clone())
        }
        _ => None,
    }
}

/// The same by its name, where outputs are looked for first.
fn named(item: &SelectItem) -> Option<Expr> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(Expr::Identifier(alias.clone())),
        other => meant(other),
    }
}
