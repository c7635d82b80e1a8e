//! The value of a parameter: what `$name` stands for in a query.

use serde::{Deserialize, Serialize};

use crate::decimal::Decimal;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamValue {
    Int(i64),
    Float(f64),
    /// A number that neither 64 bits nor a float hold.
    Decimal(Decimal),
    Text(String),
    Bool(bool),
}

impl ParamValue {
    /// Value of a text that has no type, as on a command line.
    ///
    /// A number is what is written as one and stays what it is: `007`, `+5` and `inf` are text, an integer that 64
    /// bits do not hold and a fraction that a float would change are decimals. Quotes make a text of anything.
    pub fn guess(value: &str) -> Self {
        match value {
            "true" => return ParamValue::Bool(true),
            "false" => return ParamValue::Bool(false),
            _ => {}
        }
        if let Some(quoted) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return ParamValue::Text(quoted.to_string());
        }
        number(value).unwrap_or_else(|| ParamValue::Text(value.to_string()))
    }
}

impl From<i64> for ParamValue {
    fn from(value: i64) -> Self {
        ParamValue::Int(value)
    }
}

impl From<i32> for ParamValue {
    fn from(value: i32) -> Self {
        ParamValue::Int(value.into())
    }
}

impl From<f64> for ParamValue {
    fn from(value: f64) -> Self {
        ParamValue::Float(value)
    }
}

impl From<bool> for ParamValue {
    fn from(value: bool) -> Self {
        ParamValue::Bool(value)
    }
}

impl From<Decimal> for ParamValue {
    fn from(value: Decimal) -> Self {
        ParamValue::Decimal(value)
    }
}

impl From<&str> for ParamValue {
    fn from(value: &str) -> Self {
        ParamValue::Text(value.to_string())
    }
}

impl From<String> for ParamValue {
    fn from(value: String) -> Self {
        ParamValue::Text(value)
    }
}

/// The number, unless it is not written as one or no type holds all of it.
fn number(value: &str) -> Option<ParamValue> {
    let (mantissa, exponent) = match value.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (value, None),
    };
    let digits = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let has_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = has_digits(whole) && (whole == "0" || !whole.starts_with('0'));
    let is_fraction = fraction.is_none_or(|fraction| !fraction.is_empty() && has_digits(fraction));
    if !is_whole || !is_fraction || (whole.is_empty() && fraction.is_none()) {
        return None;
    }
    if exponent.is_some() {
        let is_finite = |float: &f64| float.is_finite();
        return value.parse().ok().filter(is_finite).map(ParamValue::Float);
    }
    match fraction {
        None => integer(value),
        Some(_) => fractional(value),
    }
}

fn integer(value: &str) -> Option<ParamValue> {
    match value.parse() {
        // Minus zero would lose its sign.
        Ok(int) if value != "-0" => Some(ParamValue::Int(int)),
        Ok(_) => None,
        Err(_) => decimal(value),
    }
}

/// A float, if that prints the same digits.
fn fractional(value: &str) -> Option<ParamValue> {
    let float: f64 = value.parse().ok()?;
    let printed = float.to_string();
    let canonical = value.trim_end_matches('0').trim_end_matches('.');
    let canonical =
        canonical.strip_prefix('.').map_or(canonical.to_string(), |rest| format!("0.{rest}"));
    let canonical = match canonical.strip_prefix("-.") {
        Some(rest) => format!("-0.{rest}"),
        None => canonical,
    };
    if printed == canonical {
        return Some(ParamValue::Float(float));
    }
    decimal(value)
}

fn decimal(value: &str) -> Option<ParamValue> {
    value.parse().ok().map(ParamValue::Decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> ParamValue {
        ParamValue::Text(value.to_string())
    }

    fn decimal(value: &str) -> ParamValue {
        ParamValue::Decimal(value.parse().unwrap())
    }

    #[test]
    fn numbers_stay_what_they_are() {
        for (value, expected) in [
            ("7", ParamValue::Int(7)),
            ("-7", ParamValue::Int(-7)),
            ("0", ParamValue::Int(0)),
            ("9223372036854775807", ParamValue::Int(i64::MAX)),
            ("-9223372036854775808", ParamValue::Int(i64::MIN)),
            ("9223372036854775808", decimal("9223372036854775808")),
            ("-18446744073709551616", decimal("-18446744073709551616")),
            ("0.5", ParamValue::Float(0.5)),
            (".5", ParamValue::Float(0.5)),
            ("-.5", ParamValue::Float(-0.5)),
            ("1.50", ParamValue::Float(1.5)),
            ("2.0", ParamValue::Float(2.0)),
            ("0.10000000000000000001", decimal("0.10000000000000000001")),
            ("1e3", ParamValue::Float(1000.0)),
            ("-2.5E-3", ParamValue::Float(-0.0025)),
        ] {
            assert_eq!(ParamValue::guess(value), expected, "{value}");
        }
    }

    #[test]
    fn what_would_change_as_a_number_is_text() {
        let long = "9".repeat(39);
        let words = [
            "007", "-007", "00", "+5", "-0", "1.", ".", "-", "", "1e999", "nan", "inf", "-inf",
            "Infinity", "0x10", "1_000", "1,5", "12 ", "00.5", "e5", &long,
        ];
        for value in words {
            assert_eq!(ParamValue::guess(value), text(value));
        }
        assert_eq!(ParamValue::guess("'7'"), text("7"));
        assert_eq!(ParamValue::guess("true"), ParamValue::Bool(true));
    }
}
