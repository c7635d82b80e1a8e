//! Rewrite: `a IS DISTINCT FROM b AND c` is `(a IS DISTINCT FROM b) AND c`.
//!
//! The parser takes all that follows as what `a` is compared with, up to the end of the expression. NOT, AND and OR bind less
//! than IS: they are turned back out of it. What is in parentheses is told apart by the parser.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Statement, UnaryOperator, Value, VisitMut, VisitorMut,
};

pub fn rewrite(statement: &mut Statement) {
    let _: ControlFlow<()> = statement.visit(&mut Turning);
}

struct Turning;

impl VisitorMut for Turning {
    type Break = ();

    /// Operands have been rewritten already, and may now be of an operator that binds less than this one.
    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        let taken = std::mem::replace(expression, Expr::Value(Value::Null.into()));
        *expression = turned(taken);
        ControlFlow::Continue(())
    }
}

fn turned(expression: Expr) -> Expr {
    match expression {
        Expr::IsDistinctFrom(left, right) => {
            out_of(*right, &|right| Expr::IsDistinctFrom(left.clone(), Box::new(right)))
        }
        Expr::IsNotDistinctFrom(left, right) => {
            out_of(*right, &|right| Expr::IsNotDistinctFrom(left.clone(), Box::new(right)))
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
            out_of(*expr, &|expr| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) })
        }
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => match *right {
            Expr::BinaryOp { left: middle, op: BinaryOperator::Or, right } => {
                let left = binary(*left, BinaryOperator::And, *middle);
                binary(turned(left), BinaryOperator::Or, *right)
            }
            other => binary(*left, BinaryOperator::And, other),
        },
        other => other,
    }
}

/// Applies something to the leftmost operand of a chain of ANDs and ORs, in place of the whole chain.
fn out_of(operand: Expr, apply: &dyn Fn(Expr) -> Expr) -> Expr {
    match operand {
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
            binary(out_of(*left, apply), op, *right)
        }
        other => apply(other),
    }
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}
