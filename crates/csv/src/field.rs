//! A field's value: what is left when its quotes are taken away.

use memchr::memchr;

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
pub fn value(raw: &[u8]) -> Value<'_> {
    let [b'"', rest @ ..] = raw else {
        return Value::InPlace(raw);
    };
    match memchr(b'"', rest) {
        Some(close) if close + 1 == rest.len() => Value::InPlace(&rest[..close]),
        _ => Value::Escaped,
    }
}

/// Appends the value of a quoted field to `out`: a doubled quote is a quote, and what follows the closing
/// quote is taken as it is.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw.strip_prefix(b"\"").unwrap_or(raw);
    while let Some(quote) = memchr(b'"', rest) {
        out.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest {
            [b'"', after @ ..] => {
                out.push(b'"');
                rest = after;
            }
            _ => break,
        }
    }
    out.extend_from_slice(rest);
}

/// The value of a field that is not on the fast path, as bytes of its own.
pub fn owned_value(raw: &[u8]) -> Vec<u8> {
    match value(raw) {
        Value::InPlace(value) => value.to_vec(),
        Value::Escaped => {
            let mut unescaped = Vec::new();
            unescape(raw, &mut unescaped);
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
            assert_eq!(String::from_utf8_lossy(&owned_value(raw.as_bytes())), expected, "{raw}");
        }
    }

    #[test]
    fn a_plainly_quoted_value_stays_in_place() {
        assert_eq!(value(br#""abc""#), Value::InPlace(b"abc"));
        assert_eq!(value(br#""a""c""#), Value::Escaped);
    }
}
