//! Pass: integers that 64 bits do not hold are decimals.
//!
//! ```text
//! SELECT 9223372036854775808     ==>     SELECT CAST('9223372036854775808' AS DECIMAL(19, 0))
//! ```
//!
//! DataFusion would read them as floats, in which one cannot be told from the next.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Spanned, Statement, UnaryOperator, Value, VisitMut,
    VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Location;

/// The digits of the largest decimal there is.
const DIGITS_MAX: usize = 76;

/// Of the smallest integer, without its sign.
const SMALLEST_INTEGER: &str = "9223372036854775808";

/// The place of an integer that no type holds, if there is one.
pub fn keep_exact(statement: &mut Statement) -> Result<(), Location> {
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
                if let Value::Number(text, _) = &value.value
                    && let Some(digits) = large_integer(text)
                    && !(is_negative && digits == SMALLEST_INTEGER)
                {
                    if digits.len() > DIGITS_MAX {
                        return ControlFlow::Break(expression.span().start);
                    }
                    *expression = decimal(digits);
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

fn decimal(digits: String) -> Expr {
    let info = ExactNumberInfo::PrecisionAndScale(digits.len() as u64, 0);
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::SingleQuotedString(digits).into())),
        data_type: DataType::Decimal(info),
        array: false,
        format: None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn exact(sql: &str) -> Result<String, Location> {
        let mut statement = Parser::parse_sql(&GenericDialect {}, sql).unwrap().remove(0);
        keep_exact(&mut statement).map(|()| statement.to_string())
    }

    #[test]
    fn large_integers_are_decimals() {
        for (sql, expected) in [
            ("9223372036854775808", "CAST('9223372036854775808' AS DECIMAL(19,0))"),
            ("-9223372036854775809", "-CAST('9223372036854775809' AS DECIMAL(19,0))"),
            ("0018446744073709551616", "CAST('18446744073709551616' AS DECIMAL(20,0))"),
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
            "123456789012345678901.5",
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
