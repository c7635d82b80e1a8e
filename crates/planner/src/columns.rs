//! A column that is not there: what was probably meant.

use std::ops::ControlFlow;

use caudal_core::error::nearest;
use datafusion::common::Column;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem};

use crate::diagnose::Diagnose;
use crate::error::{Error, Place, listed};
use crate::spec::ROW_COLUMN;
use crate::walk::{Seen, walk};

pub fn unknown(
    diagnose: &Diagnose<'_>,
    statement: &Statement,
    field: &Column,
    valid: &[Column],
    at: Option<Place>,
) -> Error {
    let sql = &diagnose.query.sql;
    let place = |line, column| Place::in_sql(sql, line, column);
    let written = written(statement, field.name());
    let at = at.or_else(|| {
        let span = field.spans.first();
        let span = span.and_then(|span| place(span.start.line, span.start.column));
        span.or_else(|| {
            let start = written.as_ref()?.span.start;
            place(start.line, start.column)
        })
    });
    let table = table_of(field);
    let no_such_table =
        table.filter(|table| !valid.iter().any(|column| table_of(column) == Some(*table)));
    let hint = if let Some(table) = no_such_table {
        let tables = valid.iter().filter_map(table_of);
        Some(match nearest(table, tables) {
            Some(meant) => format!("nothing in FROM is called {table:?}; did you mean {meant:?}?"),
            None => format!("nothing in FROM is called {table:?}"),
        })
    } else if let Some(hint) = meant(field, valid) {
        Some(hint)
    } else if is_output(statement, field.name()) {
        Some(format!(
            "{} is a name that the SELECT gives, which is not there yet: repeat what it stands for, or put a query around",
            field.name()
        ))
    } else if written.as_ref().is_some_and(|ident| ident.quote_style.is_some())
        && is_quoted(sql, field.name())
    {
        Some(format!(
            "double quotes are for names; a text stands in single quotes: '{}'",
            field.name()
        ))
    } else if valid.is_empty() {
        Some("there are no columns here: is a FROM missing?".to_string())
    } else {
        let mut names: Vec<_> = valid.iter().map(|column| column.name().to_string()).collect();
        names.retain(|name| name != ROW_COLUMN);
        Some(format!("the columns here are {}", listed(&names)))
    };
    Error::UnknownColumn { query: diagnose.name(), name: field.flat_name(), hint, at }
}

/// The column that was probably meant. Of another table than the one that was named it is another column, and a comparison with
/// it another question: that is said, and not only its name.
fn meant(field: &Column, valid: &[Column]) -> Option<String> {
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    let is_same = |column: &&Column| letters(column.name()) == letters(field.name());
    let table = table_of(field);
    let here = || valid.iter().filter(|column| table.is_none() || table_of(column) == table);
    if let Some(same) = here().find(is_same) {
        return Some(format!("did you mean {:?}?", same.name()));
    }
    let elsewhere = valid.iter().find(|column| column.name().eq_ignore_ascii_case(field.name()));
    if let Some(other) = elsewhere.and_then(table_of) {
        return Some(format!("{other:?} has a column of that name"));
    }
    let near = nearest(field.name(), here().map(|column| column.name()))?;
    Some(format!("did you mean {near:?}?"))
}

fn table_of(column: &Column) -> Option<&str> {
    column.relation.as_ref().map(|relation| relation.table())
}

/// The identifier as it stands in the query.
fn written(statement: &Statement, name: &str) -> Option<Ident> {
    let Statement::Statement(statement) = statement else { return None };
    let is = |ident: &Ident| ident.value.eq_ignore_ascii_case(name);
    let mut found = None;
    walk(statement.as_ref(), &mut |seen| {
        match seen {
            Seen::Expr(Expr::Identifier(ident)) if is(ident) => found = Some(ident.clone()),
            Seen::Expr(Expr::CompoundIdentifier(idents)) if idents.last().is_some_and(is) => {
                found = idents.first().cloned();
            }
            _ => return ControlFlow::Continue(()),
        }
        ControlFlow::Break(())
    });
    found
}

/// Whether it stands in double quotes in the text itself: names that were understood have got some since.
fn is_quoted(sql: &str, name: &str) -> bool {
    sql.contains(&format!("\"{name}\""))
}

/// Whether some SELECT of the statement calls an output so.
fn is_output(statement: &Statement, name: &str) -> bool {
    let is_so = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => alias.value.eq_ignore_ascii_case(name),
        _ => false,
    };
    let Statement::Statement(statement) = statement else { return false };
    let mut found = false;
    walk(statement.as_ref(), &mut |seen| {
        if let Seen::Select(select) = seen {
            found |= select.projection.iter().any(is_so);
        }
        ControlFlow::Continue(())
    });
    found
}
