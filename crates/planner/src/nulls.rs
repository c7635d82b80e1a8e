//! Pass: what DataFusion simplifies as if there were no NULLs, so that it does not.
//!
//! ```text
//! s ~ '.*'                            s IS NOT NULL OR NULL
//! k IN (1, 2) AND k NOT IN (2)  ==>   k IN (1, 2) AND as_is(k NOT IN (2))
//! ```
//!
//! `s ~ '.*'` would be `s IS NOT NULL`, and the two lists would become one, which is true or false where `k` is NULL.
//! `as_is` gives what it is given; nothing looks into it.

use caudal_functions::exact::as_is;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, binary_expr, lit, or};
use datafusion::scalar::ScalarValue;

use crate::expressions;

pub fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, |part, _| kept(part))
}

fn kept(part: Expr) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = part else {
        return Ok(Transformed::no(part));
    };
    match op {
        Operator::RegexMatch | Operator::RegexIMatch if is_anything(&right) => {
            let unknown = lit(ScalarValue::Boolean(None));
            Ok(Transformed::yes(or(left.is_not_null(), unknown)))
        }
        Operator::And | Operator::Or if share_lists(&left, &right) => {
            let right = as_is().call(vec![*right]);
            Ok(Transformed::yes(binary_expr(*left, op, right)))
        }
        _ => Ok(Transformed::no(binary_expr(*left, op, *right))),
    }
}

fn is_anything(pattern: &Expr) -> bool {
    matches!(pattern, Expr::Literal(ScalarValue::Utf8(Some(text)), _) if text == ".*")
}

/// Whether both sides look the same thing up in lists.
fn share_lists(left: &Expr, right: &Expr) -> bool {
    let others = looked_up(right);
    looked_up(left).iter().any(|value| others.contains(value))
}

fn looked_up(part: &Expr) -> Vec<&Expr> {
    match part {
        Expr::InList(list) => vec![&list.expr],
        Expr::Not(inner) => looked_up(inner),
        Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, left, right }) => {
            [looked_up(left), looked_up(right)].concat()
        }
        _ => vec![],
    }
}
