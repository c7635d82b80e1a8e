//! The parser: a position in a literal that moves over one value after the other.

use std::borrow::Cow;

use caudal_core::limits;
use memchr::memchr3;

use super::Malformed;
use super::escapes::unescape;

/// A position in the text. Every method begins at a token and leaves the position behind what it took.
pub(super) struct Cursor<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, position: 0, depth: 0 }
    }

    /// The next byte that is no white space, without taking it.
    pub(super) fn peek(&mut self) -> Result<u8, Malformed> {
        let rest = &self.text.as_bytes()[self.position..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.position += blank;
        rest.get(blank).copied().ok_or(Malformed)
    }

    /// Takes `expected` if it is the next byte.
    fn take(&mut self, expected: u8) -> Result<bool, Malformed> {
        let found = self.peek()? == expected;
        self.position += usize::from(found);
        Ok(found)
    }

    pub(super) fn end(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            Err(Malformed) => Ok(()),
            Ok(_) => Err(Malformed),
        }
    }

    /// `[item, ...]` or `(item, ...)`, each item taken by `item`.
    pub(super) fn sequence(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if self.take(b'[')? {
            self.items_until(b']', item)
        } else if self.take(b'(')? {
            self.items_until(b')', item)
        } else {
            Err(Malformed)
        }
    }

    /// The value of `key` in the dict that begins here, `None` where it is absent or Python's `None`.
    /// As in Python the last of equal keys counts.
    pub(super) fn dict_field(&mut self, key: &str) -> Result<Option<Cow<'a, str>>, Malformed> {
        let mut found = None;
        self.dict(|cursor, name| {
            if name.as_deref() == Some(key) {
                found = cursor.value_text()?;
                Ok(())
            } else {
                cursor.skip_value()
            }
        })?;
        Ok(found)
    }

    /// `{key: value, ...}`; `value` is given the key, where that is a string, and takes the value.
    fn dict(
        &mut self,
        mut value: impl FnMut(&mut Self, Option<Cow<'a, str>>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if !self.take(b'{')? {
            return Err(Malformed);
        }
        self.items_until(b'}', |cursor| {
            let key = match cursor.peek()? {
                b'\'' | b'"' => Some(cursor.string()?),
                _ => {
                    cursor.skip_value()?;
                    None
                }
            };
            if !cursor.take(b':')? {
                return Err(Malformed);
            }
            value(cursor, key)
        })
    }

    /// Items separated by commas, a trailing comma allowed, up to and with the `close` byte.
    fn items_until(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.depth += 1;
        if self.depth > limits::PYTHON_LITERAL_LEVELS_MAX {
            return Err(Malformed);
        }
        while !self.take(close)? {
            item(self)?;
            if !self.take(b',')? && self.peek()? != close {
                return Err(Malformed);
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Any value as text: strings decoded, the rest as written; `None` for Python's `None`.
    pub(super) fn value_text(&mut self) -> Result<Option<Cow<'a, str>>, Malformed> {
        if matches!(self.peek()?, b'\'' | b'"') {
            return self.string().map(Some);
        }
        let start = self.position;
        self.skip_value()?;
        let written = &self.text[start..self.position];
        Ok((written != "None").then_some(Cow::Borrowed(written)))
    }

    pub(super) fn skip_value(&mut self) -> Result<(), Malformed> {
        match self.peek()? {
            b'\'' | b'"' => self.quoted().map(drop),
            b'[' | b'(' => self.sequence(Self::skip_value),
            b'{' => self.dict(|cursor, _| cursor.skip_value()),
            _ => self.word(),
        }
    }

    /// A number, `None`, `True` or `False`.
    fn word(&mut self) -> Result<(), Malformed> {
        let rest = &self.text[self.position..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = rest.bytes().take_while(is_part).count();
        let word = &rest[..length];
        if !matches!(word, "None" | "True" | "False") && !is_number(word) {
            return Err(Malformed);
        }
        self.position += length;
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        match self.quoted()? {
            Quoted { inner, escaped: false } => Ok(Cow::Borrowed(inner)),
            Quoted { inner, escaped: true } => unescape(inner).map(Cow::Owned),
        }
    }

    /// Text between the quotes, still escaped.
    fn quoted(&mut self) -> Result<Quoted<'a>, Malformed> {
        let bytes = self.text.as_bytes();
        let quote = bytes[self.position];
        let start = self.position + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            at += memchr3(quote, b'\\', b'\n', &bytes[at..]).ok_or(Malformed)?;
            match bytes[at] {
                b'\\' => {
                    escaped = true;
                    at += 2;
                }
                b'\n' => return Err(Malformed),
                _ => break,
            }
            if at > bytes.len() {
                return Err(Malformed);
            }
        }
        self.position = at + 1;
        Ok(Quoted { inner: &self.text[start..at], escaped })
    }
}

struct Quoted<'a> {
    inner: &'a str,
    escaped: bool,
}

/// Decimal integers and floats as `str()` writes them: no hexadecimal, no `_` between digits.
fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let begins_as_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    begins_as_number
        && (unsigned.bytes().all(|byte| byte.is_ascii_digit()) || unsigned.parse::<f64>().is_ok())
}
