//! A guard around DataFusion's rule that pushes filters down: of two comparisons of a column with constants it keeps the
//! stricter, and is wrong about which that is where a constant is on the left, is NULL, or is a float.
//!
//! ```text
//! Filter: k >= 3 AND 3 < k       ==>     Filter: as_is(k >= 3) AND as_is(3 < k)
//! ```
//!
//! It does not look into `as_is`. Filters above each other are one filter: the rule joins them before it chooses. The constants may have been columns until filters were pushed past the projection that made
//! them, so this is done whenever the rule comes to a filter.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::DataType;
use caudal_functions::exact::as_is;
use datafusion::common::Column;
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::scalar::ScalarValue;

/// The same filter, its comparisons hidden where the rule would choose between them wrongly.
pub fn kept_apart(plan: LogicalPlan) -> LogicalPlan {
    let LogicalPlan::Filter(mut filter) = plan else { return plan };
    while let LogicalPlan::Filter(below) = filter.input.as_ref() {
        filter.predicate = both(filter.predicate, &below.predicate);
        filter.input = Arc::clone(&below.input);
    }
    let columns = misjudged_columns(&filter.predicate);
    if !columns.is_empty() {
        let conditions = split_conjunction_owned(filter.predicate.clone()).into_iter();
        let conditions = conditions.map(|condition| match Comparison::of(&condition) {
            Some(comparison) if columns.contains(comparison.column) => {
                as_is().call(vec![condition])
            }
            _ => condition,
        });
        filter.predicate = conjunction(conditions).unwrap_or(filter.predicate);
    }
    LogicalPlan::Filter(filter)
}

/// Conditions of both, each once.
fn both(above: Expr, below: &Expr) -> Expr {
    let mut conditions: Vec<&Expr> = split_conjunction(&above);
    for condition in split_conjunction(below) {
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    conjunction(conditions.into_iter().cloned()).unwrap_or(above)
}

/// Columns that are compared twice, one of the times in a way that the rule does not know.
fn misjudged_columns(predicate: &Expr) -> Vec<Column> {
    let mut comparisons: HashMap<&Column, (usize, bool)> = HashMap::new();
    for comparison in split_conjunction(predicate).into_iter().filter_map(Comparison::of) {
        let (count, is_misjudged) = comparisons.entry(comparison.column).or_default();
        *count += 1;
        *is_misjudged |= comparison.is_misjudged();
    }
    let columns = comparisons.into_iter();
    let misjudged = columns.filter(|(_, (count, is_misjudged))| *count > 1 && *is_misjudged);
    misjudged.map(|(column, _)| column.clone()).collect()
}

/// A column beside a constant.
struct Comparison<'a> {
    column: &'a Column,
    constant: &'a ScalarValue,
    is_constant_left: bool,
}

impl<'a> Comparison<'a> {
    fn of(condition: &'a Expr) -> Option<Self> {
        use Operator::{Eq, Gt, GtEq, Lt, LtEq};
        let Expr::BinaryExpr(BinaryExpr { left, op: Gt | GtEq | Lt | LtEq | Eq, right }) =
            condition
        else {
            return None;
        };
        match (left.as_ref(), right.as_ref()) {
            (Expr::Column(column), Expr::Literal(constant, _)) => {
                Some(Self { column, constant, is_constant_left: false })
            }
            (Expr::Literal(constant, _), Expr::Column(column)) => {
                Some(Self { column, constant, is_constant_left: true })
            }
            _ => None,
        }
    }

    fn is_misjudged(&self) -> bool {
        let kind = self.constant.data_type();
        let is_float = matches!(kind, DataType::Float16 | DataType::Float32 | DataType::Float64);
        self.is_constant_left || self.constant.is_null() || is_float || kind.is_nested()
    }
}
