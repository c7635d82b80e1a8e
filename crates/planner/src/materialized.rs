//! Rewrite: `WITH a AS MATERIALIZED (SELECT ...)` is `WITH a AS (SELECT ...)`.
//!
//! ```text
//! WITH a AS NOT MATERIALIZED (SELECT 1) ...    ==>    WITH a AS                  (SELECT 1) ...
//! ```
//!
//! The words are advice to PostgreSQL, of no meaning. The parser does not know them, so they go from the text: everything
//! else stays in its place, where errors point to.

use std::borrow::Cow;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

pub fn without(sql: &str) -> Cow<'_, str> {
    if !sql.to_ascii_lowercase().contains("materialized") {
        return sql.into();
    }
    // What cannot be tokenised is refused by the parser.
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location();
    let tokens: Vec<_> = tokens
        .unwrap_or_default()
        .into_iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_)))
        .collect();
    let mut advice = vec![];
    for (at, token) in tokens.iter().enumerate() {
        let is_next = matches!(tokens.get(at + 1), Some(next) if next.token == Token::LParen);
        if keyword(token) != Some(Keyword::MATERIALIZED) || !is_next {
            continue;
        }
        let before = |back: usize| at.checked_sub(back).and_then(|at| keyword(&tokens[at]));
        match (before(2), before(1)) {
            (_, Some(Keyword::AS)) => advice.push(token),
            (Some(Keyword::AS), Some(Keyword::NOT)) => advice.extend([&tokens[at - 1], token]),
            _ => {}
        }
    }
    if advice.is_empty() {
        return sql.into();
    }
    let mut place = Location { line: 1, column: 1 };
    let blanked = sql.chars().map(|letter| {
        let is_advice = advice.iter().any(|word| (word.span.start..word.span.end).contains(&place));
        if letter == '\n' {
            place = Location { line: place.line + 1, column: 1 };
        } else {
            place.column += 1;
        }
        if is_advice { ' ' } else { letter }
    });
    blanked.collect::<String>().into()
}

fn keyword(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.keyword),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn advice_goes_and_the_rest_stays_in_its_place() {
        let sql = "WITH \"ñ\" AS\nMaterialized (SELECT 1), b AS NOT /* */ MATERIALIZED(SELECT 2)";
        let without_advice =
            "WITH \"ñ\" AS\n             (SELECT 1), b AS     /* */             (SELECT 2)";
        assert_eq!(without(sql), without_advice);
    }

    #[test]
    fn names_and_texts_stay() {
        for sql in [
            "SELECT materialized FROM t",
            "SELECT 'AS MATERIALIZED (' AS \"materialized\"",
            "SELECT x AS materialized FROM t",
            "SELECT NOT materialized (x) FROM t",
            "SELECT 'AS MATERIALIZED (",
        ] {
            assert_eq!(without(sql), sql);
        }
    }
}
