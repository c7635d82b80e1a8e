//! Python literals, as `str()` of a list leaves them in CSV columns: `[{'id': 18, 'name': "O'Kane"}]`.
//!
//! The parser walks the text once and builds no tree: it appends the wanted texts to the caller's
//! vector, borrowing from the input wherever an escape does not force a copy. What it accepts is what
//! Python's `ast.literal_eval` accepts of lists, tuples, dicts, strings, numbers, `None`, `True` and
//! `False`; sets, bytes, complex numbers and adjacent or triple-quoted strings are refused.

mod cursor;
mod escapes;

use std::borrow::Cow;

use cursor::Cursor;

/// The text is not a literal of the shape asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a python literal of the expected shape")]
pub struct Malformed;

/// Appends the items of a list (or tuple) literal to `items`.
///
/// Strings come decoded, everything else as written; `None` is skipped. On an error `items` may hold
/// some of the items.
pub fn list_items<'a>(text: &'a str, items: &mut Vec<Cow<'a, str>>) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(text);
    cursor.sequence(|cursor| {
        items.extend(cursor.value_text()?);
        Ok(())
    })?;
    cursor.end()
}

/// Appends the value of `key` of every dict in a list literal to `values`; a lone dict counts as a
/// list of one.
///
/// Dicts without the key, or with `None` there, and items that are no dicts are skipped. On an error
/// `values` may hold some of the values.
pub fn field_values<'a>(
    text: &'a str,
    key: &str,
    values: &mut Vec<Cow<'a, str>>,
) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(text);
    if cursor.peek()? == b'{' {
        values.extend(cursor.dict_field(key)?);
    } else {
        cursor.sequence(|cursor| {
            if cursor.peek()? == b'{' {
                values.extend(cursor.dict_field(key)?);
                Ok(())
            } else {
                cursor.skip_value()
            }
        })?;
    }
    cursor.end()
}

#[cfg(test)]
mod tests {
    use caudal_core::limits::PYTHON_LITERAL_LEVELS_MAX;

    use super::*;

    fn list(text: &str) -> Option<Vec<String>> {
        let mut items = Vec::new();
        list_items(text, &mut items).ok()?;
        Some(items.into_iter().map(Cow::into_owned).collect())
    }

    fn field(text: &str, key: &str) -> Option<Vec<String>> {
        let mut values = Vec::new();
        field_values(text, key, &mut values).ok()?;
        Some(values.into_iter().map(Cow::into_owned).collect())
    }

    fn texts(items: &[&str]) -> Option<Vec<String>> {
        Some(items.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn list_of_strings_in_either_quote() {
        assert_eq!(list(r#"['Fiction', "O'Hara, Jr."]"#), texts(&["Fiction", "O'Hara, Jr."]));
        assert_eq!(list(r#"['say "hi"']"#), texts(&[r#"say "hi""#]));
        assert_eq!(list("['', \"\"]"), texts(&["", ""]));
    }

    #[test]
    fn lists_may_be_empty_blank_padded_tuples_or_end_in_a_comma() {
        assert_eq!(list("[]"), texts(&[]));
        assert_eq!(list(" [ 'a' ,\t'b' ,\n] "), texts(&["a", "b"]));
        assert_eq!(list("('a',)"), texts(&["a"]));
    }

    #[test]
    fn items_other_than_strings_come_as_written() {
        assert_eq!(
            list("[1, -2.5e3, .5, True, None, ['a', {}], {'k': (1,)}]"),
            texts(&["1", "-2.5e3", ".5", "True", "['a', {}]", "{'k': (1,)}"])
        );
    }

    #[test]
    fn escapes_are_decoded() {
        let literal = r#"['it\'s', "\"", '\\', 'a\nb\tc', '\x41\u00e9\U0001F600', '\101\0', '\d']"#;
        let expected = ["it's", "\"", "\\", "a\nb\tc", "Aé😀", "A\0", "\\d"];
        assert_eq!(list(literal), texts(&expected));
        assert_eq!(list(r"['\ud83d']"), texts(&["\u{FFFD}"]));
    }

    #[test]
    fn an_escaped_quote_or_backslash_does_not_end_or_keep_open_a_string() {
        assert_eq!(list(r"['a\\', 'b']"), texts(&["a\\", "b"]));
        assert_eq!(list(r"['a\\\', b']"), texts(&["a\\', b"]));
    }

    #[test]
    fn malformed_lists_are_refused() {
        let malformed = [
            "",
            " ",
            "[",
            "]",
            "['a'",
            "['a",
            "['a\\",
            "['a\\'",
            "['a' 'b']",
            "['a'] x",
            "[,]",
            "['a',,]",
            "'a'",
            "12",
            "[nan]",
            "[a]",
            "[1 2]",
            "[-]",
            "['\\x4']",
            "['\\x+4']",
            "['\\uD']",
            "['\\xé9']",
            "['a\nb']",
            "{'a': 1}",
            "['a')",
            "[1:2]",
            "['\\U00110000']",
            "[+]",
            "[.]",
            "[--1]",
            "[1_0]",
        ];
        for text in malformed {
            assert_eq!(list(text), None, "{text:?}");
        }
    }

    #[test]
    fn field_of_every_dict() {
        let cast = r#"[{'id': 18, 'name': "Kerri O'Kane"}, {'id': 2, 'name': 'Bo \'B\' Y'}]"#;
        assert_eq!(field(cast, "name"), texts(&["Kerri O'Kane", "Bo 'B' Y"]));
        assert_eq!(field(cast, "id"), texts(&["18", "2"]));
        assert_eq!(field(cast, "order"), texts(&[]));
    }

    #[test]
    fn a_lone_dict_is_a_list_of_one() {
        assert_eq!(field("{'id': 7, 'name': 'Toy Story'}", "name"), texts(&["Toy Story"]));
    }

    #[test]
    fn dicts_without_the_key_and_other_items_are_skipped() {
        let literal = "[{'name': None}, {}, {'x': {'name': 'inner'}}, 'name', {1: 2, 'name': 'a'}]";
        assert_eq!(field(literal, "name"), texts(&["a"]));
    }

    #[test]
    fn the_last_of_equal_keys_counts_and_keys_may_be_escaped() {
        assert_eq!(field("[{'a': 1, 'a': 2}]", "a"), texts(&["2"]));
        assert_eq!(field("[{'a': 1, 'a': None}]", "a"), texts(&[]));
        assert_eq!(field(r"[{'\x61': 3}]", "a"), texts(&["3"]));
    }

    #[test]
    fn malformed_dicts_are_refused_even_behind_the_wanted_key() {
        for text in
            ["{'a'}", "{'a' 1}", "[{'a': 1}, {'b': }]", "[{'a': 1]", "[{'a': 1} {'a': 2}]", ""]
        {
            assert_eq!(field(text, "a"), None, "{text:?}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(list(&nested(PYTHON_LITERAL_LEVELS_MAX)).is_some());
        assert_eq!(list(&nested(PYTHON_LITERAL_LEVELS_MAX + 1)), None);
        assert_eq!(list(&"[".repeat(1_000_000)), None);
    }

    #[test]
    fn unescaped_texts_are_borrowed() {
        let mut items = Vec::new();
        list_items(r"['plain', 'esc\n']", &mut items).expect("a well-formed list");
        assert!(matches!(items[..], [Cow::Borrowed("plain"), Cow::Owned(_)]));
    }
}
