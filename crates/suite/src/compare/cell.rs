//! Equality of two cells.
//!
//! - Two texts: when they are equal.
//! - Two numbers with at most two decimals each (whole numbers, amounts of money): when they are
//!   exactly equal. `12.0` is `12`; identifiers and sums of money forgive nothing, however large.
//! - Two numbers otherwise: when they agree to [`RELATIVE_TOLERANCE`], because the sum of floats
//!   depends on the order in which they were added. Such noise always shows as many decimals.

/// Part of a number by which the noise of floats may change it.
pub const RELATIVE_TOLERANCE: f64 = 1e-9;

/// Digits by which noisy numbers are filed: fewer than the tolerance spares, so that the same number
/// with different noise is filed together (but for the rare one that noise carries over a border).
const FILED_DIGITS: usize = 9;

#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Number { value: f64, hundredths: Option<i128> },
}

impl<'a> Cell<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        match parse_number(text) {
            Some((value, hundredths)) => Self::Number { value, hundredths },
            None => Self::Text(text),
        }
    }

    pub(super) fn same(self, other: Cell<'_>) -> bool {
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => a == b,
            (
                Cell::Number { value: a, hundredths: exact_a },
                Cell::Number { value: b, hundredths: exact_b },
            ) => match (exact_a, exact_b) {
                (Some(a), Some(b)) => a == b,
                _ => (a - b).abs() <= RELATIVE_TOLERANCE * a.abs().max(b.abs()),
            },
            _ => false,
        }
    }

    /// Appends a key under which cells that are the same are (nearly always) filed together.
    pub(super) fn file_under(self, key: &mut String) {
        match self {
            Cell::Text(text) => key.push_str(text),
            Cell::Number { hundredths: Some(exact), .. } => {
                key.push_str(&significant(&format!("{:e}", exact), -2))
            }
            Cell::Number { value, .. } => {
                let digits = FILED_DIGITS - 1;
                key.push_str(&significant(&format!("{value:.digits$e}"), 0));
            }
        }
        key.push('\u{1f}');
    }
}

/// A number in `1.25e3` notation without trailing zeros, its exponent shifted.
fn significant(scientific: &str, shift: i32) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0) + shift;
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    match mantissa {
        "0" | "-0" => "0".to_string(),
        _ => format!("{mantissa}e{exponent}"),
    }
}

/// The value of a decimal number, and its exact hundredths if it has no more than two decimals.
/// `007`, `inf`, `+5` and `1_000` are texts: someone wrote them so for a reason.
fn parse_number(text: &str) -> Option<(f64, Option<i128>)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole_digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = unsigned.split_at(whole_digits);
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let decimals = match rest {
        "" => Some(""),
        _ => rest.strip_prefix('.').map(|decimals| decimals.trim_end_matches('0')),
    };
    let hundredths = decimals
        .filter(|decimals| decimals.len() <= 2 && decimals.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|decimals| format!("{whole}{decimals:0<2}").parse::<i128>().ok())
        .map(|unsigned| if text.starts_with('-') { -unsigned } else { unsigned });
    Some((value, hundredths))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let (a, b) = (Cell::new(a), Cell::new(b));
        assert_eq!(a.same(b), b.same(a));
        a.same(b)
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(same("12.0", "12"));
        assert!(same("-0.50", "-0.5"));
        assert!(same("0", "-0.0"));
        assert!(same("1.5e3", "1500"));
        assert!(!same("12", "12.01"));
        assert!(!same("12", ""));
        assert!(!same("-12", "12"));
    }

    #[test]
    fn float_noise_is_forgiven() {
        assert!(same("0.30000000000000004", "0.3"));
        assert!(same("2.4999999999999996", "2.5"));
        assert!(same("1.0000000001", "1.0"));
        assert!(!same("1.00000001", "1.0"));
        assert!(!same("0.271298", "0.271299"));
    }

    #[test]
    fn identifiers_and_amounts_forgive_nothing() {
        assert!(!same("76561198000000001", "76561198000000002"));
        assert!(!same("98765432109.01", "98765432109.02"));
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        assert!(!same("007", "7"));
        assert!(!same("nan", "NaN"));
        assert!(!same("1e999", "1e998"));
        assert!(same("1e999", "1e999"));
        assert!(!same(".5", "0.5"));
    }

    #[test]
    fn equal_cells_are_filed_together() {
        let key = |text: &str| {
            let mut key = String::new();
            Cell::new(text).file_under(&mut key);
            key
        };
        for (a, b) in [
            ("12.0", "12"),
            ("12", "12.000000000000002"),
            ("0.3", "0.30000000000000004"),
            ("1500", "1.5e3"),
            ("-0.0", "0"),
            ("2.5", "2.4999999999999996"),
        ] {
            assert_eq!(key(a), key(b), "{a} {b}");
        }
        assert_ne!(key("12"), key("12.01"));
        assert_ne!(key("100"), key("10"));
    }
}
