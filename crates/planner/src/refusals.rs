//! Check: what DataFusion would answer wrongly, and nobody here says otherwise.
//!
//! - a date or a time beside a number, which would be days since 1970;
//! - GROUP BY, DISTINCT, `min` and `max` of intervals: of equal ones there is no saying which;
//! - `lag(x, NULL)`, `nth_value(x, 0)`;
//! - `RANGE 7 PRECEDING` over times, which would be months;
//! - `<` of arrays, and any comparison of structs: NULLs in them are compared like values;
//! - `date_bin` of a width that is nothing, or less;
//! - `range` over dates: it ends a step too soon;
//! - `to_char(t, 'YYYY')`: its patterns are those of `strftime`, and this has none;
//! - VALUES with a float beside a decimal, which would lose digits;
//! - decimals of a negative scale: they are shown with too few zeros, cut off, or divide by zero.

use arrow::datatypes::DataType;
use caudal_functions::exact::is_more_than_nothing;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Between, Cast, InList, TryCast};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, Values};
use datafusion::scalar::ScalarValue;

use crate::{dates, decimals, intervals, range_frames, shifts};

/// A refusal, and what to do instead.
pub struct Refused {
    pub message: String,
    pub hint: String,
}

impl Refused {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Option<Self> {
        Some(Self { message: message.into(), hint: hint.into() })
    }
}

pub fn check(plan: &LogicalPlan) -> Option<Refused> {
    let mut found = None;
    let walked = plan.apply_with_subqueries(|node| {
        found = found.take().or_else(|| in_node(node));
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                found = found.take().or_else(|| in_part(part, &schema));
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(if found.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    debug_assert!(walked.is_ok(), "the walk's closures never fail");
    found
}

fn in_node(node: &LogicalPlan) -> Option<Refused> {
    let fields = node.schema().fields().iter();
    if let Some(refused) = fields.map(|field| field.data_type()).find_map(negative_scale) {
        return Some(refused);
    }
    match node {
        LogicalPlan::Values(values) => loses_digits(values),
        _ => dates::refused_in_node(node)
            .or_else(|| intervals::refused_in_node(node).and_then(of_intervals)),
    }
}

fn in_part(part: &Expr, schema: &DFSchema) -> Option<Refused> {
    if let Some(what) = intervals::refused_in_part(part, schema) {
        return of_intervals(what);
    }
    if let Some(refused) = dates::refused_in_part(part, schema) {
        return Some(refused);
    }
    match part {
        Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => {
            negative_scale(field.data_type())
        }
        Expr::WindowFunction(window) => {
            shifts::refused(window).or_else(|| range_frames::refused(window, schema))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            let is_equality = matches!(op, Operator::Eq | Operator::NotEq);
            let is_distinct = matches!(op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom);
            [left, right].into_iter().find_map(|side| match side.get_type(schema).ok()? {
                DataType::Struct(_) if !is_distinct => structs(),
                DataType::List(_) | DataType::LargeList(_) if !is_equality && !is_distinct => {
                    arrays()
                }
                _ => None,
            })
        }
        Expr::InList(InList { expr, .. }) => match expr.get_type(schema).ok()? {
            DataType::Struct(_) => structs(),
            _ => None,
        },
        Expr::Between(Between { expr, .. }) => match expr.get_type(schema).ok()? {
            DataType::Struct(_) => structs(),
            DataType::List(_) | DataType::LargeList(_) => arrays(),
            _ => None,
        },
        Expr::ScalarFunction(call) => match (call.name(), call.args.as_slice()) {
            ("arrow_cast" | "arrow_try_cast", _) => negative_scale(&part.get_type(schema).ok()?),
            ("range", ends) => {
                let mut kinds = ends.iter().filter_map(|end| end.get_type(schema).ok());
                if !kinds.any(|kind| matches!(kind, DataType::Date32 | DataType::Date64)) {
                    return None;
                }
                Refused::new(
                    "range over dates ends too soon",
                    "generate_series(from, to, step) includes its end; range of timestamps does not",
                )
            }
            ("date_bin", [Expr::Literal(width, _), ..]) if !is_more_than_nothing(width) => {
                Refused::new(
                    "the width of date_bin has to be more than nothing",
                    "date_bin(INTERVAL '1 day', t)",
                )
            }
            ("to_char", [_, Expr::Literal(format, _)]) => {
                let format = format.try_as_str().flatten()?;
                if format.contains('%') {
                    return None;
                }
                Refused::new(
                    format!("to_char's patterns begin with %, and '{format}' has none"),
                    "to_char(t, '%Y-%m-%d %H:%M:%S')",
                )
            }
            _ => None,
        },
        _ => None,
    }
}

fn of_intervals(what: &str) -> Option<Refused> {
    Refused::new(
        format!("{what} of intervals: equal ones may differ, as 1 day and 24 hours do"),
        "extract(epoch FROM x) is an interval's length in seconds",
    )
}

/// Refusal of a decimal whose last digits before the point are not kept.
fn negative_scale(kind: &DataType) -> Option<Refused> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    let (Decimal32(digits, scale)
    | Decimal64(digits, scale)
    | Decimal128(digits, scale)
    | Decimal256(digits, scale)) = kind
    else {
        return None;
    };
    if *scale >= 0 {
        return None;
    }
    Refused::new(
        format!("DECIMAL({digits}, {scale}): there are no decimals of a negative scale"),
        format!("round(x, {scale}) rounds to places before the point"),
    )
}

fn structs() -> Option<Refused> {
    Refused::new(
        "structs cannot be compared: one of their fields may be NULL",
        "compare their fields",
    )
}

fn arrays() -> Option<Refused> {
    Refused::new(
        "arrays cannot be put in order: one of their elements may be NULL",
        "compare their elements",
    )
}

/// Types have been made equal already: 15 digits after the point are what is given to a float.
fn loses_digits(values: &Values) -> Option<Refused> {
    let is_lost = |cell: &Expr| {
        let Expr::Cast(Cast { expr, field }) = cell else { return false };
        let (Expr::Literal(ScalarValue::Float64(Some(number)), _), DataType::Decimal128(_, scale)) =
            (expr.as_ref(), field.data_type())
        else {
            return false;
        };
        *scale >= 15 && decimals::digits(*number).is_none_or(|(_, needed)| needed > *scale)
    };
    if !values.values.iter().flatten().any(is_lost) {
        return None;
    }
    Refused::new("a float beside a decimal in VALUES loses digits", "CAST the decimals to DOUBLE")
}
