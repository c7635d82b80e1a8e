//! A field's value: what is left when its quotes are taken away.

use memchr::memchr;

use crate::syntax::Syntax;

/// A field's value, in place where it can be.
#[derive(Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// The value is a slice of the raw field.
    InPlace(&'a [u8]),
    /// The raw field has to be rewritten by [`unescape`].
    Escaped,
}

/// Value that a raw field stands for.
#[inline(always)]
pub fn value(raw: &[u8], syntax: Syntax) -> Value<'_> {
    if let Some(escape) = syntax.escape
        && raw.contains(&escape)
    {
        return Value::Escaped;
    }
    if !syntax.is_quoted(raw) {
        return Value::InPlace(raw);
    }
    let (quote, rest) = (raw[0], &raw[1..]);
    match memchr(quote, rest) {
        Some(close) if close + 1 == rest.len() => Value::InPlace(&rest[..close]),
        _ => Value::Escaped,
    }
}

/// Appends the value of an encoded field to `out`: a doubled quote is a quote, what follows the closing
/// quote is taken as it is, and so is what follows an escape.
pub fn unescape(raw: &[u8], syntax: Syntax, out: &mut Vec<u8>) {
    if let Some(escape) = syntax.escape {
        return unescape_all(raw, syntax, escape, out);
    }
    let (true, [quote, rest @ ..]) = (syntax.is_quoted(raw), raw) else {
        return out.extend_from_slice(raw);
    };
    let mut rest = rest;
    while let Some(at) = memchr(*quote, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest {
            [next, after @ ..] if next == quote => {
                out.push(*quote);
                rest = after;
            }
            _ => break,
        }
    }
    out.extend_from_slice(rest);
}

fn unescape_all(raw: &[u8], syntax: Syntax, escape: u8, out: &mut Vec<u8>) {
    let quote = syntax.quote();
    let mut is_inside = syntax.is_quoted(raw);
    let mut rest = if is_inside { &raw[1..] } else { raw };
    while let [byte, after @ ..] = rest {
        rest = after;
        match rest {
            [escaped, after @ ..] if *byte == escape => {
                out.push(*escaped);
                rest = after;
            }
            [next, after @ ..] if is_inside && Some(*byte) == quote && next == byte => {
                out.push(*next);
                rest = after;
            }
            _ if is_inside && Some(*byte) == quote => is_inside = false,
            _ => out.push(*byte),
        }
    }
}

/// The value of a field that is not on the fast path, as bytes of its own.
pub fn owned_value(raw: &[u8], syntax: Syntax) -> Vec<u8> {
    match value(raw, syntax) {
        Value::InPlace(value) => value.to_vec(),
        Value::Escaped => {
            let mut unescaped = Vec::new();
            unescape(raw, syntax, &mut unescaped);
            unescaped
        }
    }
}

/// Without the CR of a CRLF line ending: only for the last field of a record.
#[inline(always)]
pub fn without_cr(raw: &[u8]) -> &[u8] {
    raw.strip_suffix(b"\r").unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn plain() -> Syntax {
        Dialect::default().syntax()
    }

    /// Each case as Python reads it: `next(csv.reader([raw]))[0]`.
    #[test]
    fn fields_are_unquoted_as_python_does() {
        for (raw, expected) in [
            ("abc", "abc"),
            ("", ""),
            (r#""""#, ""),
            (r#""abc""#, "abc"),
            (r#""a,b""#, "a,b"),
            (r#""a""b""#, r#"a"b"#),
            (r#""""a""""#, r#""a""#),
            (r#""""""#, r#"""#),
            (r#"a"b"#, r#"a"b"#),
            (r#"a"b""#, r#"a"b""#),
            (r#""abc"def"#, "abcdef"),
            (r#""abc"def"g""#, r#"abcdef"g""#),
            (r#""abc"d""e"#, r#"abcd""e"#),
            (r#""abc" "#, "abc "),
            (r#" "abc""#, r#" "abc""#),
            ("\"a\r\nb\"", "a\r\nb"),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&owned_value(raw.as_bytes(), plain())),
                expected,
                "{raw}"
            );
        }
    }

    #[test]
    fn a_plainly_quoted_value_stays_in_place() {
        assert_eq!(value(br#""abc""#, plain()), Value::InPlace(b"abc"));
        assert_eq!(value(br#""a""c""#, plain()), Value::Escaped);
    }

    /// As Python reads them with `escapechar="\\"` and `doublequote=True`.
    #[test]
    fn an_escape_makes_the_next_byte_ordinary() {
        let syntax = Dialect { escape: Some(b'\\'), ..Dialect::default() }.syntax();
        for (raw, expected) in [
            ("abc", "abc"),
            (r#""abc""#, "abc"),
            (r#"a\,b"#, "a,b"),
            (r#""a\"b""#, r#"a"b"#),
            (r#""a""b""#, r#"a"b"#),
            (r#""a\\""#, r"a\"),
            (r#"\"a"#, r#""a"#),
            (r#""a\nb""#, "anb"),
            (r#""a"b\"c"#, r#"ab"c"#),
        ] {
            let value = owned_value(raw.as_bytes(), syntax);
            assert_eq!(String::from_utf8_lossy(&value), expected, "{raw}");
        }
    }
}
