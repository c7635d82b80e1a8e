//! Identifiers as SQL compares them.

use datafusion::sql::sqlparser::ast::Ident;

/// What an identifier means: without quotes, its case does not matter.
pub fn normal(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

pub fn same(a: &Ident, b: &Ident) -> bool {
    normal(a) == normal(b)
}

/// Whether an identifier means this column: exactly, or in any case if it has no quotes.
pub fn means(ident: &Ident, column: &str) -> bool {
    match ident.quote_style {
        Some(_) => ident.value == column,
        None => ident.value.eq_ignore_ascii_case(column),
    }
}

/// An identifier that means this name and no other.
pub fn exact(name: impl Into<String>) -> Ident {
    Ident::with_quote('"', name)
}
