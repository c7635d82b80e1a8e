//! Rewrite: `(a, b) IN (SELECT x, y ...)` in WHERE is EXISTS.
//!
//! ```text
//! WHERE (a, b) IN (SELECT x, y FROM u)
//!   ==>  WHERE EXISTS (SELECT 1 FROM (SELECT x, y FROM u) AS "row"("1st", "2nd") WHERE "1st" = a AND "2nd" = b)
//! ```
//!
//! DataFusion compares one column. Where a row is kept only if the condition is true, nobody asks whether it is false or NULL;
//! elsewhere, and with NOT, it is refused.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Query, Select, SelectItem, SetExpr, Spanned, Statement,
    TableAliasColumnDef, TableFactor,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::Refusal;
use crate::idents::exact;
use crate::walk::{Seen, SeenMut, walk, walk_mut};

pub fn rewrite(statement: &mut Statement) {
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(Query { body, .. }) = seen {
            in_body(body);
        }
        ControlFlow::Continue(())
    });
}

/// Rows that are still looked up.
pub fn check(statement: &Statement) -> Result<(), Refusal> {
    let mut found = None;
    walk(statement, &mut |seen| {
        if let Seen::Expr(Expr::InSubquery { expr, negated, .. }) = seen
            && let Expr::Tuple(values) = expr.as_ref()
        {
            let word = if *negated { "NOT IN" } else { "IN" };
            let at = Some(expr.span().start).filter(|start| start.line > 0);
            let refusal =
                Refusal::new(format!("a row of {} columns {word} a subquery", values.len()), None);
            let hint = "in WHERE: (a, b) IN (SELECT x, y ...); or [NOT] EXISTS (SELECT 1 ... WHERE x = a AND y = b)";
            found = Some(Refusal { at, ..refusal }.hint(hint));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found.map_or(Ok(()), Err)
}

fn in_body(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => select.selection.iter_mut().for_each(in_condition),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left);
            in_body(right);
        }
        _ => {}
    }
}

/// In all that has to be true.
fn in_condition(condition: &mut Expr) {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            in_condition(left);
            in_condition(right);
        }
        Expr::Nested(inner) => in_condition(inner),
        Expr::InSubquery { expr, subquery, negated: false } => {
            if let Expr::Tuple(values) = expr.as_ref()
                && gives(subquery, values.len())
                && let Some(exists) = exists(values, subquery)
            {
                *condition = exists;
            }
        }
        _ => {}
    }
}

/// Whether a query is seen to give so many columns.
fn gives(query: &Query, columns: usize) -> bool {
    let is_one = |item: &SelectItem| {
        matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
    };
    match query.body.as_ref() {
        SetExpr::Select(select) => {
            select.projection.len() == columns && select.projection.iter().all(is_one)
        }
        _ => false,
    }
}

fn exists(values: &[Expr], rows: &Query) -> Option<Expr> {
    let parser = Parser::new(&GenericDialect {});
    let written = "EXISTS (SELECT 1 FROM (SELECT 1) AS \"row\" WHERE true)";
    let mut exists = parser.try_with_sql(written).ok()?.parse_expr().ok()?;
    let Expr::Exists { subquery, .. } = &mut exists else { return None };
    let SetExpr::Select(select) = subquery.body.as_mut() else { return None };
    let Select { from, selection, .. } = select.as_mut();
    let TableFactor::Derived { subquery, alias, .. } = &mut from.first_mut()?.relation else {
        return None;
    };
    **subquery = rows.clone();
    let names: Vec<_> = (1..=values.len()).map(|at| exact(format!("value {at}"))).collect();
    let columns = names.iter().map(|name| TableAliasColumnDef::from_name(name.value.clone()));
    alias.as_mut()?.columns = columns.collect();
    let equal = names.into_iter().zip(values).map(|(name, value)| Expr::BinaryOp {
        left: Box::new(Expr::Identifier(name)),
        op: BinaryOperator::Eq,
        right: Box::new(Expr::Nested(Box::new(value.clone()))),
    });
    *selection = equal.reduce(|all, next| Expr::BinaryOp {
        left: Box::new(all),
        op: BinaryOperator::And,
        right: Box::new(next),
    });
    Some(exists)
}
