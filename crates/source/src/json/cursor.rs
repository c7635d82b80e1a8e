//! A place in a text of JSON: tokens, one after the other, strictly as RFC 8259 has them.

use std::borrow::Cow;

use caudal_core::limits;

/// What is wrong with a text of JSON.
pub type Wrong = &'static str;

/// Bytes that are valid UTF-8, and how far they have been read.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    levels: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0, levels: 0 }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    /// What was read since then.
    pub fn since(&self, begin: usize) -> &'a [u8] {
        &self.bytes[begin..self.at]
    }

    /// The first byte of what comes next, after blanks; none at the end.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Passes over a byte if it comes next.
    pub fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn expect(&mut self, byte: u8, wrong: Wrong) -> Result<(), Wrong> {
        if self.eat(byte) { Ok(()) } else { Err(wrong) }
    }

    /// Passes over `true`, `false` or `null`.
    pub fn word(&mut self, word: &'static str) -> Result<(), Wrong> {
        let is_next = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        if is_next { Ok(()) } else { Err("neither a value nor null, true or false") }
    }

    pub fn number(&mut self) -> Result<&'a [u8], Wrong> {
        const WRONG: Wrong = "a number that is none";
        let begin = self.at;
        self.at += usize::from(self.bytes.get(begin) == Some(&b'-'));
        let has_leading_zero = self.bytes.get(self.at) == Some(&b'0');
        let digits = self.digits();
        if digits == 0 || (has_leading_zero && digits > 1) {
            return Err(WRONG);
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(WRONG);
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(WRONG);
            }
        }
        Ok(self.since(begin))
    }

    fn digits(&mut self) -> usize {
        let rest = &self.bytes[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// A string's content, its quote being next.
    pub fn string(&mut self) -> Result<Cow<'a, [u8]>, Wrong> {
        let raw = self.raw_string()?;
        match raw.contains(&b'\\') {
            false => Ok(Cow::Borrowed(raw)),
            true => unescaped(raw).map(Cow::Owned),
        }
    }

    /// The same with its escapes.
    fn raw_string(&mut self) -> Result<&'a [u8], Wrong> {
        self.expect(b'"', "a name without quotes")?;
        let begin = self.at;
        loop {
            let rest = &self.bytes[self.at..];
            let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let Some(special) = special else { return Err("a string that does not end") };
            self.at += special;
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.bytes[begin..self.at - 1]);
                }
                b'\\' if self.at + 1 < self.bytes.len() => self.at += 2,
                b'\\' => return Err("a string that does not end"),
                _ => return Err("a control character within a string"),
            }
        }
    }

    /// Goes through an object: `value` is called with each name, and has to take the value.
    pub fn object<E: From<Wrong>>(
        &mut self,
        mut value: impl FnMut(&mut Cursor<'a>, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'{', "an object without its brace")?;
        self.deeper()?;
        if !self.eat(b'}') {
            loop {
                self.peek();
                let name = self.string()?;
                self.expect(b':', "a name without a colon")?;
                value(self, &name)?;
                if self.eat(b'}') {
                    break;
                }
                self.expect(b',', "an object without a comma or its end")?;
            }
        }
        self.levels -= 1;
        Ok(())
    }

    /// Goes through an array: `value` has to take each.
    pub fn array<E: From<Wrong>>(
        &mut self,
        mut value: impl FnMut(&mut Cursor<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'[', "an array without its bracket")?;
        self.deeper()?;
        if !self.eat(b']') {
            loop {
                value(self)?;
                if self.eat(b']') {
                    break;
                }
                self.expect(b',', "an array without a comma or its end")?;
            }
        }
        self.levels -= 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Wrong> {
        self.levels += 1;
        if self.levels > limits::JSON_LEVELS_MAX { Err("too many levels") } else { Ok(()) }
    }

    /// Passes over a value, whatever it is.
    pub fn skip(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            Some(b'{') => self.object(|cursor, _| cursor.skip()),
            Some(b'[') => self.array(Cursor::skip),
            Some(b'"') => {
                let raw = self.raw_string()?;
                let has_escapes = raw.contains(&b'\\');
                if has_escapes { unescaped(raw).map(drop) } else { Ok(()) }
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(_) => Err("neither a value nor null, true or false"),
            None => Err("it ends too early"),
        }
    }
}

fn unescaped(raw: &[u8]) -> Result<Vec<u8>, Wrong> {
    let mut content = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(escape) = memchr::memchr(b'\\', rest) {
        content.extend_from_slice(&rest[..escape]);
        let after = &rest[escape + 1..];
        let (character, used) = match after {
            [b'u', hex @ ..] => escaped_character(hex)?,
            [byte, ..] => (simple_escape(*byte)?, 1),
            [] => return Err(BAD_ESCAPE),
        };
        content.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &after[used..];
    }
    content.extend_from_slice(rest);
    Ok(content)
}

const BAD_ESCAPE: Wrong = "an escape that is none";

fn simple_escape(byte: u8) -> Result<char, Wrong> {
    Ok(match byte {
        b'"' | b'\\' | b'/' => char::from(byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return Err(BAD_ESCAPE),
    })
}

/// The character after `\u`, and the bytes that it takes after the backslash.
fn escaped_character(hex: &[u8]) -> Result<(char, usize), Wrong> {
    let first = four_digits(hex)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    let low = hex[4..].strip_prefix(b"\\u").ok_or("half of a character")?;
    let low = four_digits(low)?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&low) {
        return Err("half of a character");
    }
    let character = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
    Ok((char::from_u32(character).ok_or(BAD_ESCAPE)?, 11))
}

fn four_digits(hex: &[u8]) -> Result<u32, Wrong> {
    let digits = hex.first_chunk::<4>().ok_or(BAD_ESCAPE)?;
    let value = |value: u32, digit: &u8| Some(value << 4 | char::from(*digit).to_digit(16)?);
    digits.iter().try_fold(0, value).ok_or(BAD_ESCAPE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn is_valid(text: &[u8]) -> bool {
        let mut cursor = Cursor::new(text);
        cursor.skip().is_ok() && cursor.peek().is_none()
    }

    #[test]
    fn strings_are_what_they_say() {
        let content = |text: &str| Cursor::new(text.as_bytes()).string().map(|s| s.into_owned());
        assert_eq!(content(r#""a\n\"\u00e9\ud83d\ude00\/""#).unwrap(), "a\n\"é😀/".as_bytes());
        for wrong in [
            r#""\ud83d""#,
            r#""\ud83dx""#,
            r#""\ude00""#,
            r#""\x""#,
            r#""\u12"#,
            "\"a\nb\"",
            "\"a",
            "\"a\\",
        ] {
            assert!(content(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn deep_values_are_refused_and_do_no_harm() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(Cursor::new(deep.as_bytes()).skip(), Err("too many levels"));
    }

    proptest! {
        #[test]
        fn it_takes_what_serde_takes(text in r#"[\[\]{},:"\\a0-9.eE+ntrufls -]{0,12}"#) {
            let expected = serde_json::from_str::<Value>(&text);
            // A number that no float holds is well written.
            let is_expected = expected.as_ref().is_ok() || expected.is_err_and(|e| e.to_string().contains("out of range"));
            prop_assert_eq!(is_valid(text.as_bytes()), is_expected, "{}", text);
        }
    }
}
