//! Pass: a date beside a timestamp becomes one of the same unit.
//!
//! ```text
//! t.at < DATE '9999-12-31'    ==>    t.at < CAST(DATE '9999-12-31' AS TIMESTAMP(6))
//! ```
//!
//! DataFusion makes nanoseconds of both, which end in 2262: a later date is an error. So it is wherever they are compared, and in the keys
//! of joins.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, cast};

use crate::expressions::rewrite_node;

pub fn same(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        rewrite_node(node, compared)?.transform_data(|node| match node {
            LogicalPlan::Join(mut join) => {
                let mut changed = false;
                for (left, right) in &mut join.on {
                    let kinds = [
                        left.get_type(join.left.schema()).ok(),
                        right.get_type(join.right.schema()).ok(),
                    ];
                    if let Some(unit) = unit(&kinds) {
                        *left = in_unit(std::mem::take(left), &kinds[0], unit);
                        *right = in_unit(std::mem::take(right), &kinds[1], unit);
                        changed = true;
                    }
                }
                Ok(Transformed::new_transformed(LogicalPlan::Join(join), changed))
            }
            other => Ok(Transformed::no(other)),
        })
    })
    .data()
}

fn compared(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let values: Vec<&Expr> = match &part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            vec![left, right]
        }
        Expr::Between(Between { expr, low, high, .. }) => vec![expr, low, high],
        Expr::InList(InList { expr, list, .. }) => {
            std::iter::once(expr.as_ref()).chain(list).collect()
        }
        _ => return Ok(Transformed::no(part)),
    };
    let kinds: Vec<_> = values.into_iter().map(|value| value.get_type(schema).ok()).collect();
    let Some(unit) = unit(&kinds) else { return Ok(Transformed::no(part)) };
    let made = |value: Box<Expr>, at: usize| Box::new(in_unit(*value, &kinds[at], unit));
    Ok(Transformed::yes(match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            Expr::BinaryExpr(BinaryExpr { left: made(left, 0), op, right: made(right, 1) })
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let (expr, low, high) = (made(expr, 0), made(low, 1), made(high, 2));
            Expr::Between(Between { expr, negated, low, high })
        }
        Expr::InList(InList { expr, list, negated }) => {
            let list = list.into_iter().enumerate();
            let list = list.map(|(at, value)| in_unit(value, &kinds[at + 1], unit)).collect();
            Expr::InList(InList { expr: made(expr, 0), list, negated })
        }
        other => other,
    }))
}

/// The unit of the timestamps among values of which the others are dates: if it reaches further than nanoseconds.
fn unit(kinds: &[Option<DataType>]) -> Option<TimeUnit> {
    let mut unit = None;
    for kind in kinds {
        match kind.as_ref()? {
            DataType::Date32 => {}
            DataType::Timestamp(TimeUnit::Nanosecond, _) => return None,
            DataType::Timestamp(other, None) if unit.is_none_or(|unit| unit == *other) => {
                unit = Some(*other);
            }
            _ => return None,
        }
    }
    unit.filter(|_| kinds.contains(&Some(DataType::Date32)))
}

fn in_unit(value: Expr, kind: &Option<DataType>, unit: TimeUnit) -> Expr {
    match kind {
        Some(DataType::Date32) => cast(value, DataType::Timestamp(unit, None)),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_that_of_the_timestamps() {
        let time = |unit| Some(DataType::Timestamp(unit, None));
        let day = || Some(DataType::Date32);
        use TimeUnit::{Microsecond, Nanosecond, Second};
        for (kinds, expected) in [
            (vec![day(), time(Microsecond)], Some(Microsecond)),
            (vec![time(Second), day(), day()], Some(Second)),
            (vec![day(), time(Nanosecond)], None),
            (vec![time(Second), time(Microsecond), day()], None),
            (vec![time(Second), time(Second)], None),
            (vec![day(), day()], None),
            (vec![day(), Some(DataType::Utf8)], None),
            (vec![day(), None], None),
        ] {
            assert_eq!(unit(&kinds), expected, "{kinds:?}");
        }
    }
}
