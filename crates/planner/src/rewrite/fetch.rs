//! Rewrite: `FETCH FIRST n ROWS ONLY` is `LIMIT n`. DataFusion knows LIMIT alone.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, LimitClause, Query, Statement, Value};

use crate::walk::{SeenMut, walk_mut};

pub fn rewrite(statement: &mut Statement) {
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(query) = seen {
            limited(query);
        }
        ControlFlow::Continue(())
    });
}

/// `WITH TIES` and `PERCENT` are left for DataFusion to refuse.
fn limited(query: &mut Query) {
    let Some(fetch) = query.fetch.take_if(|fetch| !fetch.with_ties && !fetch.percent) else {
        return;
    };
    let one = || Expr::Value(Value::Number("1".into(), false).into());
    let rows = fetch.quantity.clone().unwrap_or_else(one);
    match &mut query.limit_clause {
        None => {
            let (limit, offset, limit_by) = (Some(rows), None, vec![]);
            query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by });
        }
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(rows),
        // Twice: refused.
        Some(_) => query.fetch = Some(fetch),
    }
}
