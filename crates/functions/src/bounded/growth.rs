//! Size of what a function makes of its arguments.

use caudal_core::limits;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;

use super::measure::{Argument, Measure};
use super::{TooLarge, patterns, series};

/// Rule by which the size of a function's result follows from its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// All arguments, one after another.
    Sum,
    /// The same, with the first one between any two of them.
    Separated,
    /// The first, as often as the second says.
    Repeat,
    /// The first, as long as the second says.
    Pad,
    /// The first, with the third wherever the second was found.
    Replace,
    /// The same, by a regular expression.
    ReplacePattern,
    /// A copy of the first for each group of a regular expression.
    Groups,
    /// A format, filled in for each row.
    Format,
    /// Numbers, dates or times from the first to the second.
    Series { with_end: bool },
    /// A list of the first, as often as the second says.
    ListOf,
    /// A list as long as the second says.
    Resize,
    /// A list, with the third for each element.
    ReplaceItems,
    /// The elements of a list, with the second between them.
    ListText,
    /// Rows of as many elements as the longest list has.
    Zip,
}

/// Bytes of an element that is not text: the widest number, as text or with what keeps it in a list.
const ITEM_BYTES: u128 = 32;

/// Most bytes that a byte of a format may become: `%+` is a time of 35 letters.
const FORMAT_GROWTH: u128 = 20;

impl Growth {
    /// That of DataFusion's function of this name; `None` if it makes at most a small multiple of what it is given.
    pub fn of(function: &str) -> Option<Self> {
        Some(match function {
            "concat" | "overlay" | "make_array" | "array_append" | "array_prepend"
            | "array_concat" | "map" => Self::Sum,
            "concat_ws" => Self::Separated,
            "repeat" => Self::Repeat,
            "lpad" | "rpad" => Self::Pad,
            "replace" => Self::Replace,
            "regexp_replace" => Self::ReplacePattern,
            "regexp_match" => Self::Groups,
            "to_char" => Self::Format,
            "range" => Self::Series { with_end: false },
            "generate_series" => Self::Series { with_end: true },
            "array_repeat" => Self::ListOf,
            "array_resize" => Self::Resize,
            "array_replace" | "array_replace_n" | "array_replace_all" => Self::ReplaceItems,
            "array_to_string" => Self::ListText,
            "arrays_zip" => Self::Zip,
            _ => return None,
        })
    }

    /// An error if a call would make too much.
    pub fn check(self, function: &str, arguments: &[ColumnarValue], rows: usize) -> Result<()> {
        let arguments: Vec<_> = arguments.iter().map(Argument::of).collect::<Result<_>>()?;
        let rows = if arguments.iter().all(Argument::is_constant) { rows.min(1) } else { rows };
        if self.is_surely_small(&arguments, rows) {
            return Ok(());
        }
        let mut exact = patterns::Compiled::default();
        let mut total = 0u128;
        for row in 0..rows {
            let made = self.of_row(&arguments, row, &mut exact)?;
            if made > limits::FUNCTION_VALUE_BYTES_MAX as u128 {
                return Err(TooLarge::value(function, made).into());
            }
            total += made;
        }
        if total > limits::FUNCTION_BATCH_BYTES_MAX as u128 {
            return Err(TooLarge::batch(function, rows, total).into());
        }
        Ok(())
    }

    /// Whether neither the batch nor its largest row can be too much, by what is quickly known.
    fn is_surely_small(self, arguments: &[Argument], rows: usize) -> bool {
        if matches!(self, Self::Series { .. }) {
            return false;
        }
        let all: Vec<_> = arguments.iter().map(|argument| argument.all(rows)).collect();
        let largest: Vec<_> = all.iter().map(|measure| measure.of_largest()).collect();
        self.at_most(&all, rows as u128) <= limits::FUNCTION_BATCH_BYTES_MAX as u128
            && self.at_most(&largest, 1) <= limits::FUNCTION_VALUE_BYTES_MAX as u128
    }

    /// Most bytes that it makes of arguments of this size.
    fn at_most(self, arguments: &[Measure], rows: u128) -> u128 {
        let at = |at: usize| arguments.get(at).copied().unwrap_or_default();
        let (first, second, third) = (at(0), at(1), at(2));
        let sum = || arguments.iter().map(|argument| argument.bytes).fold(0, u128::saturating_add);
        match self {
            Self::Sum => sum(),
            Self::Separated => {
                let between = arguments.len().saturating_sub(2) as u128;
                sum().saturating_add(first.bytes.saturating_mul(between))
            }
            Self::Repeat => first.bytes.saturating_mul(second.number),
            Self::Pad => {
                let letters = rows.saturating_mul(second.number);
                first.bytes.saturating_add(letters.saturating_mul(4))
            }
            Self::Replace => {
                let places = first.bytes.saturating_add(rows);
                first.bytes.saturating_add(places.saturating_mul(third.longest))
            }
            Self::ReplacePattern => {
                let places = first.bytes.saturating_mul(2).saturating_add(rows);
                places.saturating_mul(third.longest.saturating_add(1))
            }
            Self::Groups => first.bytes.saturating_mul(second.longest.saturating_add(1)),
            Self::Format => rows.saturating_mul(second.longest).saturating_mul(FORMAT_GROWTH),
            Self::Series { .. } => u128::MAX,
            Self::ListOf => {
                let item = first.bytes.saturating_add(rows.saturating_mul(8));
                item.saturating_mul(second.number)
            }
            Self::Resize => {
                let items = rows.saturating_mul(second.number);
                let item = third.longest.max(ITEM_BYTES);
                first.bytes.saturating_add(items.saturating_mul(item))
            }
            Self::ReplaceItems => {
                first.bytes.saturating_add(first.items.saturating_mul(third.longest))
            }
            Self::ListText => {
                let item = ITEM_BYTES.saturating_add(second.longest).saturating_add(third.longest);
                first.bytes.saturating_add(first.items.saturating_mul(item))
            }
            Self::Zip => {
                let most = arguments.iter().map(|argument| argument.items).max().unwrap_or(0);
                let items = most.saturating_mul(arguments.len() as u128);
                sum().saturating_add(items.saturating_mul(ITEM_BYTES))
            }
        }
    }

    /// Bytes that it makes of a row: exactly, where a bound from the lengths alone would be far above.
    fn of_row(
        self,
        arguments: &[Argument],
        row: usize,
        compiled: &mut patterns::Compiled,
    ) -> Result<u128> {
        let text = |at: usize| arguments.get(at).and_then(|argument| argument.text(row));
        let exactly = match self {
            Self::Series { with_end } => Some(series::bytes(arguments, row, with_end)?),
            // A NULL gives a NULL.
            Self::Repeat | Self::Pad | Self::Replace | Self::ReplacePattern | Self::Groups
                if arguments.iter().any(|argument| argument.is_null(row)) =>
            {
                Some(0)
            }
            Self::Repeat => match (text(0), arguments[1].number(row)) {
                (Some(text), Some(count)) => Some(repeated(text, count)),
                _ => None,
            },
            Self::Pad => match (text(0), arguments[1].number(row)) {
                (Some(padded), Some(length)) => {
                    Some(padded_bytes(padded, length, text(2).unwrap_or(" ")))
                }
                _ => None,
            },
            Self::Replace => match (text(0), text(1), text(2)) {
                (Some(text), Some(from), Some(to)) => Some(replaced(text, from, to)),
                _ => None,
            },
            Self::ReplacePattern => match (text(0), text(1), text(2)) {
                (Some(in_text), Some(pattern), Some(with)) => {
                    Some(compiled.replaced(in_text, pattern, with, text(3).unwrap_or("")))
                }
                _ => None,
            },
            Self::Groups => match (text(0), text(1)) {
                (Some(in_text), Some(pattern)) => {
                    Some(compiled.groups(in_text, pattern, text(2).unwrap_or("")))
                }
                _ => None,
            },
            Self::ListOf | Self::Resize if arguments[1].is_null(row) => Some(0),
            Self::Resize | Self::ReplaceItems | Self::ListText if arguments[0].is_null(row) => {
                Some(0)
            }
            _ => None,
        };
        Ok(exactly.unwrap_or_else(|| {
            let one: Vec<_> = arguments.iter().map(|argument| argument.one(row)).collect();
            self.at_most(&one, 1)
        }))
    }
}

fn repeated(text: &str, count: i64) -> u128 {
    (text.len() as u128).saturating_mul(u128::try_from(count).unwrap_or(0))
}

/// Letters are counted, and not all have the same length.
fn padded_bytes(text: &str, length: i64, fill: &str) -> u128 {
    let length = u128::try_from(length).unwrap_or(0);
    let letters = text.chars().count() as u128;
    let fills = fill.chars().count() as u128;
    if length <= letters || fills == 0 {
        return text.len() as u128;
    }
    let added = length - letters;
    let whole = (added / fills).saturating_mul(fill.len() as u128);
    let rest = fill.chars().take((added % fills) as usize).map(char::len_utf8).sum::<usize>();
    whole.saturating_add(rest as u128).saturating_add(text.len() as u128)
}

/// Nothing is found nowhere, as in PostgreSQL.
fn replaced(text: &str, from: &str, to: &str) -> u128 {
    if from.is_empty() {
        return text.len() as u128;
    }
    let found = text.matches(from).count() as u128;
    let (from, to) = (from.len() as u128, to.len() as u128);
    (text.len() as u128 - found * from).saturating_add(found.saturating_mul(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_a_text_is_known_exactly() {
        assert_eq!(repeated("ab", 3), "ab".repeat(3).len() as u128);
        assert_eq!(repeated("ab", -3), 0);
        assert_eq!(padded_bytes("hi", 5, "xy"), 5);
        assert_eq!(padded_bytes("hi", 5, "é"), "éééhi".len() as u128);
        assert_eq!(padded_bytes("hi", 6, "xé"), "xéxéhi".len() as u128);
        assert_eq!(padded_bytes("hi", 1, "x"), 2);
        assert_eq!(padded_bytes("hi", -1, "x"), 2);
        assert_eq!(padded_bytes("hi", 9, ""), 2);
        assert_eq!(replaced("abc", "", "-"), 3);
        for (text, from, to) in [("abab", "ab", "xyz"), ("aaa", "aa", "bbb"), ("a", "b", "c")] {
            assert_eq!(replaced(text, from, to), text.replace(from, to).len() as u128, "{text}");
        }
    }
}
