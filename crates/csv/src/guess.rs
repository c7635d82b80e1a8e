//! The type of a column, guessed from its values.

use std::borrow::Cow;

use crate::columns::trim_spaces;
use crate::formats::Formats;
use crate::odd::{Misfits, Place};
use crate::otherwise::NULLS;
use crate::spec::Type;
use crate::value;

/// Types that a column may still have, and those that it would have but for few of its values.
#[derive(Clone)]
pub struct Guess<'a> {
    pub formats: &'a Formats,
    candidates: Vec<Candidate>,
    values: u64,
    /// Integers with more digits than any type of integers holds.
    huge: Misfits,
    has_digits_only: bool,
    has_codes: bool,
    /// The first values, and the first from that on which made it a text.
    seen: Vec<Vec<u8>>,
}

/// How many values are kept, and as many again of a text: enough to see how they are written.
const SEEN: usize = 100;

/// So many values of whatever else are no reason yet to think that a column is nothing but text: dirt comes in heaps.
const MISFITS_FREE: u64 = 20;

/// A type, the values that are not of it, and whether a value is.
#[derive(Clone)]
struct Candidate {
    ty: Type,
    misfits: Misfits,
    fits: Fits,
}

type Fits = fn(&[u8], &Formats) -> bool;

/// The narrowest type first: 0 and 1 are integers rather than booleans, unless they are said to be.
const CANDIDATES: [(Type, Fits); 6] = [
    (Type::Int64, is_integer),
    (LARGE_INTEGER, is_large_integer),
    (Type::Float64, is_float),
    (Type::Boolean, |text, formats| formats.boolean(text).is_some()),
    (Type::Date, |text, formats| formats.date(text).is_some()),
    (Type::Timestamp, |text, formats| formats.timestamp(text).is_some()),
];

impl<'a> Guess<'a> {
    pub fn of(formats: &'a Formats) -> Self {
        // What is said to be so is so, even if it could be a number: `20240131`, `1` for true.
        let is_said = |ty: Type| match ty {
            Type::Boolean => !formats.truths.is_empty() || !formats.falsehoods.is_empty(),
            Type::Date => formats.date.is_some(),
            Type::Timestamp => formats.timestamp.is_some(),
            _ => false,
        };
        let candidate = |(ty, fits)| Candidate { ty, misfits: Misfits::default(), fits };
        let mut candidates: Vec<Candidate> = CANDIDATES.into_iter().map(candidate).collect();
        candidates.sort_by_key(|candidate| !is_said(candidate.ty));
        Guess {
            formats,
            candidates,
            values: 0,
            huge: Misfits::default(),
            has_digits_only: true,
            has_codes: false,
            seen: vec![],
        }
    }

    /// Nothing else fits all values.
    pub fn is_text(&self) -> bool {
        self.fitting().is_none()
    }

    /// Whether another value may change anything.
    pub fn is_open(&self) -> bool {
        !self.candidates.is_empty() || self.seen.len() < 2 * SEEN
    }

    /// Some of its values.
    pub fn seen(&self) -> &[Vec<u8>] {
        &self.seen
    }

    /// Where it is matters only of a value that does not fit.
    pub fn look_at(&mut self, text: &[u8], place: impl Fn() -> Place) {
        if text.is_empty() || self.formats.is_null(text) {
            return;
        }
        self.values += 1;
        let formats = self.formats;
        let misfits_max = MISFITS_FREE + self.values / 10;
        self.candidates.retain_mut(|candidate| {
            if !(candidate.fits)(text, formats) {
                candidate.misfits.add(text, &place);
            }
            candidate.misfits.count <= misfits_max
        });
        let is_text = self.is_text();
        if is_text {
            self.look_at_digits(text, &place);
        }
        let kept = if is_text { 2 * SEEN } else { SEEN };
        if self.seen.len() < kept {
            self.seen.push(text.to_vec());
        }
    }

    /// What was a number so far, and now is a text.
    fn look_at_digits(&mut self, text: &[u8], place: impl Fn() -> Place) {
        let Some(plain) = plain(text, self.formats) else {
            self.has_digits_only = false;
            return;
        };
        self.has_codes |= has_leading_zero(&plain);
        let digits = without_sign(&plain);
        self.has_digits_only &= is_digits(digits) && !has_leading_zero(&plain);
        if self.has_digits_only && digits.len() > LARGE_DIGITS_MAX {
            self.huge.add(text, place);
        }
    }

    /// Whether what is taken for a name is a value of a column of numbers or dates; of others nothing is known.
    pub fn is_value(&self, name: &str) -> Option<bool> {
        let candidate = self.fitting().filter(|_| self.has_values())?;
        let text = trim_spaces(name.as_bytes());
        // `t` and `no` are names as well, and what may be NULL says nothing.
        let is_known = !text.is_empty() && !NULLS.iter().any(|null| null.as_bytes() == text);
        let is_sure = candidate.ty != Type::Boolean && is_known;
        is_sure.then(|| (candidate.fits)(text, self.formats))
    }

    /// The narrowest type that all values so far are of.
    pub fn narrowest(&self) -> Type {
        match self.fitting() {
            Some(candidate) if self.has_values() => candidate.ty,
            _ => Type::Text,
        }
    }

    /// What makes it a text, if that is not what its values are: very few of them, or integers that are too large.
    pub fn odd_ones(&self) -> Option<OddOnes<'_>> {
        if !self.is_text() || self.has_codes {
            return None;
        }
        let are_too_large = self.has_digits_only && self.huge.count > 0;
        let (ty, misfits) = match are_too_large {
            true => (Type::Float64, &self.huge),
            false => {
                let few = |candidate: &&Candidate| candidate.misfits.count * 10 <= self.values;
                let near = self.candidates.iter().filter(few);
                let nearest = near.min_by_key(|candidate| candidate.misfits.count)?;
                (nearest.ty, &nearest.misfits)
            }
        };
        Some(OddOnes { ty, are_too_large, misfits, values: self.values })
    }

    pub fn has_values(&self) -> bool {
        self.values > 0
    }

    fn fitting(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.misfits.count == 0)
    }
}

/// Values that make a text of a column which would be something else.
pub struct OddOnes<'a> {
    /// What the others are of.
    pub ty: Type,
    /// They are integers, which only a float takes.
    pub are_too_large: bool,
    pub misfits: &'a Misfits,
    /// Number of all values.
    pub values: u64,
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
