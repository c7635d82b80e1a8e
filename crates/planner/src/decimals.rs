//! Pass: a decimal beside a float becomes a float, unless the float is a constant that can become a decimal.
//!
//! ```text
//! t.price < u.f                 CAST(t.price AS DOUBLE) < u.f
//! t.price < 1e-16         ==>   t.price < Decimal(1, 16 digits after the point)
//! CAST(1.5 AS DECIMAL(38, 25))  CAST(Decimal(15, 1 digit after the point) AS DECIMAL(38, 25))
//! coalesce(t.price, u.f)        coalesce(CAST(t.price AS DOUBLE), u.f)
//! ```
//!
//! DataFusion makes a decimal with 15 digits after the point of the float: `1e-16` becomes zero, and infinity an error. As in PostgreSQL
//! a number that is written down is exact, and a float beside a decimal makes a float of it. So it is wherever types are made
//! equal: comparisons, lists, CASE, some functions, the keys of joins, set operations, IN with a subquery.

use std::sync::Arc;

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType};
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{
    Between, Case, Cast, InList, InSubquery, SetComparison, TryCast,
};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Join, LogicalPlan, LogicalPlanBuilder, Operator, Subquery,
    Union, cast, lit,
};
use datafusion::scalar::ScalarValue;

use crate::expressions::makes_alike;
use crate::expressions::{rewrite_node, with_types_of_inputs};

pub fn beside_floats(plan: LogicalPlan) -> Result<LogicalPlan> {
    // Once a column has another type, so may all that is made of it.
    let mut any_changed = false;
    plan.transform_up_with_subqueries(|node| {
        let node = if any_changed { with_types_of_inputs(node)? } else { node };
        let rewritten = rewrite_node(node, alike)?.transform_data(|node| match node {
            LogicalPlan::Union(union) => sides(union),
            LogicalPlan::Join(join) => keys(join),
            other => Ok(Transformed::no(other)),
        })?;
        any_changed |= rewritten.transformed;
        Ok(rewritten)
    })
    .data()
}

fn alike(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let kind = |value: &Expr| value.get_type(schema).ok();
    match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            let sides = vec![*left, *right];
            rebuilt(sides, kind, |sides| {
                let [left, right] = two(sides);
                Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
            })
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            rebuilt(vec![*expr, *low, *high], kind, |values| {
                let [expr, low, high] = three(values);
                Expr::Between(Between::new(Box::new(expr), negated, Box::new(low), Box::new(high)))
            })
        }
        Expr::InList(InList { expr, mut list, negated }) => {
            list.push(*expr);
            rebuilt(list, kind, |mut list| {
                let expr = Box::new(list.pop().unwrap_or_default());
                Expr::InList(InList { expr, list, negated })
            })
        }
        Expr::Case(case) => in_case(case, kind),
        Expr::ScalarFunction(call) if makes_alike(call.name()) => {
            rebuilt(call.args, kind, |arguments| call.func.call(arguments))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            let (expr, subquery) = looked_up(*expr, subquery, schema)?;
            Ok(subquery.update_data(|subquery| {
                Expr::InSubquery(InSubquery { expr: Box::new(expr), subquery, negated })
            }))
        }
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            let (expr, subquery) = looked_up(*expr, subquery, schema)?;
            Ok(subquery.update_data(|subquery| {
                let expr = Box::new(expr);
                Expr::SetComparison(SetComparison { expr, subquery, op, quantifier })
            }))
        }
        // Also a constant that is computed.
        Expr::Cast(Cast { expr, field }) if field.data_type().is_decimal() => {
            Ok(read(*expr, kind)
                .update_data(|expr| Expr::Cast(Cast { expr: Box::new(expr), field })))
        }
        Expr::TryCast(TryCast { expr, field }) if field.data_type().is_decimal() => {
            Ok(read(*expr, kind)
                .update_data(|expr| Expr::TryCast(TryCast { expr: Box::new(expr), field })))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// A value that is made a decimal: a constant float by its digits, not by its bits.
fn read(value: Expr, kind: impl Fn(&Expr) -> Option<DataType>) -> Transformed<Expr> {
    let is_float = kind(&value).is_some_and(|kind| kind.is_floating());
    match constant(&value).filter(|_| is_float).and_then(literal) {
        Some(exact) => Transformed::yes(exact),
        None => Transformed::no(value),
    }
}

fn in_case(case: Case, kind: impl Fn(&Expr) -> Option<DataType>) -> Result<Transformed<Expr>> {
    let Case { expr, when_then_expr, else_expr } = case;
    let has_else = else_expr.is_some();
    let (whens, thens): (Vec<_>, Vec<_>) =
        when_then_expr.into_iter().map(|(when, then)| (*when, *then)).unzip();
    let results = thens.into_iter().chain(else_expr.map(|result| *result)).collect();
    let mut results = made_alike(results, &kind);
    // Without a value they are conditions, which are no numbers.
    let compared = whens.into_iter().chain(expr.map(|value| *value)).collect::<Vec<_>>();
    let has_value = compared.len() > results.data.len() - usize::from(has_else);
    let mut compared = made_alike(compared, &kind);
    let expr = if has_value { compared.data.pop().map(Box::new) } else { None };
    let else_expr = if has_else { results.data.pop().map(Box::new) } else { None };
    let cases = compared.data.into_iter().zip(results.data);
    let when_then_expr = cases.map(|(when, then)| (Box::new(when), Box::new(then))).collect();
    let changed = compared.transformed || results.transformed;
    let case = Expr::Case(Case { expr, when_then_expr, else_expr });
    Ok(Transformed::new_transformed(case, changed))
}

fn rebuilt(
    values: Vec<Expr>,
    kind: impl Fn(&Expr) -> Option<DataType>,
    build: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<Transformed<Expr>> {
    Ok(made_alike(values, kind).update_data(build))
}

/// Values that DataFusion would make one type: as they are, unless there are both decimals and floats.
fn made_alike(
    values: Vec<Expr>,
    kind: impl Fn(&Expr) -> Option<DataType>,
) -> Transformed<Vec<Expr>> {
    let kinds: Vec<_> = values.iter().map(&kind).collect();
    let is_decimal = |kind: &Option<DataType>| kind.as_ref().is_some_and(DataType::is_decimal);
    let is_float = |kind: &Option<DataType>| kind.as_ref().is_some_and(DataType::is_floating);
    if !kinds.iter().any(is_decimal) || !kinds.iter().any(is_float) {
        return Transformed::no(values);
    }
    if let Some(decimals) = as_decimals(&values, &kinds) {
        return Transformed::yes(decimals);
    }
    let made = values.into_iter().zip(kinds).map(|(value, kind)| match is_decimal(&kind) {
        true => cast(value, DataType::Float64),
        false => value,
    });
    Transformed::yes(made.collect())
}

/// All of them as decimals that lose nothing when they are made one type: if all floats are constants, and have few digits.
fn as_decimals(values: &[Expr], kinds: &[Option<DataType>]) -> Option<Vec<Expr>> {
    let made = values.iter().zip(kinds).map(|(value, kind)| match kind {
        Some(kind) if kind.is_floating() => decimal(value),
        _ => Some(value.clone()),
    });
    let made: Vec<Expr> = made.collect::<Option<_>>()?;
    let (mut before_point, mut after_point) = (0, 0);
    for (value, kind) in made.iter().zip(kinds) {
        let (precision, scale) = match (value, kind) {
            (Expr::Literal(ScalarValue::Decimal128(_, precision, scale), _), _)
            | (_, Some(DataType::Decimal128(precision, scale))) => (*precision, *scale),
            (_, Some(kind)) if kind.is_integer() => (20, 0),
            (_, Some(DataType::Null)) => (1, 0),
            _ => return None,
        };
        before_point = before_point.max(i16::from(precision) - i16::from(scale));
        after_point = after_point.max(i16::from(scale));
    }
    (before_point + after_point <= i16::from(DECIMAL128_MAX_PRECISION)).then_some(made)
}

/// A constant as it was written.
fn decimal(value: &Expr) -> Option<Expr> {
    if matches!(value, Expr::Literal(ScalarValue::Float64(None), _)) {
        return Some(lit(ScalarValue::Null));
    }
    constant(value).and_then(literal)
}

fn literal((digits, scale): (i128, i8)) -> Option<Expr> {
    let places = digits.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
    let precision = u8::try_from(places).ok()?.max(scale.unsigned_abs());
    (precision <= DECIMAL128_MAX_PRECISION)
        .then(|| lit(ScalarValue::Decimal128(Some(digits), precision, scale)))
}

/// The digits of what is computed of constants, as exact as they are: `0.06 + 0.01` is `0.07`, which as a float it is not.
fn constant(value: &Expr) -> Option<(i128, i8)> {
    match value {
        Expr::Literal(ScalarValue::Float64(Some(number)), _) => digits(*number),
        Expr::Literal(ScalarValue::Int64(Some(number)), _) => Some(((*number).into(), 0)),
        Expr::Cast(cast) => {
            let (text, scale) = text_of(cast)?;
            Some((text.replace('.', "").parse().ok()?, scale))
        }
        Expr::Negative(inner) => constant(inner).map(|(digits, scale)| (-digits, scale)),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let ((left, of_left), (right, of_right)) = (constant(left)?, constant(right)?);
            if *op == Operator::Multiply {
                return left.checked_mul(right).zip(of_left.checked_add(of_right));
            }
            let scale = of_left.max(of_right);
            let to_scale = |digits: i128, of: i8| {
                digits.checked_mul(10_i128.checked_pow((scale - of).unsigned_abs().into())?)
            };
            let (left, right) = (to_scale(left, of_left)?, to_scale(right, of_right)?);
            match op {
                Operator::Plus => left.checked_add(right).map(|digits| (digits, scale)),
                Operator::Minus => left.checked_sub(right).map(|digits| (digits, scale)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The text of a constant that is a decimal.
pub fn written(value: &Expr) -> Option<String> {
    match value {
        Expr::Negative(inner) => written(inner).map(|text| format!("-{text}")),
        Expr::Literal(ScalarValue::Decimal128(Some(digits), _, scale), _) => {
            Some(format!("{digits}e{}", -i16::from(*scale)))
        }
        Expr::Cast(cast) => text_of(cast).map(|(text, _)| text.to_string()),
        _ => None,
    }
}

/// A decimal as it is written in a plan, with all the digits that it has: rounded it would be another number.
fn text_of(cast: &Cast) -> Option<(&str, i8)> {
    let Expr::Literal(text, _) = cast.expr.as_ref() else { return None };
    let text = text.try_as_str().flatten()?;
    let (precision, scale) = match cast.field.data_type() {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            (*precision, *scale)
        }
        _ => return None,
    };
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    let is_exact = [before, after].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
        && after.len() == usize::try_from(scale).ok()?
        && before.trim_start_matches('0').len() + after.len() <= usize::from(precision);
    is_exact.then_some((text, scale))
}

/// The digits of a float, and how many of them are after the point.
pub fn digits(number: f64) -> Option<(i128, i8)> {
    if !number.is_finite() {
        return None;
    }
    let written = format!("{number:e}");
    let (written, exponent) = written.split_once('e')?;
    let after_point = written.split_once('.').map_or(0, |(_, after)| after.len());
    let digits: i128 = written.replace('.', "").parse().ok()?;
    let scale = i32::try_from(after_point).ok()? - exponent.parse::<i32>().ok()?;
    let largest = i32::from(DECIMAL128_MAX_PRECISION);
    if scale > 0 {
        return (scale <= largest).then_some((digits, scale as i8));
    }
    let digits = digits.checked_mul(10_i128.checked_pow(scale.unsigned_abs())?)?;
    (digits.unsigned_abs() < 10_u128.pow(u32::from(DECIMAL128_MAX_PRECISION)))
        .then_some((digits, 0))
}

/// A value and the one column of a subquery in which it is looked up.
fn looked_up(
    value: Expr,
    subquery: Subquery,
    schema: &DFSchema,
) -> Result<(Expr, Transformed<Subquery>)> {
    let column = subquery.subquery.schema().fields().first().map(|field| field.data_type().clone());
    let (Ok(kind), Some(column)) = (value.get_type(schema), column) else {
        return Ok((value, Transformed::no(subquery)));
    };
    if kind.is_decimal() && column.is_floating() {
        return Ok((cast(value, DataType::Float64), Transformed::yes(subquery)));
    }
    if !(kind.is_floating() && column.is_decimal()) {
        return Ok((value, Transformed::no(subquery)));
    }
    let plan = as_floats(&subquery.subquery, |_| true)?;
    Ok((value, Transformed::yes(Subquery { subquery: Arc::new(plan), ..subquery })))
}

/// A plan some of whose decimals are floats.
fn as_floats(plan: &LogicalPlan, becomes_float: impl Fn(usize) -> bool) -> Result<LogicalPlan> {
    let columns = plan.schema().iter().enumerate().map(|(at, (qualifier, field))| {
        let column = Expr::Column(Column::from((qualifier, field)));
        match field.data_type().is_decimal() && becomes_float(at) {
            true => {
                cast(column, DataType::Float64).alias_qualified(qualifier.cloned(), field.name())
            }
            false => column,
        }
    });
    let columns: Vec<_> = columns.collect();
    LogicalPlanBuilder::from(plan.clone()).project(columns)?.build()
}

fn sides(union: Union) -> Result<Transformed<LogicalPlan>> {
    let has = |at: usize, is: fn(&DataType) -> bool| {
        let mut schemas = union.inputs.iter().map(|input| input.schema());
        schemas.any(|schema| schema.fields().get(at).is_some_and(|field| is(field.data_type())))
    };
    let is_mixed = |at: usize| has(at, DataType::is_decimal) && has(at, DataType::is_floating);
    if !(0..union.schema.fields().len()).any(is_mixed) {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let inputs = union.inputs.iter().map(|input| as_floats(input, is_mixed).map(Arc::new));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let union = Union::try_new_with_loose_types(inputs)?;
    Ok(Transformed::yes(LogicalPlan::Union(union)))
}

fn keys(mut join: Join) -> Result<Transformed<LogicalPlan>> {
    let mut changed = false;
    for (left, right) in &mut join.on {
        let kinds = (left.get_type(join.left.schema()), right.get_type(join.right.schema()));
        let (Ok(of_left), Ok(of_right)) = kinds else { continue };
        let decimal = if of_left.is_decimal() && of_right.is_floating() {
            left
        } else if of_left.is_floating() && of_right.is_decimal() {
            right
        } else {
            continue;
        };
        *decimal = cast(std::mem::take(decimal), DataType::Float64);
        changed = true;
    }
    Ok(Transformed::new_transformed(LogicalPlan::Join(join), changed))
}

fn two(values: Vec<Expr>) -> [Expr; 2] {
    let mut values = values.into_iter();
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

fn three(values: Vec<Expr>) -> [Expr; 3] {
    let mut values = values.into_iter();
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimals_of_the_digits_that_they_are_written_with() {
        assert_eq!(digits(0.5), Some((5, 1)));
        assert_eq!(digits(1e-16), Some((1, 16)));
        assert_eq!(digits(-12.25), Some((-1225, 2)));
        assert_eq!(digits(1e20), Some((100_000_000_000_000_000_000, 0)));
        assert_eq!(digits(0.0), Some((0, 0)));
        assert_eq!(digits(1e-300), None);
        assert_eq!(digits(1e300), None);
        assert_eq!(digits(f64::NAN), None);
    }

    #[test]
    fn constants_are_computed_exactly() {
        let (left, right) = (lit(0.06), lit(0.01));
        assert_eq!(constant(&(left.clone() + right.clone())), Some((7, 2)));
        assert_eq!(constant(&(left.clone() - right.clone())), Some((5, 2)));
        assert_eq!(constant(&(lit(3_i64) * right)), Some((3, 2)));
        assert_eq!(constant(&(left / lit(7_i64))), None);
    }
}
