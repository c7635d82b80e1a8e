//! Aggregates and windows where there can be none, and columns that are neither grouped nor aggregated.

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, GroupByExpr, Ident, Query, Select, SelectItem, Visit,
};

use super::trial::shown;
use super::{Mistake, selects, start_of};
use crate::walk::{Seen, walk};

pub fn find(query: &Query, state: &SessionState) -> Option<Mistake> {
    selects(query).iter().find_map(|(select, _)| in_select(select, state))
}

fn in_select(select: &Select, state: &SessionState) -> Option<Mistake> {
    let group_by = match &select.group_by {
        GroupByExpr::Expressions(expressions, _) => &expressions[..],
        GroupByExpr::All(_) => &[],
    };
    let condition = select.selection.as_ref();
    let advice = "put the condition into HAVING, after GROUP BY";
    condition
        .and_then(|condition| misplaced(condition, state, "WHERE", advice))
        .or_else(|| {
            let advice = "group by what it is made of, or aggregate a subquery";
            group_by.iter().find_map(|expr| misplaced(expr, state, "GROUP BY", advice))
        })
        .or_else(|| window(select.having.as_ref()?, "HAVING"))
        .or_else(|| nested(select, state))
        .or_else(|| ungrouped(select, group_by, state))
}

/// An aggregate or a window in a clause that works row by row.
fn misplaced(clause: &Expr, state: &SessionState, name: &str, advice: &str) -> Option<Mistake> {
    let aggregate = calls(clause).into_iter().find(|call| is_aggregate(call, state));
    let found = aggregate.map(|call| {
        let call = Expr::Function(call);
        let message = format!("{} is an aggregate, which {name} cannot have", shown(&call));
        Mistake::new(message, start_of(&call)).hint(advice)
    });
    found.or_else(|| window(clause, name))
}

fn window(clause: &Expr, name: &str) -> Option<Mistake> {
    let call = calls(clause).into_iter().find(|call| call.over.is_some())?;
    let call = Expr::Function(call);
    let message = format!("{} is a window, which {name} cannot have", shown(&call));
    Some(
        Mistake::new(message, start_of(&call)).hint("put the condition into QUALIFY, or around it"),
    )
}

/// `sum(avg(x))`
fn nested(select: &Select, state: &SessionState) -> Option<Mistake> {
    let outer = outputs(select).flat_map(calls).filter(|call| is_aggregate(call, state));
    outer.into_iter().find_map(|outer| {
        let inner = calls(&outer.args).into_iter().find(|call| is_aggregate(call, state))?;
        let (outer, inner) = (Expr::Function(outer), Expr::Function(inner));
        let message = format!("{} is an aggregate of an aggregate", shown(&outer));
        Some(Mistake::new(message, start_of(&inner)).hint("aggregate a subquery"))
    })
}

/// A column of a SELECT with groups that does not have one value in each of them.
fn ungrouped(select: &Select, group_by: &[Expr], state: &SessionState) -> Option<Mistake> {
    if matches!(select.group_by, GroupByExpr::All(_)) {
        return None;
    }
    let having = select.having.as_ref();
    let mut all_calls = outputs(select).chain(having).flat_map(calls);
    let aggregate = all_calls.find(|call| is_aggregate(call, state));
    if group_by.is_empty() && aggregate.is_none() && having.is_none() {
        return None;
    }
    let grouped: Vec<_> = group_by.iter().flat_map(|expr| meant(expr, select)).collect();
    let column =
        outputs(select).chain(having).find_map(|expr| free_column(expr, &grouped, state))?;
    let name = shown(&column);
    let message = match (group_by.is_empty(), &aggregate) {
        (true, Some(call)) => format!(
            "{} makes one row of all, and {name} has many values",
            shown(&Expr::Function(call.clone()))
        ),
        (true, None) => {
            format!("HAVING is for groups, and there is no GROUP BY; {name} has many values")
        }
        (false, _) => format!("{name} may have many values in a group"),
    };
    let hint = match (group_by.is_empty(), &aggregate) {
        (true, None) => "use WHERE, or add a GROUP BY".to_string(),
        _ => format!("add {name} to GROUP BY, or choose one with min({name}) or any_value({name})"),
    };
    Some(Mistake::new(message, start_of(&column)).hint(hint))
}

/// Expressions that one of a GROUP BY stands for: itself, or the output that it names or counts.
fn meant(expr: &Expr, select: &Select) -> Vec<Expr> {
    match expr {
        Expr::Value(value) => {
            let position: Option<usize> = value.value.to_string().parse().ok();
            let item = position.and_then(|at| select.projection.get(at.checked_sub(1)?));
            item.and_then(expr_of).cloned().into_iter().collect()
        }
        Expr::Identifier(ident) => {
            let named = select.projection.iter().find_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } if alias.value == ident.value => {
                    Some(expr)
                }
                _ => None,
            });
            named.into_iter().chain([expr]).cloned().collect()
        }
        Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => {
            sets.iter().flatten().flat_map(|expr| meant(expr, select)).collect()
        }
        Expr::Tuple(exprs) => exprs.iter().flat_map(|expr| meant(expr, select)).collect(),
        Expr::Nested(inner) => meant(inner, select),
        other => vec![other.clone()],
    }
}

/// The first column outside all aggregates that is not part of what is grouped by.
fn free_column(expr: &Expr, grouped: &[Expr], state: &SessionState) -> Option<Expr> {
    let is_fixed = |expr: &Expr| {
        let is_aggregate = matches!(expr, Expr::Function(call) if is_aggregate(call, state));
        is_aggregate || grouped.iter().any(|grouped| alike(grouped, expr))
    };
    let (mut inside, mut found) = (0, None);
    walk(expr, &mut |seen| {
        match seen {
            Seen::Query(_) => inside += 1,
            Seen::AfterQuery => inside -= 1,
            Seen::Expr(expr) if is_fixed(expr) => inside += 1,
            Seen::AfterExpr(expr) if is_fixed(expr) => inside -= 1,
            Seen::Expr(expr @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_)))
                if inside == 0 =>
            {
                found = Some(expr.clone());
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    found
}

/// Equal, but for the tables that columns are said to be of.
fn alike(one: &Expr, other: &Expr) -> bool {
    let last = |idents: &[Ident]| idents.last().map(|ident| ident.value.clone());
    let name = |expr: &Expr| match expr {
        Expr::Identifier(ident) => Some(ident.value.clone()),
        Expr::CompoundIdentifier(idents) => last(idents),
        _ => None,
    };
    match (name(one), name(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one == other,
        _ => false,
    }
}

fn outputs(select: &Select) -> impl Iterator<Item = &Expr> {
    select.projection.iter().filter_map(expr_of)
}

fn expr_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The calls in a part of a query, but not in its subqueries.
fn calls(part: &impl Visit) -> Vec<Function> {
    let (mut inside, mut found) = (0, vec![]);
    walk(part, &mut |seen| {
        match seen {
            Seen::Query(_) => inside += 1,
            Seen::AfterQuery => inside -= 1,
            Seen::Expr(Expr::Function(call)) if inside == 0 => found.push(call.clone()),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    found
}

fn is_aggregate(call: &Function, state: &SessionState) -> bool {
    call.over.is_none()
        && state.aggregate_functions().contains_key(&call.name.to_string().to_lowercase())
}
