//! Colours of SQL while it is typed.

use std::borrow::Cow;

use caudal::sql::{Unread, Word, WordKind, Words, words};

const OFF: &str = "\x1b[0m";

/// The text in colours; it takes as much room as before.
pub fn colored(text: &str) -> Cow<'_, str> {
    if text.starts_with('.') {
        return Cow::Borrowed(text);
    }
    let Words { all, unread } = words(text);
    let mut shown = String::with_capacity(text.len() * 2);
    let mut end = 0;
    for Word { kind, at } in all {
        shown.push_str(&text[end..at.start]);
        end = at.end;
        paint(&mut shown, color(kind), &text[at]);
    }
    let rest = &text[end..];
    match unread {
        Some(Unread { is_open: true, .. }) => paint(&mut shown, color(WordKind::Text), rest),
        _ => shown.push_str(rest),
    }
    Cow::Owned(shown)
}

fn paint(shown: &mut String, color: Option<&str>, text: &str) {
    match color {
        Some(color) => shown.extend([color, text, OFF]),
        None => shown.push_str(text),
    }
}

fn color(kind: WordKind) -> Option<&'static str> {
    match kind {
        WordKind::Keyword => Some("\x1b[1;34m"),
        WordKind::Text => Some("\x1b[32m"),
        WordKind::Number => Some("\x1b[36m"),
        WordKind::Comment => Some("\x1b[90m"),
        WordKind::Name | WordKind::Sign | WordKind::End => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_all_that_is_added() {
        for text in
            ["SELECT 'ñ', 1 -- x\nFROM t;", "select 'a", "SELECT \u{1b}", "", ".help", "/* a"]
        {
            let mut shown = colored(text).into_owned();
            for code in ["\x1b[1;34m", "\x1b[32m", "\x1b[36m", "\x1b[90m", OFF] {
                shown = shown.replace(code, "");
            }
            assert_eq!(shown, text);
        }
        assert_eq!(colored("select 1"), "\x1b[1;34mselect\x1b[0m \x1b[36m1\x1b[0m");
    }
}
