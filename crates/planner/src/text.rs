//! Pass: what can be told from the words of a query, before it is parsed.
//!
//! A chain of operators (`a + b + c ...`, `x OR y OR z ...`, `... UNION ...`) becomes a tree as deep as the
//! chain is long. The parser counts parentheses but not this, and a tree that is deep enough takes whoever
//! walks it beyond the end of its stack: not an error but the end of the process, a gateway's too.

use caudal_core::limits;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, Tokenizer};

use crate::error::{Error, Place};
use crate::spec::QuerySpec;

/// Refuses what would be ignored, and what is too long a chain.
pub fn check(query: &QuerySpec) -> Result<(), Error> {
    // What cannot be tokenised is refused by the parser.
    let tokens = Tokenizer::new(&GenericDialect {}, &query.sql).tokenize_with_location();
    let tokens = tokens.unwrap_or_default();
    let words: Vec<_> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    let mut levels = vec![Chain::default()];
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).map(|word| keyword(&word.token));
        if let Some(message) = ignored(keyword(&word.token), next) {
            return Err(refusal(query, message.to_string(), word.span.start));
        }
        match word.token {
            Token::LParen => levels.push(Chain::default()),
            Token::RParen if levels.len() > 1 => drop(levels.pop()),
            ref token => {
                let chain = levels.last_mut().expect("the outermost is never popped");
                chain.add(token);
                if chain.depth() > limits::EXPRESSION_TERMS_MAX {
                    let max = limits::EXPRESSION_TERMS_MAX;
                    let message = format!(
                        "a chain of more than {max} operators; IN (...) or a table may be longer"
                    );
                    return Err(refusal(query, message, word.span.start));
                }
            }
        }
    }
    Ok(())
}

/// What the planner would read and do nothing about.
fn ignored(word: Keyword, next: Option<Keyword>) -> Option<&'static str> {
    match (word, next) {
        (Keyword::TABLESAMPLE, _) => Some("TABLESAMPLE would give other rows each time"),
        (Keyword::FOR, Some(Keyword::UPDATE | Keyword::SHARE)) => Some("there is nothing to lock"),
        _ => None,
    }
}

fn refusal(query: &QuerySpec, message: String, at: Location) -> Error {
    let at = Place::in_sql(&query.sql, at.line, at.column);
    Error::Syntax { query: query.name.clone(), message, at }
}

fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

/// The operators of one level of parentheses, by how tightly they bind: those of a looser kind begin
/// those of all tighter kinds anew.
#[derive(Default)]
struct Chain {
    counts: [usize; 6],
}

impl Chain {
    fn add(&mut self, token: &Token) {
        let kind = match token {
            Token::Comma => return self.begin_anew(2),
            Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => 4,
            Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod => 5,
            Token::StringConcat => 5,
            word => match keyword(word) {
                Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT => 0,
                Keyword::JOIN => 1,
                Keyword::OR => 2,
                Keyword::AND => 3,
                Keyword::SELECT => return self.begin_anew(1),
                Keyword::WHERE | Keyword::HAVING | Keyword::ON | Keyword::BY | Keyword::FROM => {
                    return self.begin_anew(2);
                }
                Keyword::WHEN | Keyword::THEN | Keyword::ELSE => return self.begin_anew(2),
                _ => return,
            },
        };
        self.counts[kind] += 1;
        self.begin_anew(kind + 1);
    }

    fn begin_anew(&mut self, from: usize) {
        self.counts[from..].fill(0);
    }

    fn depth(&self) -> usize {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = limits::EXPRESSION_TERMS_MAX;

    fn checked(sql: impl Into<String>) -> Result<(), Error> {
        check(&QuerySpec { name: "q".into(), sql: sql.into(), params: vec![] })
    }

    fn chained(term: &str, by: &str, times: usize) -> String {
        vec![term; times].join(by)
    }

    #[test]
    fn chains_are_limited() {
        let chains = [("a", "+"), ("a", " || "), ("a = 1", " OR "), ("(a = 1 AND b)", " AND ")];
        for (term, by) in chains {
            let sql = |times| format!("SELECT x FROM t WHERE {}", chained(term, by, times));
            assert!(checked(sql(MAX - 10)).is_ok(), "{term}{by}");
            let refused = checked(sql(MAX + 10)).unwrap_err();
            assert!(refused.to_string().contains("a chain of more than"), "{refused}");
            assert!(refused.place().is_some());
        }
        assert!(checked(chained("SELECT 1", " UNION ALL ", MAX + 10)).is_err());
        let joined = chained("t", " JOIN t ON a = a ", MAX + 10);
        assert!(checked(format!("SELECT 1 FROM {joined}")).is_err());
    }

    #[test]
    fn lists_are_not() {
        let listed = chained("a + 1 = 2 AND b", ", ", 5 * MAX);
        assert!(checked(format!("SELECT {listed} FROM t WHERE a IN ({listed})")).is_ok());
        let cases = chained("WHEN a = 1 AND b THEN c + 1", " ", 5 * MAX);
        assert!(checked(format!("SELECT CASE {cases} END FROM t")).is_ok());
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        for sql in ["SELECT 1 FROM t TABLESAMPLE (10)", "SELECT 1 FROM t FOR UPDATE"] {
            assert!(checked(sql).is_err(), "{sql}");
        }
        assert!(checked("SELECT substring(a FROM 1 FOR 2) AS \"tablesample\" FROM t").is_ok());
    }
}
