//! Rewrite: `t SEMI JOIN u` is `t LEFT SEMI JOIN u`, and so is ANTI JOIN. DataFusion knows the longer ones.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Join, JoinOperator, Query, SetExpr, Statement};

use crate::walk::{SeenMut, walk_mut};

pub fn rewrite(statement: &mut Statement) {
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(Query { body, .. }) = seen {
            in_body(body);
        }
        ControlFlow::Continue(())
    });
}

fn in_body(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            select.from.iter_mut().flat_map(|item| &mut item.joins).for_each(of_left);
        }
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left);
            in_body(right);
        }
        _ => {}
    }
}

fn of_left(join: &mut Join) {
    match &mut join.join_operator {
        JoinOperator::Semi(constraint) => {
            let constraint = constraint.clone();
            join.join_operator = JoinOperator::LeftSemi(constraint);
        }
        JoinOperator::Anti(constraint) => {
            let constraint = constraint.clone();
            join.join_operator = JoinOperator::LeftAnti(constraint);
        }
        _ => {}
    }
}
