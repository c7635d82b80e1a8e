//! The escapes of Python's string literals.

use super::Malformed;

/// The text that a string literal's inside stands for. As in Python, an unknown escape is itself.
pub(super) fn unescape(inner: &str) -> Result<String, Malformed> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let letter = escape.chars().next().ok_or(Malformed)?;
        rest = &escape[letter.len_utf8()..];
        match letter {
            '\n' => {}
            '\\' | '\'' | '"' => text.push(letter),
            'a' => text.push('\x07'),
            'b' => text.push('\x08'),
            'f' => text.push('\x0c'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'v' => text.push('\x0b'),
            'x' => text.push(take_code_point(&mut rest, 2)?),
            'u' => text.push(take_code_point(&mut rest, 4)?),
            'U' => text.push(take_code_point(&mut rest, 8)?),
            '0'..='7' => {
                let octal = &escape[..escape.bytes().take(3).take_while(is_octal).count()];
                rest = &escape[octal.len()..];
                text.push(code_point(octal, 8)?);
            }
            _ => {
                text.push('\\');
                text.push(letter);
            }
        }
    }
    text.push_str(rest);
    Ok(text)
}

fn is_octal(byte: &u8) -> bool {
    (b'0'..=b'7').contains(byte)
}

fn take_code_point(rest: &mut &str, digits: usize) -> Result<char, Malformed> {
    let hexadecimal = rest.get(..digits).ok_or(Malformed)?;
    *rest = &rest[digits..];
    code_point(hexadecimal, 16)
}

/// A lone surrogate, which Python allows and UTF-8 cannot hold, becomes the replacement character.
fn code_point(digits: &str, radix: u32) -> Result<char, Malformed> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Malformed);
    }
    let code = u32::from_str_radix(digits, radix).map_err(|_| Malformed)?;
    match char::from_u32(code) {
        Some(c) => Ok(c),
        None if code <= 0x10_FFFF => Ok(char::REPLACEMENT_CHARACTER),
        None => Err(Malformed),
    }
}
