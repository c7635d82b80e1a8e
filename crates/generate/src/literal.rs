//! Python literals, as `repr` writes them, and other things put together from small parts.

use std::fmt::Write;

use crate::random::Rng;

/// The text that `fill` appends.
pub(crate) fn built(fill: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    fill(&mut text);
    text
}

/// `'text'`, or `"text"` where the text holds an apostrophe, as Python prefers.
pub(crate) fn push_str(out: &mut String, text: &str) {
    match (text.contains('\''), text.contains('"')) {
        (true, false) => {
            out.push('"');
            out.push_str(text);
            out.push('"');
        }
        (has_apostrophe, _) => {
            out.push('\'');
            match has_apostrophe {
                true => out.push_str(&text.replace('\'', "\\'")),
                false => out.push_str(text),
            }
            out.push('\'');
        }
    }
}

/// `['one', "two's"]`
pub(crate) fn push_list(out: &mut String, items: &[&str]) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push_str(out, item);
    }
    out.push(']');
}

/// `[{'id': 18, 'name': 'Drama'}]`, with `key` for the word `id`.
pub(crate) fn push_named<'a, I: std::fmt::Display>(
    out: &mut String,
    key: &str,
    items: impl Iterator<Item = (I, &'a str)>,
) {
    out.push('[');
    for (index, (id, name)) in items.enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(out, "{comma}{{'{key}': {id}, 'name': ");
        push_str(out, name);
        out.push('}');
    }
    out.push(']');
}

/// Some hexadecimal digits.
pub(crate) fn push_hex(out: &mut String, rng: &mut Rng, digits: usize) {
    let mut bits = 0;
    for digit in 0..digits {
        if digit % 16 == 0 {
            bits = rng.u64(..);
        }
        out.push(char::from(b"0123456789abcdef"[(bits & 15) as usize]));
        bits >>= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_python_does() {
        let mut out = String::new();
        push_list(&mut out, &["Drama", "O'Kane", "5\" nails", "a'b\"c"]);
        assert_eq!(out, r#"['Drama', "O'Kane", '5" nails', 'a\'b"c']"#);
    }

    #[test]
    fn records_are_dicts() {
        let mut out = String::new();
        push_named(&mut out, "id", [(18, "Drama"), (35, "Comedy")].into_iter());
        assert_eq!(out, "[{'id': 18, 'name': 'Drama'}, {'id': 35, 'name': 'Comedy'}]");
    }
}
