//! Identifiers as SQL compares them.

use datafusion::sql::sqlparser::ast::Ident;

/// Whether two names are one but for case.
pub fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || one.to_lowercase() == other.to_lowercase()
}

/// Whether an identifier means what is called so: exactly, or in any case if it has no quotes.
pub fn means(ident: &Ident, name: &str) -> bool {
    match ident.quote_style {
        Some(_) => ident.value == name,
        None => same(&ident.value, name),
    }
}

/// Normal form of a new name: without quotes, its case does not matter.
pub fn normal(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// An identifier that means this name and no other.
pub fn exact(name: impl Into<String>) -> Ident {
    Ident::with_quote('"', name)
}
