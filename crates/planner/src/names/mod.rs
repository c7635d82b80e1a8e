//! Pass: every name in a query becomes the exact name of what it means, in quotes.
//!
//! ```text
//! SELECT Name, COUNT(*) AS Total            SELECT "name", COUNT(*) AS "Total"
//! FROM Games g                       ==>    FROM "games" "g"
//! WHERE G.price > 3                         WHERE "g"."Price" > 3
//! GROUP BY NAME ORDER BY total              GROUP BY "name" ORDER BY "Total"
//! ```
//!
//! DataFusion folds what is not quoted to lower case and compares exactly, so it would find nothing of a file
//! whose header says `Name`. Here a name that is not quoted means what is spelled so, else what is spelled
//! so but for case; of two such things neither is meant. Names are looked up scope by scope, from the
//! inside out, as SQL says: the tables of a FROM ([`relations`]), the outputs of a SELECT ([`outputs`]) for
//! those clauses that see them ([`select`], [`order`]), then what is around a subquery.
//!
//! On the way it is known what every query gives, so this is also where outputs get their names: those that a
//! user sees are the text of the SELECT ([`Outputs`]), the plan's own stay DataFusion's, but repeated ones
//! are told apart; `*` leaves the hidden column out.
//!
//! A name that means nothing that is known here is left alone: DataFusion refuses it.

mod expressions;
mod order;
mod outputs;
mod places;
mod relations;
mod scope;
mod select;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Cte, Ident, ObjectName, Query, SetExpr, Value};

use crate::error::{Error, Place};
use crate::spec::{QuerySpec, SessionSpec};
use crate::walk::{Seen, walk};
use scope::{Column, Relation, Scope};

/// Of each column of an answer what a user calls it; `None` where only the plan can tell.
pub type Outputs = Option<Vec<String>>;

/// Names that outputs get which have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// DataFusion's own, which are about the same for all that is written alike.
    AsWritten,
    /// The numbers of their places, and in all parts of a UNION those of the first part ([`places`]).
    ByPlace,
}

/// Rewrites the names of a statement; says what its columns are called.
pub fn resolve(
    statement: &mut Statement,
    spec: &SessionSpec,
    query: &QuerySpec,
    with_row: bool,
    naming: Naming,
) -> Result<Outputs, Error> {
    let Statement::Statement(inner) = statement else { return Ok(None) };
    let texts = texts_in(inner);
    let ast::Statement::Query(body) = inner.as_mut() else { return Ok(None) };
    let mut names = Names { spec, query, with_row, naming, ctes: vec![], defining: vec![], texts };
    let columns = names.query(body, None, Use::Answer)?;
    Ok(columns.map(|columns| columns.into_iter().map(|column| column.shown).collect()))
}

struct Names<'a> {
    spec: &'a SessionSpec,
    query: &'a QuerySpec,
    /// Whether tables have their hidden column.
    with_row: bool,
    naming: Naming,
    /// Those that can be seen, the nearest last.
    ctes: Vec<Relation>,
    /// Those that are being defined.
    defining: Vec<String>,
    /// All texts of the query: what fields of its structs may be called.
    texts: BTreeSet<String>,
}

/// Purpose of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To be shown: repeated names stay as they are.
    Answer,
    /// To be read by its columns' names, of which each must be there once.
    Table,
    /// As a value or a condition, or beside another in a union: nobody sees its names.
    Nameless,
}

/// Columns of a query's result; `None` where only DataFusion can tell.
type Columns = Option<Vec<Column>>;

impl Names<'_> {
    fn query(
        &mut self,
        query: &mut Query,
        outer: Option<&Scope<'_>>,
        used: Use,
    ) -> Result<Columns, Error> {
        let around = self.ctes.len();
        if let Some(with) = &mut query.with {
            for cte in &mut with.cte_tables {
                self.cte(cte, with.recursive, outer, around)?;
            }
        }
        let mut columns = match query.body.as_mut() {
            // Its ORDER BY sees its tables, too.
            SetExpr::Select(select) => self.select(select, query.order_by.as_mut(), outer, used)?,
            body => {
                let columns = self.body(body, outer, used)?;
                let outputs = Scope::of_outputs(columns.as_deref(), outer);
                if let Some(order_by) = &mut query.order_by {
                    self.expressions(order_by, &outputs)?;
                }
                columns
            }
        };
        let nothing = Scope::within(outer);
        self.expressions(&mut query.limit_clause, &nothing)?;
        self.ctes.truncate(around);
        if let (Some(columns), Use::Table) = (&mut columns, used) {
            order::called_as_shown(query, columns);
        }
        Ok(columns)
    }

    fn body(
        &mut self,
        body: &mut SetExpr,
        outer: Option<&Scope<'_>>,
        used: Use,
    ) -> Result<Columns, Error> {
        match body {
            SetExpr::Select(select) => self.select(select, None, outer, used),
            SetExpr::Query(query) => self.query(query, outer, used),
            SetExpr::SetOperation { left, right, .. } => {
                let columns = self.body(left, outer, used)?;
                match self.naming {
                    Naming::AsWritten => drop(self.body(right, outer, Use::Nameless)?),
                    Naming::ByPlace => {
                        let own = self.body(right, outer, Use::Table)?;
                        if let (Some(columns), Some(own)) = (&columns, &own) {
                            places::called_alike(right, own, columns);
                        }
                    }
                }
                Ok(columns)
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.len());
                self.expressions(values, &Scope::within(outer))?;
                Ok(Some((1..=width).map(|at| Column::new(format!("column{at}"))).collect()))
            }
            _ => Ok(None),
        }
    }

    /// Adds a CTE to those that can be seen: a recursive one sees itself, under the names that its first
    /// part gives it.
    fn cte(
        &mut self,
        cte: &mut Cte,
        recursive: bool,
        outer: Option<&Scope<'_>>,
        // The number of those around its WITH.
        hidden: usize,
    ) -> Result<(), Error> {
        let named = exactly_all(&mut cte.alias);
        let called = cte.alias.name.value.clone();
        let around = self.ctes.len();
        let known_as = self.another_name(&called, hidden);
        if let Some(name) = &known_as {
            rename(&mut cte.alias.name, name);
        }
        let relation = |columns| Relation {
            known_as: known_as.clone(),
            ..Relation::new(Some(called.clone()), columns)
        };
        if recursive && let SetExpr::SetOperation { left, .. } = cte.query.body.as_ref() {
            let columns = match &named {
                Some(_) => named.clone(),
                None => self.body(&mut left.clone(), outer, Use::Table)?,
            };
            self.ctes.push(relation(columns));
        }
        self.defining.push(called.clone());
        let columns = self.query(&mut cte.query, outer, Use::Table)?;
        self.defining.pop();
        self.ctes.truncate(around);
        self.ctes.push(relation(named.or(columns)));
        Ok(())
    }

    /// Another name for a CTE that hides one around it, which is legal: DataFusion refuses it.
    fn another_name(&self, name: &str, hidden: usize) -> Option<String> {
        let is_known = |name: &str| {
            let of_cte = |cte: &Relation| {
                [&cte.qualifier, &cte.known_as]
                    .into_iter()
                    .any(|known| known.as_deref() == Some(name))
            };
            self.ctes.iter().any(of_cte) || self.spec.tables.iter().any(|table| table.name == name)
        };
        let hides = self.ctes[..hidden].iter().any(|cte| cte.qualifier.as_deref() == Some(name));
        let mut others = (2..).map(|number| format!("{name} #{number}"));
        if hides { others.find(|other| !is_known(other)) } else { None }
    }

    fn place(&self, ident: &Ident) -> Option<Place> {
        let start = ident.span.start;
        Place::in_sql(&self.query.sql, start.line, start.column)
    }
}

/// Keeps a new name as it is written. The names of an alias's columns, if it has any.
fn exactly_all(alias: &mut ast::TableAlias) -> Columns {
    exactly(&mut alias.name);
    let columns = alias.columns.iter_mut().map(|column| {
        exactly(&mut column.name);
        Column::new(column.name.value.clone())
    });
    let columns: Vec<_> = columns.collect();
    if columns.is_empty() { None } else { Some(columns) }
}

fn exactly(ident: &mut Ident) {
    ident.quote_style = Some('"');
}

fn rename(ident: &mut Ident, name: &str) {
    ident.value = name.to_string();
    exactly(ident);
}

/// The identifiers of a name, if it is made of nothing else.
fn idents_of(name: &ObjectName) -> Option<Vec<Ident>> {
    name.0.iter().map(|part| part.as_ident().cloned()).collect()
}

fn texts_in(statement: &ast::Statement) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    walk(statement, &mut |seen| {
        if let Seen::Value(value) = seen
            && let Value::SingleQuotedString(text) = &value.value
        {
            texts.insert(text.clone());
        }
        ControlFlow::Continue(())
    });
    texts
}
