//! Words of SQL as the parser will see them, for who shows or completes a text that may not be finished.

use std::collections::BTreeSet;
use std::ops::Range;

use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::Volatility;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{
    Location, Token, TokenWithSpan, Tokenizer, Whitespace,
};

use crate::sql;

/// Words that a SELECT is made of. SQL has hundreds more, which nobody wants to be offered.
pub const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CROSS",
    "CURRENT",
    "DATE",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXTRACT",
    "FALSE",
    "FILTER",
    "FIRST",
    "FOLLOWING",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INTERSECT",
    "INTERVAL",
    "IS",
    "JOIN",
    "LAST",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NATURAL",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRECEDING",
    "RANGE",
    "RECURSIVE",
    "RIGHT",
    "ROW",
    "ROWS",
    "SELECT",
    "SIMILAR",
    "THEN",
    "TIMESTAMP",
    "TO",
    "TRUE",
    "UNBOUNDED",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN",
];

/// A word, and where it is in its text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is.
    pub kind: WordKind,
    /// Where it is.
    pub at: Range<usize>,
}

/// Kinds of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// One of [`KEYWORDS`].
    Keyword,
    /// A name, in quotes or not; and what SQL has of further keywords.
    Name,
    /// A text in single quotes, or of another kind.
    Text,
    /// A number, and a `$parameter`.
    Number,
    /// A comment.
    Comment,
    /// The semicolon at the end of a statement.
    End,
    /// An operator, a parenthesis, a comma.
    Sign,
}

/// The words of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Those that could be read.
    pub all: Vec<Word>,
    /// What comes after them, if that could not be read.
    pub unread: Option<Unread>,
}

/// The end of a text, from where it could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Where it begins, in bytes.
    pub at: usize,
    /// Whether a text, a quoted name or a comment was begun there that has no end yet.
    pub is_open: bool,
}

/// Divides SQL into words.
pub fn words(sql: &str) -> Words {
    let mut tokens = vec![];
    let read = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location_into_buf(&mut tokens);
    let mut place = Place { rest: sql, at: 0, line: 1, column: 1 };
    let mut all: Vec<Word> = vec![];
    for TokenWithSpan { token, span } in tokens {
        let at = place.go_to(span.start)..place.go_to(span.end);
        // What is in a comment that other databases read has the place of the comment.
        if let Some(kind) = kind(&token)
            && all.last().is_none_or(|last| last.at.end <= at.start)
        {
            all.push(Word { kind, at });
        }
    }
    let unread = read.err().map(|error| Unread { at: place.at, is_open: is_open(&error.message) });
    Words { all, unread }
}

/// Whether the tokenizer only wants more: it says so in words alone.
fn is_open(message: &str) -> bool {
    ["Unterminated", "Unexpected EOF"].iter().any(|word| message.starts_with(word))
        || message.contains("before EOF")
}

fn kind(token: &Token) -> Option<WordKind> {
    Some(match token {
        Token::Whitespace(
            Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_),
        ) => WordKind::Comment,
        Token::Whitespace(_) | Token::EOF => return None,
        Token::SemiColon => WordKind::End,
        Token::Word(word) => {
            let is_keyword = |known: &&str| known.eq_ignore_ascii_case(&word.value);
            match word.quote_style.is_none() && KEYWORDS.iter().any(is_keyword) {
                true => WordKind::Keyword,
                false => WordKind::Name,
            }
        }
        Token::Number(..) | Token::Placeholder(_) => WordKind::Number,
        token if is_text(token) => WordKind::Text,
        _ => WordKind::Sign,
    })
}

fn is_text(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::NationalStringLiteral(_)
            | Token::QuoteDelimitedStringLiteral(_)
            | Token::NationalQuoteDelimitedStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::SingleQuotedRawStringLiteral(_)
    )
}

/// A place in a text, as the tokenizer counts: by lines, and characters in them.
struct Place<'a> {
    rest: &'a str,
    at: usize,
    line: u64,
    column: u64,
}

impl Place<'_> {
    /// Goes on to a place that comes later; gives how many bytes are before it.
    fn go_to(&mut self, location: Location) -> usize {
        while (self.line, self.column) < (location.line, location.column)
            && let Some(c) = self.rest.chars().next()
        {
            self.rest = &self.rest[c.len_utf8()..];
            self.at += c.len_utf8();
            (self.line, self.column) = match c {
                '\n' => (self.line + 1, 1),
                _ => (self.line, self.column + 1),
            };
        }
        self.at
    }
}

/// Names of all functions that a query can call, in their order.
pub fn functions() -> Vec<String> {
    let state = sql::state(std::iter::empty());
    let mut names = BTreeSet::new();
    for name in state.udfs() {
        // One of chance is refused.
        let is_volatile = |udf: &datafusion::logical_expr::ScalarUDF| {
            udf.signature().volatility == Volatility::Volatile
        };
        if state.udf(&name).is_ok_and(|udf| !is_volatile(&udf)) {
            names.insert(name);
        }
    }
    names.extend(state.udafs());
    names.extend(state.udwfs());
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a text, each with the letter of its kind.
    fn told(sql: &str) -> String {
        let Words { all, unread } = words(sql);
        let mut told: Vec<_> =
            all.into_iter().map(|word| format!("{:?}:{}", word.kind, &sql[word.at])).collect();
        told.extend(unread.map(|unread| format!("{}:{}", unread.is_open, &sql[unread.at..])));
        told.join("|")
    }

    #[test]
    fn words_are_where_they_are() {
        assert_eq!(
            told("select \"a;ñ\", 'ü;''' -- c;\nfrom t.x;"),
            "Keyword:select|Name:\"a;ñ\"|Sign:,|Text:'ü;'''|Comment:-- c;\n|Keyword:from|Name:t|Sign:.|Name:x|End:;"
        );
        assert_eq!(told("/* a /* b; */ ; */ $x"), "Comment:/* a /* b; */ ; */|Number:$x");
        assert_eq!(told("$$a;b$$ + $t$;$t$"), "Text:$$a;b$$|Sign:+|Text:$t$;$t$");
        assert_eq!(told("E'a\\';b' X'1f' 1e5"), "Text:E'a\\';b'|Text:X'1f'|Number:1e5");
        assert_eq!(told("日本 = '語' ;"), "Name:日本|Sign:=|Text:'語'|End:;");
        assert_eq!(told(" \n\t "), "");
    }

    #[test]
    fn what_is_begun_is_open() {
        for begun in ["'a", "\"a;", "/* ;", "/* /* */", "$$ ;", "$a$ $b$", "'it''s;", "E'\\'", "`x"]
        {
            assert_eq!(told(&format!("a {begun}")), format!("Name:a|true:{begun}"));
        }
    }

    #[test]
    fn hints_to_other_databases_are_comments() {
        let Words { all, unread } = words("SELECT /*! a; b */ 1;");
        assert_eq!((all.last().map(|word| word.kind), unread), (Some(WordKind::End), None));
        assert_eq!(all.last().map(|word| word.at.clone()), Some(20..21));
    }

    #[test]
    fn functions_are_those_that_can_be_called() {
        let functions = functions();
        for name in ["count", "sum", "lower", "row_number", "language", "percentile_cont"] {
            assert!(functions.iter().any(|known| known == name), "{name}");
        }
        assert!(!functions.iter().any(|name| name == "random"));
    }
}
