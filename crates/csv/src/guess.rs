//! The type of a column, guessed from its values.

use std::borrow::Cow;

use crate::columns::trim_spaces;
use crate::formats::Formats;
use crate::otherwise::NULLS;
use crate::spec::Type;
use crate::value;

/// Types that a column may still have.
#[derive(Clone)]
pub struct Guess<'a> {
    pub formats: &'a Formats,
    candidates: Vec<Candidate>,
    has_values: bool,
    /// The first values, and the first from that on which made it a text.
    seen: Vec<Vec<u8>>,
}

/// How many values are kept, and as many again of a text: enough to see how they are written.
const SEEN: usize = 100;

/// A type, and whether a value is of it.
type Candidate = (Type, fn(&[u8], &Formats) -> bool);

/// The narrowest type first: 0 and 1 are integers rather than booleans, unless they are said to be.
const CANDIDATES: [Candidate; 6] = [
    (Type::Int64, is_integer),
    (LARGE_INTEGER, is_large_integer),
    (Type::Float64, is_float),
    (Type::Boolean, |text, formats| formats.boolean(text).is_some()),
    (Type::Date, |text, formats| formats.date(text).is_some()),
    (Type::Timestamp, |text, formats| formats.timestamp(text).is_some()),
];

impl<'a> Guess<'a> {
    pub fn of(formats: &'a Formats) -> Self {
        let mut candidates = CANDIDATES.to_vec();
        // What is said to be so is so, even if it could be a number: `20240131`, `1` for true.
        let is_said = |ty: Type| match ty {
            Type::Boolean => !formats.truths.is_empty() || !formats.falsehoods.is_empty(),
            Type::Date => formats.date.is_some(),
            Type::Timestamp => formats.timestamp.is_some(),
            _ => false,
        };
        candidates.sort_by_key(|(ty, _)| !is_said(*ty));
        Guess { formats, candidates, has_values: false, seen: vec![] }
    }

    /// Nothing else is left.
    pub fn is_text(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Whether another value may change anything.
    pub fn is_open(&self) -> bool {
        !self.is_text() || self.seen.len() < 2 * SEEN
    }

    /// Some of its values.
    pub fn seen(&self) -> &[Vec<u8>] {
        &self.seen
    }

    pub fn look_at(&mut self, text: &[u8]) {
        if !text.is_empty() && !self.formats.is_null(text) {
            self.has_values = true;
            self.candidates.retain(|(_, fits)| fits(text, self.formats));
            let kept = if self.is_text() { 2 * SEEN } else { SEEN };
            if self.seen.len() < kept {
                self.seen.push(text.to_vec());
            }
        }
    }

    /// Whether what is taken for a name is a value of a column of numbers or dates; of others nothing is known.
    pub fn is_value(&self, name: &str) -> Option<bool> {
        let (ty, fits) = self.candidates.first().filter(|_| self.has_values)?;
        let text = trim_spaces(name.as_bytes());
        // `t` and `no` are names as well, and what may be NULL says nothing.
        let is_known = !text.is_empty() && !NULLS.iter().any(|null| null.as_bytes() == text);
        (*ty != Type::Boolean && is_known).then(|| fits(text, self.formats))
    }

    /// The narrowest type that all values so far are of.
    pub fn narrowest(&self) -> Type {
        match self.candidates.first() {
            Some((ty, _)) if self.has_values => *ty,
            _ => Type::Text,
        }
    }
}

/// Type of an integer that 64 bits do not hold: as a float it could not be told from its neighbours.
pub const LARGE_INTEGER: Type = Type::Decimal { precision: LARGE_DIGITS_MAX as u8, scale: 0 };
const LARGE_DIGITS_MAX: usize = 38;

/// Without leading zeros: those are codes, and would be lost.
fn is_integer(text: &[u8], formats: &Formats) -> bool {
    plain(text, formats)
        .is_some_and(|text| value::int64(&text).is_some() && !has_leading_zero(&text))
}

fn is_large_integer(text: &[u8], formats: &Formats) -> bool {
    plain(text, formats).is_some_and(|text| {
        let digits = without_sign(&text);
        is_digits(digits) && digits.len() <= LARGE_DIGITS_MAX && !has_leading_zero(&text)
    })
}

/// Without the words: `nan` and `inf` are more often text. An integer that is too large for any integer is text.
fn is_float(text: &[u8], formats: &Formats) -> bool {
    let Some(plain) = plain(text, formats) else { return false };
    if is_digits(without_sign(&plain)) {
        return is_large_integer(text, formats);
    }
    value::float64(&plain).is_some()
        && plain.iter().any(u8::is_ascii_digit)
        && !has_leading_zero(&plain)
}

/// A number as it is written everywhere.
fn plain<'a>(text: &'a [u8], formats: &Formats) -> Option<Cow<'a, [u8]>> {
    match formats.has_plain_numbers() {
        true => Some(Cow::Borrowed(text)),
        false => formats.plain_number(text),
    }
}

fn without_sign(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text)
}

fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn has_leading_zero(text: &[u8]) -> bool {
    matches!(without_sign(text), [b'0', next, ..] if next.is_ascii_digit())
}
