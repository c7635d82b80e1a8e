//! Pass: numbers that neither 64 bits nor a float hold are decimals.
//!
//! ```text
//! SELECT 9223372036854775808     ==>     SELECT CAST('9223372036854775808' AS DECIMAL(19, 0))
//! SELECT 90071992547409.93       ==>     SELECT CAST('90071992547409.93' AS DECIMAL(16, 2))
//! ```
//!
//! DataFusion would read them as floats, in which one cannot be told from the next. A float holds a number if it is written with
//! the same digits again: then they can be had of it ([`decimals`](crate::decimals)). Where a decimal becomes a float
//! after all, it becomes the nearest ([`NearestFloats`]).

use std::ops::ControlFlow;

use arrow::datatypes::DataType as arrow;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{self as logical, LogicalPlan, lit};
use datafusion::optimizer::AnalyzerRule;
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Spanned, Statement, UnaryOperator, Value, VisitMut,
    VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::{decimals, expressions};

/// The digits of the largest decimal there is.
const DIGITS_MAX: usize = 76;

/// Of the smallest integer, without its sign.
const SMALLEST_INTEGER: &str = "9223372036854775808";

/// The place of an integer that no type holds, if there is one.
pub fn keep_exact(statement: &mut Statement) -> std::result::Result<(), Location> {
    match VisitMut::visit(statement, &mut Literals { is_negative: false }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(place) => Err(place),
    }
}

struct Literals {
    /// The next expression is what a minus stands before.
    is_negative: bool,
}

impl VisitorMut for Literals {
    type Break = Location;

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Location> {
        let is_negative = std::mem::take(&mut self.is_negative);
        match expression {
            Expr::UnaryOp { op: UnaryOperator::Minus, .. } => self.is_negative = true,
            Expr::Value(value) => {
                let Value::Number(text, _) = &value.value else { return ControlFlow::Continue(()) };
                if let Some(digits) = large_integer(text) {
                    if is_negative && digits == SMALLEST_INTEGER {
                        return ControlFlow::Continue(());
                    }
                    if digits.len() > DIGITS_MAX {
                        return ControlFlow::Break(expression.span().start);
                    }
                    *expression = decimal(digits, 0);
                } else if let Some((digits, scale)) = lost_in_floats(text) {
                    *expression = decimal(digits, scale);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The digits of an integer beyond 64 bits, none of any other number.
fn large_integer(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_integer || digits.parse::<i64>().is_ok() {
        return None;
    }
    Some(digits.trim_start_matches('0').to_string())
}

/// A number: its digits, of which the first and the last are not zero, and how many of them are after the point.
#[derive(Debug, PartialEq, Eq)]
struct Digits {
    digits: String,
    scale: i64,
}

impl Digits {
    fn of(text: &str) -> Option<Self> {
        let (written, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, after) = written.split_once('.').unwrap_or((written, ""));
        let all = format!("{before}{after}");
        if !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_end_matches('0');
        let zeros = all.len() - significant.len();
        let scale = i64::try_from(after.len()).ok()? - i64::try_from(zeros).ok()?;
        let scale = scale.checked_sub(exponent.parse::<i32>().ok()?.into())?;
        Some(Self { digits: significant.trim_start_matches('0').to_string(), scale })
    }
}

/// The digits of a number that no float is written as, and how many of them are after the point: if a decimal can hold it.
fn lost_in_floats(text: &str) -> Option<(String, usize)> {
    if !text.contains(['.', 'e', 'E']) {
        return None;
    }
    let number = Digits::of(text)?;
    let float = Digits::of(&format!("{:e}", text.parse::<f64>().ok()?));
    if number.digits.is_empty() || float.as_ref() == Some(&number) {
        return None;
    }
    let Digits { mut digits, scale } = number;
    let zeros = usize::try_from(-scale).unwrap_or(0);
    if digits.len() + zeros > DIGITS_MAX {
        return None;
    }
    digits.extend(std::iter::repeat_n('0', zeros));
    let scale = usize::try_from(scale).unwrap_or(0);
    (scale <= DIGITS_MAX).then_some((digits, scale))
}

fn decimal(digits: String, scale: usize) -> Expr {
    let precision = digits.len().max(scale);
    let text = match scale {
        0 => digits,
        _ => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (before, after) = digits.split_at(digits.len() - scale);
            format!("{before}.{after}")
        }
    };
    let info = ExactNumberInfo::PrecisionAndScale(precision as u64, scale as i64);
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::SingleQuotedString(text).into())),
        data_type: DataType::Decimal(info),
        array: false,
        format: None,
    }
}

/// A step of the analyzer: a constant decimal that is made a float is the nearest one. The cast would divide its digits, and
/// round twice.
#[derive(Debug)]
pub struct NearestFloats;

impl AnalyzerRule for NearestFloats {
    fn name(&self) -> &str {
        "nearest_floats"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        expressions::rewrite(plan, |part, _| match &part {
            logical::Expr::Cast(cast) if *cast.field.data_type() == arrow::Float64 => {
                Ok(match decimals::written(&cast.expr).and_then(|text| text.parse::<f64>().ok()) {
                    Some(float) => Transformed::yes(lit(float)),
                    None => Transformed::no(part),
                })
            }
            _ => Ok(Transformed::no(part)),
        })
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn exact(sql: &str) -> std::result::Result<String, Location> {
        let mut statement = Parser::parse_sql(&GenericDialect {}, sql).unwrap().remove(0);
        keep_exact(&mut statement).map(|()| statement.to_string())
    }

    #[test]
    fn large_integers_are_decimals() {
        for (sql, expected) in [
            ("9223372036854775808", "CAST('9223372036854775808' AS DECIMAL(19,0))"),
            ("-9223372036854775809", "-CAST('9223372036854775809' AS DECIMAL(19,0))"),
            ("0018446744073709551616", "CAST('18446744073709551616' AS DECIMAL(20,0))"),
            ("90071992547409.93", "CAST('90071992547409.93' AS DECIMAL(16,2))"),
            ("-123456789012345678901.5", "-CAST('123456789012345678901.5' AS DECIMAL(22,1))"),
            ("12345678901234567.89e3", "CAST('12345678901234567890' AS DECIMAL(20,0))"),
            ("0.000012345678901234567", "CAST('0.000012345678901234567' AS DECIMAL(21,21))"),
        ] {
            assert_eq!(exact(&format!("SELECT {sql}")).unwrap(), format!("SELECT {expected}"));
        }
    }

    #[test]
    fn others_stay_what_they_are() {
        for sql in [
            "9223372036854775807",
            "-9223372036854775808",
            "1e30",
            "1.5",
            "0.30000000000000004",
            "3.141592653589793",
            "100.00000000000000000000",
            "1.234567890123456789e-300",
            "0.0",
            "'9223372036854775808'",
        ] {
            let sql = format!("SELECT {sql}");
            assert_eq!(exact(&sql).unwrap(), sql);
        }
    }

    #[test]
    fn what_no_type_holds_is_refused_with_its_place() {
        assert!(exact(&format!("SELECT {}", "9".repeat(76))).is_ok());
        let place = exact(&format!("SELECT 1, {}", "9".repeat(77))).unwrap_err();
        assert_eq!((place.line, place.column), (1, 11));
    }
}
