//! What the values of a file look like, where that is not what they look like everywhere.

use std::borrow::Cow;

use crate::time_format::TimeFormat;
use crate::{time, value};

/// What the values of a file look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formats {
    /// Texts that stand for NULL in every column, besides the empty one; quoted or not.
    pub nulls: Vec<String>,
    /// What stands for true, in any case; `true`, `t`, `yes` and `1`, if there is none.
    pub truths: Vec<String>,
    /// What stands for false, in any case; `false`, `f`, `no` and `0`, if there is none.
    pub falsehoods: Vec<String>,
    /// The byte before the fraction of a number.
    pub decimal: u8,
    /// The byte between groups of three digits.
    pub thousands: Option<u8>,
    /// How dates are written; `%Y-%m-%d`, if it is not said.
    pub date: Option<TimeFormat>,
    /// How timestamps are written; `%Y-%m-%d %H:%M:%S` with or without a fraction, a `T` or the time, if it is not said.
    pub timestamp: Option<TimeFormat>,
}

impl Default for Formats {
    fn default() -> Self {
        Formats {
            nulls: Vec::new(),
            truths: Vec::new(),
            falsehoods: Vec::new(),
            decimal: b'.',
            thousands: None,
            date: None,
            timestamp: None,
        }
    }
}

impl Formats {
    pub(crate) fn contradiction(&self) -> Option<String> {
        let is_of_number = |byte: u8| byte.is_ascii_alphanumeric() || b"+-\n\r".contains(&byte);
        if self.thousands == Some(self.decimal) {
            return Some("the decimal point and the thousands separator are the same".into());
        }
        if is_of_number(self.decimal) || self.thousands.is_some_and(is_of_number) {
            return Some("a letter, a digit or a sign is no separator within a number".into());
        }
        let is_truth = |text: &&String| self.truths.iter().any(|t| t.eq_ignore_ascii_case(text));
        let both = self.falsehoods.iter().find(is_truth);
        both.map(|text| format!("`{text}` cannot be both true and false"))
    }

    /// Whether numbers are written as everywhere.
    pub(crate) fn has_plain_numbers(&self) -> bool {
        self.decimal == b'.' && self.thousands.is_none()
    }

    #[inline]
    pub(crate) fn is_null(&self, text: &[u8]) -> bool {
        self.nulls.iter().any(|null| null.as_bytes() == text)
    }

    /// A number as it is written everywhere; `None` if it is not written as it should be here.
    pub(crate) fn plain_number<'a>(&self, text: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let is_separator = |byte: &u8| *byte == self.decimal || Some(*byte) == self.thousands;
        if !text.iter().any(is_separator) {
            return (!text.contains(&b'.')).then_some(Cow::Borrowed(text));
        }
        let (integer, fraction) = match text.iter().position(|byte| *byte == self.decimal) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let mut plain = Vec::with_capacity(text.len());
        match self.thousands {
            Some(separator) if integer.contains(&separator) => {
                push_groups(integer, separator, &mut plain)?;
            }
            _ => plain.extend_from_slice(integer),
        }
        if let Some(fraction) = fraction {
            if fraction.iter().any(is_separator) {
                return None;
            }
            plain.push(b'.');
            plain.extend_from_slice(fraction);
        }
        // A point that is neither of the two would be taken for one.
        let points = plain.iter().filter(|byte| **byte == b'.').count();
        (points == usize::from(fraction.is_some())).then_some(Cow::Owned(plain))
    }

    pub(crate) fn int64(&self, text: &[u8]) -> Option<i64> {
        value::int64(&self.plain_number(text)?)
    }

    pub(crate) fn float64(&self, text: &[u8]) -> Option<f64> {
        value::float64(&self.plain_number(text)?)
    }

    pub(crate) fn decimal(&self, text: &[u8], precision: u8, scale: u8) -> Option<i128> {
        value::decimal(&self.plain_number(text)?, precision, scale)
    }

    pub(crate) fn boolean(&self, text: &[u8]) -> Option<bool> {
        if self.truths.is_empty() && self.falsehoods.is_empty() {
            return value::boolean(text);
        }
        let is = |word: &String| text.eq_ignore_ascii_case(word.as_bytes());
        if self.truths.iter().any(is) {
            return Some(true);
        }
        if self.falsehoods.iter().any(is) {
            return Some(false);
        }
        // What is said of one of them says nothing of the other.
        match (self.truths.is_empty(), self.falsehoods.is_empty()) {
            (true, false) => value::boolean(text).filter(|value| *value),
            (false, true) => value::boolean(text).filter(|value| !*value),
            _ => None,
        }
    }

    pub(crate) fn date(&self, text: &[u8]) -> Option<i32> {
        match &self.date {
            Some(format) => format.days(text),
            None => time::date(text),
        }
    }

    pub(crate) fn timestamp(&self, text: &[u8]) -> Option<i64> {
        match &self.timestamp {
            Some(format) => format.micros(text),
            None => time::timestamp(text),
        }
    }
}

/// `1,234,567` without its separators; `None` if a group is not of three digits.
fn push_groups(integer: &[u8], separator: u8, out: &mut Vec<u8>) -> Option<()> {
    let (sign, digits) = match integer {
        [sign @ (b'-' | b'+'), digits @ ..] => (Some(*sign), digits),
        digits => (None, digits),
    };
    out.extend(sign);
    for (i, group) in digits.split(|byte| *byte == separator).enumerate() {
        let is_whole = if i == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 };
        if !is_whole || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        out.extend_from_slice(group);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_another_place() {
        let german = Formats { decimal: b',', thousands: Some(b'.'), ..Formats::default() };
        for (text, expected) in [
            ("1,5", Some(1.5)),
            ("1.234,5", Some(1234.5)),
            ("-1.234.567", Some(-1_234_567.0)),
            ("1234,5", Some(1234.5)),
            ("1234", Some(1234.0)),
            (",5", Some(0.5)),
            ("1.5", None),
            ("1.23", None),
            ("12.34.567", None),
            ("1234.567", None),
            ("1,5,5", None),
            ("1,5.000", None),
            (".123", None),
            ("1.234e5", None),
        ] {
            assert_eq!(german.float64(text.as_bytes()), expected, "{text}");
        }
        let comma = Formats { decimal: b',', ..Formats::default() };
        assert_eq!(comma.float64(b"1.5"), None);
        assert_eq!(comma.float64(b"1.5,5"), None);
        assert_eq!(comma.decimal(b"1,50", 10, 2), Some(150));
        let american = Formats { thousands: Some(b','), ..Formats::default() };
        assert_eq!(american.int64(b"1,234,567"), Some(1_234_567));
        assert_eq!(american.int64(b"1,234.5"), None);
        assert_eq!(american.float64(b"+1,234.5"), Some(1234.5));
        assert_eq!(american.int64(b"1,23"), None);
    }

    #[test]
    fn booleans_of_other_words() {
        let words = |truths: &[&str], falsehoods: &[&str]| Formats {
            truths: truths.iter().map(|text| text.to_string()).collect(),
            falsehoods: falsehoods.iter().map(|text| text.to_string()).collect(),
            ..Formats::default()
        };
        let spanish = words(&["sí", "S"], &["no", "N"]);
        assert_eq!(spanish.boolean("sí".as_bytes()), Some(true));
        assert_eq!(spanish.boolean(b"s"), Some(true));
        assert_eq!(spanish.boolean(b"NO"), Some(false));
        assert_eq!(spanish.boolean(b"true"), None);
        let mark = words(&["x"], &[]);
        assert_eq!((mark.boolean(b"X"), mark.boolean(b"no")), (Some(true), Some(false)));
        assert_eq!(mark.boolean(b"yes"), None);
        assert!(words(&["x"], &["X"]).contradiction().is_some());
    }
}
