//! Pass: calls that DataFusion answers wrongly, said otherwise.
//!
//! ```text
//! date_part('year', t)             as_is(date_part('year', t))
//! date_part('hour', t - u)         interval_part('hour', t - u)
//! lpad(s, n, 'x')                  lpad(s, CASE WHEN n < 0 THEN 0 ELSE n END, 'x')
//! round(f, n), trunc(f, n)         round_digits(f, n), trunc_digits(f, n)
//! regexp_replace(s, p, '$1')  ==>  regexp_replace(s, p, '$$1')
//! split_part(s, 'XX', -1)          split_part_back(s, 'XX', -1)
//! array_remove(a, x)               CASE WHEN x IS NULL THEN without_nulls(a) ELSE array_remove_all(a, x) END
//! array_replace(a, x, y)           array_replace_all(a, x, y)
//! array_sort(a)                    array_sort(a, 'ASC', 'NULLS LAST')
//! date_trunc('millisecond', t)     last_step(t, 1000000)
//! concat_ws(s, NULL, NULL)         CASE WHEN s IS NULL THEN NULL ELSE '' END
//! to_timestamp(f)                  to_timestamp(in_time(f))
//! ```
//!
//! A comparison with a year becomes one with the times at its ends, which may be none; a difference of times has all of its hours, and no
//! fractions of seconds; a negative length panics; a power of ten
//! may be infinite; `$1` is no group elsewhere; delimiters are looked for from the wrong end; only the first element goes, and
//! NULL never; NULL is the smallest; times before 1970 are cut off upwards; NULLs are not counted as arguments; infinity is the last
//! timestamp.

use arrow::datatypes::{DataType, TimeUnit};
use caudal_functions::exact::{
    Digits, IntervalPart, Step, as_is, in_time, interval_part, replacement, split_part_back,
    to_digits, to_step, translate_replacement, without_nulls,
};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions_nested::remove::array_remove_all_udf;
use datafusion::functions_nested::replace::array_replace_all_udf;
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, cast, lit, when};
use datafusion::scalar::ScalarValue;

use crate::expressions;

pub fn say_otherwise(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, |part, schema| match part {
        Expr::ScalarFunction(call) => match otherwise(&call, schema)? {
            Some(made) => same_type(made, Expr::ScalarFunction(call), schema).map(Transformed::yes),
            None => Ok(Transformed::no(Expr::ScalarFunction(call))),
        },
        other => Ok(Transformed::no(other)),
    })
}

/// Casts a rewritten call to the type that it had before.
fn same_type(made: Expr, before: Expr, schema: &DFSchema) -> Result<Expr> {
    match before.get_type(schema) {
        Ok(kind) if made.get_type(schema)? != kind => Ok(cast(made, kind)),
        _ => Ok(made),
    }
}

fn otherwise(call: &ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    let kind = |value: &Expr| value.get_type(schema).ok();
    let is_integer = |value: &Expr| kind(value).is_some_and(|kind| kind.is_integer());
    let again = |arguments: Vec<Expr>| call.func.call(arguments);
    let arguments = || call.args.clone();
    Ok(match (call.name(), call.args.as_slice()) {
        ("date_part", [part, value])
            if kind(value).is_some_and(|kind| is_interval(&kind))
                && text(part).and_then(IntervalPart::named).is_some() =>
        {
            Some(interval_part().call(arguments()))
        }
        ("date_part", [part, _]) if text(part).is_none_or(is_year) => {
            Some(as_is().call(vec![again(arguments())]))
        }
        ("lpad" | "rpad", [_, length, ..])
            if is_integer(length)
                && !matches!(length, Expr::Literal(ScalarValue::Int64(Some(0..)), _)) =>
        {
            let mut arguments = arguments();
            let length = cast(length.clone(), DataType::Int64);
            arguments[1] = when(length.clone().lt(lit(0_i64)), lit(0_i64)).otherwise(length)?;
            Some(again(arguments))
        }
        (name @ ("round" | "trunc"), [value, digits])
            if is_integer(digits) && kind(value).is_some_and(|kind| kind.is_floating()) =>
        {
            let digits = if name == "round" { Digits::Round } else { Digits::Trunc };
            Some(to_digits(digits).call(arguments()))
        }
        ("regexp_replace", [_, _, with, ..]) => {
            let mut arguments = arguments();
            arguments[2] = match text(with) {
                Some(text) => lit(translate_replacement(text)),
                None => replacement().call(vec![with.clone()]),
            };
            Some(again(arguments))
        }
        ("split_part", [_, delimiter, number]) if !is_plain_split(delimiter, number) => {
            Some(split_part_back().call(arguments()))
        }
        ("array_remove" | "array_remove_all", [array, element]) => {
            Some(removed(array, element, &kind(element))?)
        }
        ("array_replace", [_, _, _]) => Some(array_replace_all_udf().call(arguments())),
        ("array_sort", [array]) => Some(again(vec![array.clone(), lit("ASC"), lit("NULLS LAST")])),
        ("array_sort", [array, order]) => {
            let is_down = text(order).is_some_and(|order| order.eq_ignore_ascii_case("desc"));
            let nulls = if is_down { "NULLS FIRST" } else { "NULLS LAST" };
            Some(again(vec![array.clone(), order.clone(), lit(nulls)]))
        }
        ("date_trunc", [part, time]) => {
            let step = text(part).zip(kind(time)).and_then(|(part, kind)| step(part, &kind));
            step.map(|step| to_step(Step::Last).call(vec![time.clone(), lit(step)]))
        }
        ("to_timestamp", [value]) if kind(value).is_some_and(|kind| kind.is_floating()) => {
            Some(again(vec![in_time().call(arguments())]))
        }
        ("concat_ws", [separator, rest @ ..]) if !rest.is_empty() && rest.iter().all(is_null) => {
            let unknown = lit(ScalarValue::Utf8(None));
            Some(when(separator.clone().is_null(), unknown).otherwise(lit(""))?)
        }
        _ => None,
    })
}

/// An array without an element, which may be NULL.
fn removed(array: &Expr, element: &Expr, kind: &Option<DataType>) -> Result<Expr> {
    let known = without_nulls().call(vec![array.clone()]);
    if is_null(element) || *kind == Some(DataType::Null) {
        return Ok(known);
    }
    let removed = array_remove_all_udf().call(vec![array.clone(), element.clone()]);
    match element {
        Expr::Literal(..) => Ok(removed),
        _ => when(element.clone().is_null(), known).otherwise(removed),
    }
}

fn text(value: &Expr) -> Option<&str> {
    match value {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    }
}

fn is_null(value: &Expr) -> bool {
    match value {
        Expr::Literal(value, _) => value.is_null(),
        Expr::Cast(Cast { expr, .. }) => is_null(expr),
        _ => false,
    }
}

fn is_interval(kind: &DataType) -> bool {
    matches!(kind, DataType::Interval(_) | DataType::Duration(_))
}

fn is_year(part: &str) -> bool {
    part.trim_matches(['\'', '"']).to_ascii_lowercase().starts_with('y')
}

/// Whether the parts are counted from the start, or their delimiter is found in one way only.
fn is_plain_split(delimiter: &Expr, number: &Expr) -> bool {
    let is_short = text(delimiter).is_some_and(|text| text.chars().count() == 1);
    is_short || matches!(number, Expr::Literal(ScalarValue::Int64(Some(1..)), _))
}

/// Number of units of a timestamp in a millisecond, or in a microsecond.
fn step(part: &str, kind: &DataType) -> Option<i64> {
    let DataType::Timestamp(unit, _) = kind else { return None };
    match (part.to_ascii_lowercase().as_str(), unit) {
        ("millisecond", TimeUnit::Nanosecond) => Some(1_000_000),
        ("millisecond", TimeUnit::Microsecond) => Some(1_000),
        ("microsecond", TimeUnit::Nanosecond) => Some(1_000),
        _ => None,
    }
}
