//! The names in ORDER BY and DISTINCT ON.
//!
//! ```text
//! SELECT 300 - w AS w FROM b ORDER BY w          SELECT 300 - w AS w_1 FROM b ORDER BY w_1
//! SELECT 300 - w AS w FROM b ORDER BY w + 0      SELECT 300 - w AS w_1 FROM b ORDER BY w + 0
//! ```
//!
//! A name alone is one that the SELECT gives; in an expression it is a column of the FROM, if that has one. DataFusion takes it for an
//! output in either case. So an output makes way for a column that is named so: DataFusion knows it by another name, of which
//! nobody hears. Where others read it by its name, as in a subquery in a FROM, it gets that back ([`called_as_shown`]).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, OrderBy, OrderByKind, Query, SelectItem, SetExpr, TableFactor,
    TableWithJoins,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::scope::{Column, Meaning, Relation, Scope};
use crate::idents::exact;
use crate::walk::{Seen, walk};

/// The columns of the FROM that expressions in ORDER BY and DISTINCT ON name.
pub fn inputs_of(
    distinct: Option<&Distinct>,
    order_by: Option<&OrderBy>,
    scope: &Scope<'_>,
) -> BTreeSet<String> {
    let mut keys: Vec<&Expr> = vec![];
    if let Some(Distinct::On(expressions)) = distinct {
        keys.extend(expressions);
    }
    if let Some(OrderByKind::Expressions(orders)) = order_by.map(|by| &by.kind) {
        keys.extend(orders.iter().map(|order| &order.expr));
    }
    let mut names = BTreeSet::new();
    for key in keys.into_iter().filter(|key| !matches!(key, Expr::Identifier(_))) {
        let mut depth = 0;
        walk(key, &mut |seen| {
            match seen {
                Seen::Query(_) => depth += 1,
                Seen::AfterQuery => depth -= 1,
                Seen::Expr(expr) if depth == 0 => names.extend(input(expr, scope)),
                _ => {}
            }
            ControlFlow::Continue(())
        });
    }
    names
}

/// The column of the FROM that is named here.
fn input(expr: &Expr, scope: &Scope<'_>) -> Option<String> {
    let ident = match expr {
        Expr::Identifier(ident) => ident,
        Expr::CompoundIdentifier(idents) => match &idents[..] {
            [table, column, ..] if scope.relation(table).is_some() => column,
            [column, ..] => column,
            [] => return None,
        },
        _ => return None,
    };
    match ident.quote_style {
        Some(_) => {
            let known = scope.relations.iter().flat_map(Relation::known);
            let is_known =
                known.filter_map(|column| column.name.as_ref()).any(|n| *n == ident.value);
            is_known.then(|| ident.value.clone())
        }
        None => match scope.input(&ident.value) {
            Meaning::Exactly(name) => Some(name),
            // Which of them, whoever rewrites it will ask.
            Meaning::Ambiguous { .. } => Some(ident.value.clone()),
            Meaning::Unknown => None,
        },
    }
}

/// A query, its columns called as a user calls them.
pub fn called_as_shown(query: &mut Query, columns: &mut [Column]) {
    if columns.iter().all(|column| column.name.as_ref() == Some(&column.shown)) {
        return;
    }
    let parser = Parser::new(&GenericDialect {}).try_with_sql("SELECT 1");
    let Ok(mut outer) = parser.and_then(|mut parser| parser.parse_query()) else {
        unreachable!("it is a query");
    };
    let SetExpr::Select(select) = outer.body.as_mut() else { unreachable!("it is a SELECT") };
    let items = columns.iter_mut().map(|column| {
        let name = column.name.replace(column.shown.clone());
        let expr = Expr::Identifier(exact(name.unwrap_or_else(|| column.shown.clone())));
        SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', column.shown.clone()) }
    });
    select.projection = items.collect();
    std::mem::swap(query, outer.as_mut());
    let inner = TableFactor::Derived { lateral: false, subquery: outer, alias: None, sample: None };
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.from = vec![TableWithJoins { relation: inner, joins: vec![] }];
    }
}
