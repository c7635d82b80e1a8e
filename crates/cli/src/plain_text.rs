//! Text of files, on its way to a terminal.

use std::borrow::Cow;
use std::io::{self, Write};

/// The text without control characters: an escape sequence in a value must not move the cursor, colour what follows or
/// give the terminal a title. Each is shown as the symbol that Unicode has for it, or as `�`; newlines and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_control(c) { symbol(c) } else { c }).collect())
}

/// The same for text on one line.
pub fn plain_line(text: &str) -> Cow<'_, str> {
    match plain(text) {
        text if text.contains(['\n', '\t']) => Cow::Owned(text.replace(['\n', '\t'], " ")),
        text => text,
    }
}

/// JSON on one line, with escapes for what would be obeyed by a terminal: the same value for whoever parses it.
pub fn plain_json(value: &serde_json::Value) -> String {
    let mut plain = String::new();
    for c in value.to_string().chars() {
        match is_control(c) {
            true => plain.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => plain.push(c),
        }
    }
    plain
}

/// C0, DEL and C1, and what reorders the text around it.
fn is_control(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn symbol(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// Shows control characters of whatever is written, and lets nothing else be changed.
pub struct PlainWriter<W: Write> {
    out: W,
    /// The first byte of a character that may be one.
    is_begun: bool,
}

impl<W: Write> PlainWriter<W> {
    pub fn new(out: W) -> Self {
        Self { out, is_begun: false }
    }
}

/// Before the last byte of U+0080 to U+00BF, of which the first half are control characters.
const LATIN_1: u8 = 0xc2;

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            let is_second = std::mem::take(&mut self.is_begun);
            let c = match byte {
                0x80..=0x9f if is_second => Some(char::REPLACEMENT_CHARACTER),
                &LATIN_1 => {
                    self.is_begun = true;
                    continue;
                }
                byte if byte.is_ascii() && is_control(char::from(*byte)) => {
                    Some(symbol(char::from(*byte)))
                }
                _ => None,
            };
            match c {
                Some(c) => shown.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                None if is_second => shown.extend_from_slice(&[LATIN_1, *byte]),
                None => shown.push(*byte),
            }
        }
        self.out.write_all(&shown)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(plain("a\u{1b}[31mb\u{7}\r\n\tc"), "a␛[31mb␇␍\n\tc");
        assert_eq!(plain("\u{7f}\u{9b}2J\u{202e}x"), "␡�2J�x");
        assert_eq!(plain_line("a\nb\u{1b}"), "a b␛");
        for fine in ["", "ñandú 日本 👩‍👩‍👧", "a\tb"] {
            assert!(matches!(plain(fine), Cow::Borrowed(text) if text == fine));
        }
    }

    #[test]
    fn json_without_control_characters_is_the_same_value() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{7f}x\u{1b}", "\u{202e}ñ\n\t"] });
        let plain = plain_json(&value);
        assert!(!plain.contains(char::is_control) && !plain.contains('\u{202e}'), "{plain}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&plain).unwrap(), value);
    }

    #[test]
    fn whatever_is_written_is_plain_however_it_is_cut() {
        let text = "a,\u{1b}]0;x\u{7}\n\u{9b}2J ñ\u{a0}é\t\r\u{7f}";
        for cut in 1..=text.len() {
            let mut out = vec![];
            let mut writer = PlainWriter::new(&mut out);
            for piece in text.as_bytes().chunks(cut) {
                writer.write_all(piece).unwrap();
            }
            assert_eq!(String::from_utf8(out).unwrap(), "a,␛]0;x␇\n�2J ñ\u{a0}é\t␍␡", "{cut}");
        }
    }
}
