//! Pass: what DataFusion simplifies as if there were no NULLs, or no backslashes, so that it does not.
//!
//! ```text
//! s ~ '.*'                            s IS NOT NULL OR NULL
//! k IN (1, 2) AND k NOT IN (2)  ==>   k IN (1, 2) AND as_is(k NOT IN (2))
//! s ~ 'a\\b'                          s ~ beside('a\\b', s)
//! ```
//!
//! `s ~ '.*'` would be `s IS NOT NULL`, and the two lists would become one, which is true or false where `k` is NULL.
//! The last would be `s LIKE '%a\b%'`, where a backslash means something else; so would be what turns out to be such a
//! pattern later. `as_is` gives what it is given, and so does `beside`; nothing looks into them.

use caudal_functions::exact::{as_is, beside};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, binary_expr, lit, or};
use datafusion::scalar::ScalarValue;

use crate::expressions;

pub fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, |part, _| kept(part))
}

fn kept(part: Expr) -> Result<Transformed<Expr>> {
    let (left, op, right) = match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => (left, op, right),
        // It becomes the operator.
        Expr::ScalarFunction(mut call) if call.name() == "regexp_like" && call.args.len() > 1 => {
            let (value, pattern) = (call.args[0].clone(), call.args[1].clone());
            if !is_anything(&pattern) && !may_have_backslash(&pattern) {
                return Ok(Transformed::no(Expr::ScalarFunction(call)));
            }
            call.args[1] = beside().call(vec![pattern, value]);
            return Ok(Transformed::yes(Expr::ScalarFunction(call)));
        }
        other => return Ok(Transformed::no(other)),
    };
    match op {
        Operator::RegexMatch | Operator::RegexIMatch if is_anything(&right) => {
            let unknown = lit(ScalarValue::Boolean(None));
            Ok(Transformed::yes(or(left.is_not_null(), unknown)))
        }
        Operator::RegexMatch
        | Operator::RegexIMatch
        | Operator::RegexNotMatch
        | Operator::RegexNotIMatch
            if may_have_backslash(&right) =>
        {
            let right = beside().call(vec![*right, *left.clone()]);
            Ok(Transformed::yes(binary_expr(*left, op, right)))
        }
        Operator::And | Operator::Or => {
            let right = with_hidden_lists(*right, &looked_up(&left));
            Ok(right.update_data(|right| binary_expr(*left, op, right)))
        }
        _ => Ok(Transformed::no(binary_expr(*left, op, *right))),
    }
}

fn is_anything(pattern: &Expr) -> bool {
    text_of(pattern).is_some_and(|text| text == ".*")
}

/// Whether a pattern has a backslash, or may get one: what is no constant yet may become one.
fn may_have_backslash(pattern: &Expr) -> bool {
    match pattern {
        Expr::Literal(..) => text_of(pattern).is_some_and(|text| text.contains('\\')),
        _ => true,
    }
}

fn text_of(pattern: &Expr) -> Option<&str> {
    match pattern {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    }
}

/// Hides the lists in which one of these is looked up. Only them: a join may be by what stands beside them.
fn with_hidden_lists(part: Expr, values: &[&Expr]) -> Transformed<Expr> {
    match part {
        Expr::InList(ref list) if values.contains(&list.expr.as_ref()) => {
            Transformed::yes(as_is().call(vec![part]))
        }
        Expr::Not(inner) => {
            with_hidden_lists(*inner, values).update_data(|inner| Expr::Not(Box::new(inner)))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) =
                (with_hidden_lists(*left, values), with_hidden_lists(*right, values));
            let changed = left.transformed || right.transformed;
            Transformed::new_transformed(binary_expr(left.data, op, right.data), changed)
        }
        other => Transformed::no(other),
    }
}

/// Expressions that are looked up in lists here.
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
