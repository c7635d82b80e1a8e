//! Files in a FROM: `SELECT * FROM 'games.csv'`.
//!
//! Nothing is opened here, nor by whoever plans: a text where a table is expected is a name like any other. It means
//! something only if whoever asks has given the session a table of that name.

use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{ObjectNamePart, TableFactor};
use datafusion::sql::sqlparser::dialect::GenericDialect;

use crate::spec::QuerySpec;
use crate::walk::{Seen, walk};
use crate::{materialized, text};

/// The texts in single quotes that stand where a table is expected, each once, in their order. None of a query that cannot
/// be read: whoever plans it says why.
pub fn files_in_from(sql: &str) -> Vec<String> {
    let mut files = vec![];
    for statement in statements(sql) {
        let Statement::Statement(statement) = statement else { continue };
        walk(statement.as_ref(), &mut |seen| {
            if let Seen::Factor(factor) = seen
                && let Some(file) = file_of(factor)
                && !files.contains(&file)
            {
                files.push(file);
            }
            ControlFlow::Continue(())
        });
    }
    files
}

fn statements(sql: &str) -> Vec<Statement> {
    let query = QuerySpec { name: String::new(), sql: sql.to_string(), params: vec![] };
    // The parser would go as deep as a chain is long.
    if text::check(&query).is_err() {
        return vec![];
    }
    let sql = materialized::without(sql);
    let parser = DFParserBuilder::new(sql.as_ref()).with_dialect(&GenericDialect {}).build();
    let statements = parser.and_then(|mut parser| parser.parse_statements());
    statements.map(Vec::from).unwrap_or_default()
}

fn file_of(factor: &TableFactor) -> Option<String> {
    let TableFactor::Table { name, args: None, .. } = factor else { return None };
    match &name.0[..] {
        [ObjectNamePart::Identifier(ident)] if ident.quote_style == Some('\'') => {
            Some(ident.value.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::files_in_from;

    #[test]
    fn only_what_stands_for_a_table_is_a_file() {
        for (sql, expected) in [
            ("SELECT * FROM 'a.csv'", vec!["a.csv"]),
            (
                "SELECT * FROM 'a.csv' x JOIN 'b/*.csv' ON x.id = 'c.csv', 'a.csv'",
                vec!["a.csv", "b/*.csv"],
            ),
            (
                "WITH w AS (SELECT 1 FROM 'a') SELECT (SELECT max(x) FROM 'b''s') FROM w",
                vec!["a", "b's"],
            ),
            (
                "SELECT * FROM t WHERE a IN (SELECT b FROM 't.csv{delimiter=\";\"}')",
                vec!["t.csv{delimiter=\";\"}"],
            ),
            ("SELECT extract(year FROM '2024-01-01'), trim('x' FROM 'y') FROM \"t.csv\"", vec![]),
            ("SELECT a IS DISTINCT FROM 'b' FROM t", vec![]),
            ("SELECT FROM FROM 'a'", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(files_in_from(sql), expected, "{sql}");
        }
    }
}
