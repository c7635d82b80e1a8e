//! Rewrite: `x = ANY(array)` is `NOT (x <> ALL(array))`.
//!
//! What is unknown among ALL stays unknown, and negated it is what ANY is; DataFusion's own ANY takes NULLs in the array for false.
//! ANY of a subquery is left alone.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

pub fn rewrite(expression: &mut Expr) {
    let Expr::AnyOp { left, compare_op, right, .. } = expression else { return };
    let Some(compare_op) = negated(compare_op) else { return };
    if is_subquery(right) {
        return;
    }
    let nothing = || Box::new(Expr::Value(Value::Null.into()));
    let left = std::mem::replace(left, nothing());
    let right = std::mem::replace(right, nothing());
    let all = Expr::Nested(Box::new(Expr::AllOp { left, compare_op, right }));
    let not = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(all) };
    *expression = Expr::Nested(Box::new(not));
}

fn is_subquery(operand: &Expr) -> bool {
    match operand {
        Expr::Nested(inner) => is_subquery(inner),
        other => matches!(other, Expr::Subquery(_)),
    }
}

fn negated(operator: &BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    match operator {
        Eq => Some(NotEq),
        NotEq => Some(Eq),
        Lt => Some(GtEq),
        LtEq => Some(Gt),
        Gt => Some(LtEq),
        GtEq => Some(Lt),
        _ => None,
    }
}
