//! Check: a date or a time beside a number.
//!
//! ```text
//! WHERE t.day > 2019                                 refused: it would be the 13th of July 1975
//! CASE WHEN a THEN t.day ELSE 5 END                  refused
//! SELECT t.day ... UNION ALL SELECT 5                refused
//! CAST(20200101 AS DATE), CAST(1 AS TIMESTAMP)       refused
//! ```
//!
//! DataFusion takes the number for the days since 1970, or the nanoseconds. That is what a function can be asked for
//! (`to_timestamp(seconds)`); it is not what anybody means by a number beside a date. `day + 7` is a date, as elsewhere.

use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::{
    Between, Case, Cast, InList, InSubquery, SetComparison, TryCast,
};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan};

use crate::expressions::makes_alike;
use crate::mistakes::plain::type_name;
use crate::refusals::Refused;

/// Reason why a node cannot be answered: the sides of a UNION, or what a join compares.
pub fn refused_in_node(node: &LogicalPlan) -> Option<Refused> {
    match node {
        LogicalPlan::Union(union) => (0..union.schema.fields().len()).find_map(|at| {
            let fields = union.inputs.iter().filter_map(|input| input.schema().fields().get(at));
            mixed(fields.map(|field| field.data_type().clone()))
        }),
        LogicalPlan::Join(join) => join.on.iter().find_map(|(left, right)| {
            let left = left.get_type(join.left.schema()).ok();
            let right = right.get_type(join.right.schema()).ok();
            mixed(left.into_iter().chain(right))
        }),
        _ => None,
    }
}

/// The same of an expression.
pub fn refused_in_part(part: &Expr, schema: &DFSchema) -> Option<Refused> {
    let kind = |value: &Expr| value.get_type(schema).ok();
    let of = |values: &[&Expr]| mixed(values.iter().filter_map(|value| kind(value)));
    match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            of(&[left, right])
        }
        Expr::Between(Between { expr, low, high, .. }) => of(&[expr, low, high]),
        Expr::InList(InList { expr, list, .. }) => {
            list.iter().find_map(|value| of(&[expr.as_ref(), value]))
        }
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            let compared = expr.iter().flat_map(|value| {
                let whens = when_then_expr.iter().map(|(when, _)| when.as_ref());
                whens.chain([value.as_ref()])
            });
            let results = when_then_expr.iter().map(|(_, then)| then.as_ref());
            let results = results.chain(else_expr.as_deref());
            mixed(compared.filter_map(kind)).or_else(|| mixed(results.filter_map(kind)))
        }
        Expr::InSubquery(InSubquery { expr, subquery, .. })
        | Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
            let fields = subquery.subquery.schema().fields().iter();
            let column = fields.map(|field| field.data_type().clone()).next();
            mixed(kind(expr).into_iter().chain(column))
        }
        Expr::ScalarFunction(call) if makes_alike(call.name()) => {
            mixed(call.args.iter().filter_map(kind))
        }
        Expr::WindowFunction(call) if ["lag", "lead"].contains(&call.fun.name()) => {
            match call.params.args.as_slice() {
                [value, _, default] => of(&[value, default]),
                _ => None,
            }
        }
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field }) => {
            let (given, wanted) = (kind(expr)?, field.data_type());
            if !given.is_numeric() || !is_time(wanted) {
                return None;
            }
            let message = format!("a number ({}) is no {}", type_name(&given), type_name(wanted));
            Refused::new(message, instead(wanted))
        }
        _ => None,
    }
}

/// Refusal of types that would be made one, if there are times and numbers among them.
fn mixed(kinds: impl Iterator<Item = DataType>) -> Option<Refused> {
    let kinds: Vec<_> = kinds.collect();
    let time = kinds.iter().find(|kind| is_time(kind))?;
    let number = kinds.iter().find(|kind| kind.is_numeric())?;
    let (of_time, of_number) = (type_name(time), type_name(number));
    let message = format!("{of_time} beside a number ({of_number}): the number is no {of_time}");
    Refused::new(message, instead(time))
}

fn is_time(kind: &DataType) -> bool {
    use DataType::{Date32, Date64, Time32, Time64, Timestamp};
    matches!(kind, Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..))
}

fn instead(kind: &DataType) -> &'static str {
    match kind {
        DataType::Date32 | DataType::Date64 => {
            "write a date: DATE '2020-02-29'; of a number: make_date(year, month, day)"
        }
        DataType::Time32(_) | DataType::Time64(_) => "write a time: TIME '23:59:59'",
        _ => {
            "write a timestamp: TIMESTAMP '2020-02-29 23:59:59'; of a number: to_timestamp(seconds)"
        }
    }
}
