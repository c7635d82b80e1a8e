//! Pass: what can be told from the words of a query, before it is parsed.
//!
//! A chain of operators (`a + b + c ...`, `x OR y OR z ...`, `... IS NULL IS NULL`, `FROM a, b, c`) becomes a tree as
//! deep as the chain is long. The parser counts parentheses but not this, and a tree that is deep enough takes whoever
//! walks it beyond the end of its stack: not an error but the end of the process, a gateway's too.
//!
//! So the depth of the tree is estimated from above: every word that is not known to be harmless is an operator, and the
//! chains of all levels of parentheses that a word is in are added up.

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
    let mut levels = Levels::default();
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).map(|word| keyword(&word.token));
        if let Some(message) = ignored(keyword(&word.token), next) {
            return Err(refusal(query, message.to_string(), word.span.start));
        }
        if levels.read(&word.token) > limits::EXPRESSION_TERMS_MAX {
            let max = limits::EXPRESSION_TERMS_MAX;
            let message =
                format!("a chain of more than {max} operators; IN (...) or a table may be longer");
            return Err(refusal(query, message, word.span.start));
        }
    }
    Ok(())
}

/// Reason to refuse a clause that the planner would read and ignore.
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

/// The parentheses, brackets and CASEs that are open, the outermost first.
struct Levels {
    chains: Vec<Chain>,
    /// The depth of all of them but the innermost.
    outer_depth: usize,
}

impl Default for Levels {
    fn default() -> Self {
        Self { chains: vec![Chain::default()], outer_depth: 0 }
    }
}

impl Levels {
    /// Reads one more word; gives how deep the tree may be where it stands.
    fn read(&mut self, token: &Token) -> usize {
        match (token, keyword(token)) {
            (Token::LParen | Token::LBracket | Token::LBrace, _) | (_, Keyword::CASE) => {
                // What comes before may be what this is applied to: `a[1][2][3]`, `f(x)`.
                self.innermost().add(token);
                self.outer_depth += self.innermost().depth();
                self.chains.push(Chain::default());
            }
            (Token::RParen | Token::RBracket | Token::RBrace, _) | (_, Keyword::END) => {
                if self.chains.len() > 1 {
                    self.chains.pop();
                    self.outer_depth -= self.innermost().depth();
                }
            }
            _ => self.innermost().add(token),
        }
        self.outer_depth + self.innermost().depth()
    }

    fn innermost(&mut self) -> &mut Chain {
        self.chains.last_mut().expect("the outermost is never popped")
    }
}

/// The operators of one level, by how tightly they bind: those of a looser kind begin those of all tighter kinds anew.
#[derive(Default)]
struct Chain {
    counts: [usize; 6],
    /// Between FROM and what comes after the tables: a comma is a join here.
    in_from: bool,
    /// The last word was DISTINCT: a FROM behind it belongs to `IS DISTINCT FROM`.
    after_distinct: bool,
}

impl Chain {
    fn add(&mut self, token: &Token) {
        let word = keyword(token);
        let after_distinct = std::mem::replace(&mut self.after_distinct, word == Keyword::DISTINCT);
        let kind = match (token, word) {
            (Token::Comma, _) if self.in_from => 1,
            (Token::Comma | Token::SemiColon, _) => return self.begin_anew(2),
            (Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq, _) => 4,
            (_, Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT) => 0,
            (_, Keyword::JOIN) => 1,
            (_, Keyword::OR) => 2,
            (_, Keyword::AND) => 3,
            (_, Keyword::SELECT) => return self.begin_clause(1, false),
            (_, Keyword::FROM) if !after_distinct => return self.begin_clause(2, true),
            (_, Keyword::WHERE | Keyword::HAVING | Keyword::BY) => {
                return self.begin_clause(2, false);
            }
            (_, Keyword::ON | Keyword::WHEN | Keyword::THEN | Keyword::ELSE) => {
                return self.begin_anew(2);
            }
            // What stands for a value, alone: two of them in a row are two operands of what has been counted.
            (Token::Number(..) | Token::SingleQuotedString(_) | Token::Placeholder(_), _) => return,
            (Token::Word(_), Keyword::NoKeyword) | (Token::Period, _) => return,
            _ => 5,
        };
        self.counts[kind] += 1;
        self.begin_anew(kind + 1);
    }

    fn begin_clause(&mut self, from: usize, in_from: bool) {
        self.in_from = in_from;
        self.begin_anew(from);
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
    use caudal_core::Coded;

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
            assert!(refused.excerpt().is_some());
        }
        assert!(checked(chained("SELECT 1", " UNION ALL ", MAX + 10)).is_err());
        let joined = chained("t", " JOIN t ON a = a ", MAX + 10);
        assert!(checked(format!("SELECT 1 FROM {joined}")).is_err());
    }

    /// Texts that were found to end a process, or could: each makes a tree that is about as deep as the text is long.
    #[test]
    fn whatever_makes_a_tree_deep_is_counted() {
        let again = |text: &str| text.repeat(MAX + 10);
        for deep in [
            format!("SELECT 1{}", again(" IS NULL")),
            format!("SELECT 1{}", again(" IS DISTINCT FROM 1")),
            format!("SELECT 1{}", again("::int")),
            format!("SELECT 1{}", again(" AT TIME ZONE 'utc'")),
            format!("SELECT a{}", again("[1]")),
            format!("SELECT {}1", again("NOT ")),
            format!("SELECT {}1", again("- ")),
            format!("SELECT {}1", again("CASE WHEN true THEN ")),
            format!("SELECT {}1", again("[1, ")),
            format!("SELECT 1 FROM t{}", again(", t")),
            format!("SELECT 1 FROM t{}", again(" CROSS JOIN t")),
            format!("SELECT {}1", format!("{}(", "1 + ".repeat(MAX / 10)).repeat(11)),
        ] {
            let refused = checked(&deep).expect_err(&deep[..60]);
            assert!(refused.to_string().contains("a chain of more than"), "{refused}");
        }
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
