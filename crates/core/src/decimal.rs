//! A decimal number as a parameter carries it: all its digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The digits that a decimal has at most: those of 128 bits.
const DIGITS_MAX: usize = 38;

/// `units` by ten to the power of minus `scale`. In JSON it is a text: numbers there end, in most programs, where
/// floats do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Decimal {
    units: i128,
    scale: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a decimal of at most 38 digits")]
pub struct NotADecimal(String);

impl Decimal {
    pub fn units(self) -> i128 {
        self.units
    }

    /// The number of its digits behind the point.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// The number of its digits, at least those behind the point.
    pub fn digits(self) -> u8 {
        let digits = self.units.unsigned_abs().checked_ilog10().map_or(1, |log| log as u8 + 1);
        digits.max(self.scale)
    }
}

impl FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Self, NotADecimal> {
        let error = || NotADecimal(text.to_string());
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let digits = format!("{whole}{fraction}");
        let is_short = digits.trim_start_matches('0').len() <= DIGITS_MAX;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || !is_short {
            return Err(error());
        }
        let units: i128 = digits.parse().map_err(|_| error())?;
        let scale = u8::try_from(fraction.len()).ok().filter(|scale| *scale <= DIGITS_MAX as u8);
        let units = if text.starts_with('-') { -units } else { units };
        Ok(Self { units, scale: scale.ok_or_else(error)? })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let digits = format!("{:0>1$}", self.units.unsigned_abs(), scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.units < 0 { "-" } else { "" };
        let point = if scale > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

impl TryFrom<String> for Decimal {
    type Error = NotADecimal;

    fn try_from(text: String) -> Result<Self, NotADecimal> {
        text.parse()
    }
}

impl From<Decimal> for String {
    fn from(decimal: Decimal) -> Self {
        decimal.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_is_kept() {
        let nines = "9".repeat(38);
        let small = format!("-0.{}1", "0".repeat(37));
        for text in
            ["0", "-5", "9223372036854775808", "-18446744073709551616.5", "0.050", &nines, &small]
        {
            let decimal: Decimal = text.parse().unwrap();
            assert_eq!(decimal.to_string(), text);
            let json = serde_json::to_string(&decimal).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<Decimal>(&json).unwrap(), decimal);
        }
        let decimal: Decimal = "-12.50".parse().unwrap();
        assert_eq!((decimal.units(), decimal.scale(), decimal.digits()), (-1250, 2, 4));
    }

    #[test]
    fn what_is_none_is_refused() {
        let long = "1".repeat(39);
        let deep = format!("0.{}1", "0".repeat(38));
        for text in ["", "-", ".", "+5", "1e3", "1.2.3", "--1", "nan", &long, &deep] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
            assert!(serde_json::from_value::<Decimal>(text.into()).is_err(), "{text}");
        }
    }
}
