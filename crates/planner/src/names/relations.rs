//! The names in a FROM: tables, CTEs, subqueries, and how they are joined.

use caudal_core::error::nearest;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, JoinConstraint, ObjectName, Spanned, TableAlias, TableAliasColumnDef, TableFactor,
    TableWithJoins, Value,
};

use super::scope::{Column, Meaning, Relation, Scope, pick};
use super::{Columns, Names, Use, exactly_all, idents_of, rename};
use crate::error::{Error, Place};
use crate::idents::{exact, means, same};
use crate::join_syntax::{Keeps, constraint_mut};
use crate::spec::ROW_COLUMN;

/// Functions in a FROM whose columns are known.
const SERIES: [&str; 2] = ["generate_series", "range"];

impl Names<'_> {
    /// Rewrites a FROM; the result is what the rest of its SELECT sees.
    pub fn from<'s>(
        &mut self,
        from: &mut [TableWithJoins],
        outer: Option<&'s Scope<'s>>,
    ) -> Result<Scope<'s>, Error> {
        let mut scope = Scope::within(outer);
        for item in &mut *from {
            let joined = self.joined(item, &scope.relations, outer)?;
            scope.relations.extend(joined.relations);
            scope.merged.extend(joined.merged);
        }
        self.each_once(from, &scope)?;
        Ok(scope)
    }

    /// Of two tables of one name nobody could say which is meant.
    fn each_once(&self, from: &[TableWithJoins], scope: &Scope<'_>) -> Result<(), Error> {
        let names: Vec<_> =
            scope.relations.iter().filter_map(|relation| relation.qualifier.as_deref()).collect();
        let mut repeated =
            names.iter().enumerate().filter(|(at, name)| names[..*at].contains(*name));
        let Some((_, name)) = repeated.next() else { return Ok(()) };
        let at = from.last().map(|item| item.relation.span().start).filter(|at| at.line > 0);
        Err(Error::Mistake {
            query: self.query.name.clone(),
            message: format!("two tables of a FROM are called {name}"),
            hint: Some(format!("give one of them another name: {name} AS other")),
            at: at.and_then(|at| Place::in_sql(&self.query.sql, at.line, at.column)),
        })
    }

    /// One item of a FROM, with its joins. A LATERAL part also sees what stands before.
    fn joined<'s>(
        &mut self,
        item: &mut TableWithJoins,
        before: &[Relation],
        outer: Option<&'s Scope<'s>>,
    ) -> Result<Scope<'s>, Error> {
        let mut scope = Scope::within(outer);
        scope.relations = self.factor(&mut item.relation, &beside(before, &scope), &mut vec![])?;
        for join in &mut item.joins {
            let mut merged = vec![];
            let right = self.factor(&mut join.relation, &beside(before, &scope), &mut merged)?;
            let left = std::mem::take(&mut scope.relations);
            let keeps = Keeps::of(&join.join_operator);
            if let Some(constraint) = constraint_mut(&mut join.join_operator) {
                let columns = self.constraint(constraint, &left, &right)?;
                scope.merged.extend(columns);
                scope.merged.extend(merged);
                scope.relations = [left.clone(), right.clone()].concat();
                self.expressions(constraint, &scope)?;
            }
            scope.relations = match keeps {
                Keeps::Both => [left, right].concat(),
                Keeps::Left => left,
                Keeps::Right => right,
            };
        }
        Ok(scope)
    }

    /// The columns that become one; NATURAL becomes USING, so that hidden columns do not count.
    fn constraint(
        &self,
        constraint: &mut JoinConstraint,
        left: &[Relation],
        right: &[Relation],
    ) -> Result<Vec<String>, Error> {
        let names = |side: &[Relation], written: &Ident| -> Result<Option<String>, Error> {
            let known = side.iter().flat_map(Relation::known).filter(|column| !column.hidden);
            match pick(&written.value, known.filter_map(|column| column.name.as_deref())) {
                Meaning::Exactly(name) => Ok(Some(name)),
                Meaning::Unknown => Ok(None),
                Meaning::Ambiguous { candidates, by_case } => {
                    Err(self.ambiguous("column", written, candidates, by_case))
                }
            }
        };
        if matches!(constraint, JoinConstraint::Natural) {
            let all_known = left.iter().chain(right).all(|relation| relation.columns.is_some());
            if !all_known {
                return Ok(vec![]);
            }
            *constraint = natural(left, right);
        }
        let JoinConstraint::Using(columns) = constraint else { return Ok(vec![]) };
        let mut merged = vec![];
        for column in columns {
            let idents = idents_of(column).unwrap_or_default();
            let [mut ident] = <[Ident; 1]>::try_from(idents).unwrap_or_else(|_| [Ident::new("")]);
            if ident.value.is_empty() {
                continue;
            }
            if ident.quote_style.is_none() {
                match (names(left, &ident)?, names(right, &ident)?) {
                    (Some(one), Some(other)) if one != other => {
                        return Err(self.two_spellings(&ident, &one, &other));
                    }
                    (Some(name), Some(_)) => rename(&mut ident, &name),
                    _ => {}
                }
            }
            merged.push(ident.value.clone());
            *column = ObjectName::from(vec![ident]);
        }
        Ok(merged)
    }

    fn two_spellings(&self, ident: &Ident, one: &str, other: &str) -> Error {
        let message = format!(
            "the column to join by is {one:?} on one side and {other:?} on the other: \
             join ON the two names instead of USING one"
        );
        Error::Syntax { query: self.query.name.clone(), message, at: self.place(ident) }
    }

    fn factor(
        &mut self,
        factor: &mut TableFactor,
        beside: &Scope<'_>,
        merged: &mut Vec<String>,
    ) -> Result<Vec<Relation>, Error> {
        let relation = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let relation = self.table(name)?;
                if let (Some(_), Some(called), None) =
                    (&relation.known_as, &relation.qualifier, &alias)
                {
                    let name = exact(called.clone());
                    *alias = Some(TableAlias { explicit: true, name, columns: vec![], at: None });
                }
                aliased(alias, relation.columns, relation.qualifier)
            }
            TableFactor::Table { name, alias, args: Some(args), .. } => {
                self.expressions(args, beside)?;
                aliased(alias, columns_of_function(name), None)
            }
            TableFactor::Function { name, alias, args, .. } => {
                self.expressions(args, beside)?;
                aliased(alias, columns_of_function(name), None)
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let outer = if *lateral { Some(beside) } else { beside.outer };
                let columns = self.query(subquery, outer, Use::Table)?;
                aliased(alias, columns, None)
            }
            TableFactor::UNNEST { array_exprs, alias, .. } => {
                self.expressions(array_exprs, beside)?;
                aliased(alias, None, None)
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let joined = self.joined(table_with_joins, &[], beside.outer)?;
                if alias.is_none() {
                    merged.extend(joined.merged);
                    return Ok(joined.relations);
                }
                let columns = joined.all_columns();
                aliased(alias, columns, None)
            }
            _ => Relation::new(None, None),
        };
        Ok(vec![relation])
    }

    /// The table or CTE that a name means: a CTE hides a table.
    fn table(&self, name: &mut ObjectName) -> Result<Relation, Error> {
        let Some(mut idents) = idents_of(name) else { return Ok(Relation::new(None, None)) };
        let written = idents.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".");
        if idents.len() == 3 && same(&idents[0].value, "datafusion") {
            idents.remove(0);
        }
        let qualified = idents.len() == 2 && same(&idents[0].value, "public");
        if qualified {
            idents.remove(0);
        }
        let [ident] = &mut idents[..] else { return Err(self.unknown_table(&idents[0], written)) };
        let relation = match self.ctes.iter().rev().find(|cte| is_meant(cte, ident)) {
            Some(cte) if !qualified => Some(cte.clone()),
            _ => self.session_table(ident)?,
        };
        let Some(relation) = relation else { return Err(self.unknown_table(ident, written)) };
        let known_as = relation.known_as.as_ref().or(relation.qualifier.as_ref());
        rename(ident, known_as.map(String::as_str).unwrap_or_default());
        *name = ObjectName::from(vec![ident.clone()]);
        Ok(relation)
    }

    fn session_table(&self, ident: &Ident) -> Result<Option<Relation>, Error> {
        let known = || self.spec.tables.iter().map(|table| table.name.as_str());
        let name = match ident.quote_style {
            Some(_) => known().find(|name| *name == ident.value).map(str::to_string),
            None => match pick(&ident.value, known()) {
                Meaning::Exactly(name) => Some(name),
                Meaning::Unknown => None,
                Meaning::Ambiguous { candidates, by_case } => {
                    return Err(self.ambiguous("table", ident, candidates, by_case));
                }
            },
        };
        let table = name.and_then(|name| self.spec.tables.iter().find(|t| t.name == name));
        Ok(table.map(|table| {
            let fields = table.schema.fields().iter();
            let mut columns: Vec<_> =
                fields.map(|field| Column::new(field.name().clone())).collect();
            if self.with_row {
                columns.push(Column::hidden(ROW_COLUMN));
            }
            Relation::new(Some(table.name.clone()), Some(columns))
        }))
    }

    fn unknown_table(&self, ident: &Ident, written: String) -> Error {
        let ctes = self.ctes.iter().filter_map(|cte| cte.qualifier.as_deref());
        let tables = || self.spec.tables.iter().map(|table| table.name.as_str());
        Error::UnknownTable {
            query: self.query.name.clone(),
            nearest: nearest(&written, ctes.chain(tables())).map(str::to_string),
            known: tables().map(str::to_string).collect(),
            is_itself: self.defining.iter().any(|cte| same(cte, &written)),
            name: written,
            at: self.place(ident),
        }
    }
}

/// Scope of a LATERAL part of a FROM.
fn beside<'s>(before: &[Relation], scope: &Scope<'s>) -> Scope<'s> {
    let relations = [before, &scope.relations].concat();
    Scope { relations, merged: scope.merged.clone(), outputs: vec![], outer: scope.outer }
}

fn is_meant(cte: &Relation, ident: &Ident) -> bool {
    means(ident, cte.qualifier.as_deref().unwrap_or_default())
}

fn aliased(
    alias: &mut Option<TableAlias>,
    columns: Columns,
    qualifier: Option<String>,
) -> Relation {
    match alias {
        Some(alias) => {
            let mut named = exactly_all(alias);
            if let (Some(named), Some(columns)) = (&mut named, &columns) {
                name_the_rest(alias, named, columns);
            }
            Relation::new(Some(alias.name.value.clone()), named.or(columns))
        }
        None => Relation::new(qualifier, columns),
    }
}

/// `t AS x(a)` names the first column: the others keep their names.
fn name_the_rest(alias: &mut TableAlias, named: &mut Vec<Column>, columns: &[Column]) {
    for column in columns.iter().skip(named.len()) {
        let Some(name) = &column.name else { return };
        let name = exact(name.clone());
        alias.columns.push(TableAliasColumnDef { name, data_type: None });
        named.push(column.clone());
    }
}

fn columns_of_function(name: &ObjectName) -> Columns {
    let name = name.to_string().to_lowercase();
    SERIES.contains(&name.as_str()).then(|| vec![Column::new("value".to_string())])
}

/// The columns that both sides have, one by one; all rows with all, if there are none.
fn natural(left: &[Relation], right: &[Relation]) -> JoinConstraint {
    let names = |side: &[Relation]| -> Vec<String> {
        let visible = side.iter().flat_map(Relation::known).filter(|column| !column.hidden);
        visible.filter_map(|column| column.name.clone()).collect()
    };
    let right = names(right);
    // What was joined by before is a column of two tables, and one.
    let mut common: Vec<String> = vec![];
    for name in names(left) {
        if right.iter().any(|other| same(&name, other)) && !common.contains(&name) {
            common.push(name);
        }
    }
    let common = common.into_iter();
    let columns: Vec<_> = common.map(|name| ObjectName::from(vec![Ident::new(name)])).collect();
    match columns.is_empty() {
        true => JoinConstraint::On(Expr::Value(Value::Boolean(true).into())),
        false => JoinConstraint::Using(columns),
    }
}
