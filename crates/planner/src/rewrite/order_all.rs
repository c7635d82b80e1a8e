//! Rewrite: `ORDER BY ALL` is by all columns of the answer, from left to right: `ORDER BY 1, 2, 3`. It is read as a column that is
//! called so.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, Statement, Value,
};

use super::Refusal;
use crate::walk::{SeenMut, walk_mut};

pub fn rewrite(statement: &mut Statement) -> Result<(), Refusal> {
    let mut refused = None;
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(query) = seen
            && let Err(refusal) = in_query(query)
        {
            refused = Some(refusal);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    refused.map_or(Ok(()), Err)
}

fn in_query(query: &mut Query) -> Result<(), Refusal> {
    let Query { body, order_by: Some(order), .. } = query else { return Ok(()) };
    let OrderByKind::Expressions(orders) = &mut order.kind else { return Ok(()) };
    let [OrderByExpr { expr: Expr::Identifier(name), options, .. }] = orders.as_slice() else {
        return Ok(());
    };
    if name.quote_style.is_some() || !name.value.eq_ignore_ascii_case("all") {
        return Ok(());
    }
    let Some(count) = count_of_columns(body) else {
        return Err(Refusal::new("ORDER BY ALL cannot say how many columns * has", Some(name))
            .hint("name the columns that are selected"));
    };
    let by = |position: usize| OrderByExpr {
        expr: Expr::Value(Value::Number(position.to_string(), false).into()),
        options: *options,
        with_fill: None,
    };
    *orders = (1..=count).map(by).collect();
    Ok(())
}

fn count_of_columns(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Select(select) => {
            let is_one = |item: &SelectItem| {
                matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
            };
            select.projection.iter().all(is_one).then_some(select.projection.len())
        }
        SetExpr::SetOperation { left, .. } => count_of_columns(left),
        SetExpr::Query(query) => count_of_columns(&query.body),
        _ => None,
    }
}
