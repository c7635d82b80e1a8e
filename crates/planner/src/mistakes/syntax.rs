//! Mistakes in a text that does not parse. The parser says where it gave up; what was meant is guessed from
//! the words around that place.

use caudal_core::error::edit_distance;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::{Keyword, RESERVED_FOR_COLUMN_ALIAS};
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Word};

/// Guess to report instead of the parser's message, or together with it.
pub struct Guess {
    pub message: Option<String>,
    pub hint: Option<String>,
    /// Line and column, where that is another place.
    pub at: Option<(u64, u64)>,
}

/// Words that people misspell.
const WORDS: [&str; 30] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "ORDER",
    "BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "DISTINCT",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "FULL",
    "CROSS",
    "USING",
    "WITH",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "BETWEEN",
    "LIKE",
    "EXISTS",
    "QUALIFY",
    "VALUES",
];

/// The clauses of a SELECT, in their order.
const CLAUSES: [Keyword; 7] = [
    Keyword::FROM,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::QUALIFY,
    Keyword::ORDER,
    Keyword::LIMIT,
];

/// `at` is where the parser gave up; nowhere, if that is the end.
pub fn guess(sql: &str, at: Option<(u64, u64)>) -> Guess {
    let tokens = match Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location() {
        Ok(tokens) => tokens,
        Err(_) => return unclosed(sql, at),
    };
    let words: Vec<_> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    let here = at.and_then(|at| words.iter().position(|word| place(word.span.start) == at));
    let closed = parentheses(&words).or_else(|| case(&words));
    closed.unwrap_or_else(|| {
        let hint = second_statement(&words, here)
            .or_else(|| misspelt(&words, here))
            .or_else(|| comma(&words, here))
            .or_else(|| order(&words, here))
            .or_else(|| reserved(&words, here));
        Guess { message: None, hint, at: None }
    })
}

fn place(location: Location) -> (u64, u64) {
    (location.line, location.column)
}

/// A quote, or a comment, that is never closed.
fn unclosed(sql: &str, at: Option<(u64, u64)>) -> Guess {
    let rest = at.and_then(|(line, column)| {
        let line = sql.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        Some(line.chars().skip(usize::try_from(column).ok()?.checked_sub(1)?).collect::<String>())
    });
    let rest = rest.unwrap_or_default();
    let (message, hint) = match rest.chars().next() {
        Some('\'') => (
            "the text that begins here is never closed",
            "a text ends with '; a ' within it is written twice: 'it''s'",
        ),
        Some('"') | Some('`') => {
            ("the name that begins here is never closed", "a name ends as it begins")
        }
        _ if rest.starts_with("/*") => {
            ("the comment that begins here is never closed", "end it with */")
        }
        _ => return Guess { message: None, hint: None, at: None },
    };
    Guess { message: Some(message.to_string()), hint: Some(hint.to_string()), at: None }
}

fn parentheses(words: &[&TokenWithSpan]) -> Option<Guess> {
    let mut open = vec![];
    for word in words {
        match word.token {
            Token::LParen => open.push(word.span.start),
            Token::RParen if open.pop().is_none() => {
                let message = "this ) closes nothing".to_string();
                let at = Some(place(word.span.start));
                return Some(Guess {
                    message: Some(message),
                    hint: Some("leave it out".into()),
                    at,
                });
            }
            _ => {}
        }
    }
    let at = open.last().map(|at| place(*at))?;
    let message = "this ( is never closed".to_string();
    Some(Guess { message: Some(message), hint: Some("write the missing )".into()), at: Some(at) })
}

/// A CASE without END.
fn case(words: &[&TokenWithSpan]) -> Option<Guess> {
    let mut open = vec![];
    for word in words {
        match plain_word(word).map(|word| word.keyword) {
            Some(Keyword::CASE) => open.push(word.span.start),
            Some(Keyword::END) => drop(open.pop()),
            _ => {}
        }
    }
    let at = open.last().map(|at| place(*at))?;
    let hint = "write CASE WHEN ... THEN ... ELSE ... END".to_string();
    Some(Guess { message: Some("this CASE has no END".into()), hint: Some(hint), at: Some(at) })
}

/// Place at which the second of several statements begins.
pub fn second_statement_at(sql: &str) -> Option<(u64, u64)> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().ok()?;
    let mut words = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    words.find(|word| matches!(word.token, Token::SemiColon))?;
    let second = words.find(|word| !matches!(word.token, Token::SemiColon))?;
    Some(place(second.span.start))
}

fn second_statement(words: &[&TokenWithSpan], here: Option<usize>) -> Option<String> {
    let before = words.get(here?.checked_sub(1)?)?;
    matches!(before.token, Token::SemiColon).then(|| "one SELECT at a time".to_string())
}

/// The word here, or the one before it, which the parser took for an alias.
fn misspelt(words: &[&TokenWithSpan], here: Option<usize>) -> Option<String> {
    let here = here.unwrap_or(words.len());
    [Some(here), here.checked_sub(1)].into_iter().flatten().find_map(|index| {
        let word = plain_word(words.get(index)?)?;
        let upper = word.value.to_uppercase();
        // One letter: most names are two or three away from some word of SQL.
        let known = WORDS.iter().find(|known| edit_distance(known, &upper) == 1)?;
        (upper.len() > 2 && !WORDS.contains(&upper.as_str()))
            .then(|| format!("did you mean {known}?"))
    })
}

fn plain_word(token: &TokenWithSpan) -> Option<&Word> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word),
        _ => None,
    }
}

/// One too many, or too few.
fn comma(words: &[&TokenWithSpan], here: Option<usize>) -> Option<String> {
    let here = here?;
    let (word, before) = (words.get(here)?, words.get(here.checked_sub(1)?)?);
    let is_clause = plain_word(word).is_some_and(|word| CLAUSES.contains(&word.keyword));
    if matches!(before.token, Token::Comma) && (is_clause || matches!(word.token, Token::RParen)) {
        return Some("there is a comma too many before it".to_string());
    }
    let starts = |token: &Token| match token {
        Token::Word(word) => {
            word.quote_style.is_some() || !RESERVED_FOR_COLUMN_ALIAS.contains(&word.keyword)
        }
        Token::Number(..) | Token::SingleQuotedString(_) => true,
        _ => false,
    };
    let ends = |token: &Token| starts(token) || matches!(token, Token::RParen);
    let in_list = words[..here].iter().rev().find_map(|word| match plain_word(word)?.keyword {
        Keyword::SELECT | Keyword::BY | Keyword::IN | Keyword::VALUES => Some(true),
        keyword if CLAUSES.contains(&keyword) => Some(false),
        _ => None,
    });
    (in_list == Some(true) && starts(&word.token) && ends(&before.token))
        .then(|| "is a comma missing before it?".to_string())
}

/// A clause after one that comes later.
fn order(words: &[&TokenWithSpan], here: Option<usize>) -> Option<String> {
    let here = here?;
    let keyword = plain_word(words.get(here)?)?.keyword;
    let next = words.get(here + 1).and_then(|word| plain_word(word)).map(|word| word.keyword);
    if matches!(keyword, Keyword::GROUP | Keyword::ORDER) && next != Some(Keyword::BY) {
        return Some("BY is missing after it".to_string());
    }
    CLAUSES.contains(&keyword).then(|| {
        "the order is SELECT, FROM, WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT".to_string()
    })
}

/// A word of SQL where a name should be.
fn reserved(words: &[&TokenWithSpan], here: Option<usize>) -> Option<String> {
    let here = here?;
    let word = [Some(here), here.checked_sub(1)].into_iter().flatten().find_map(|index| {
        plain_word(words.get(index)?).filter(|word| word.keyword != Keyword::NoKeyword)
    })?;
    Some(format!("{} is a word of SQL; as a name it is written {:?}", word.value, word.value))
}
