//! Rewrite: `GROUP BY ()` is an aggregate over all rows, which DataFusion knows by having no GROUP BY.

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{Expr, GroupByExpr, Query, Select, SetExpr, Statement};

use crate::walk::{Seen, SeenMut, walk, walk_mut};

pub fn rewrite(state: &SessionState, statement: &mut Statement) {
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(Query { body, .. }) = seen {
            in_body(state, body);
        }
        ControlFlow::Continue(())
    });
}

fn in_body(state: &SessionState, body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) if is_of_all(select) && aggregates(state, select) => {
            select.group_by = GroupByExpr::Expressions(vec![], vec![]);
        }
        SetExpr::SetOperation { left, right, .. } => {
            in_body(state, left);
            in_body(state, right);
        }
        _ => {}
    }
}

fn is_of_all(select: &Select) -> bool {
    let GroupByExpr::Expressions(keys, modifiers) = &select.group_by else { return false };
    let is_empty = |key: &Expr| matches!(key, Expr::Tuple(parts) if parts.is_empty());
    !keys.is_empty() && keys.iter().all(is_empty) && modifiers.is_empty()
}

/// Whether it would be an aggregate without GROUP BY, too.
fn aggregates(state: &SessionState, select: &Select) -> bool {
    let (mut depth, mut found) = (0, false);
    walk(&select.projection, &mut |seen| {
        match seen {
            Seen::Query(_) => depth += 1,
            Seen::AfterQuery => depth -= 1,
            Seen::Expr(Expr::Function(call)) if depth == 0 && call.over.is_none() => {
                let name = call.name.to_string().to_lowercase();
                found |= state.aggregate_functions().contains_key(&name);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    found
}
