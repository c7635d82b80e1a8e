//! The columns of the tables that `USING` and `NATURAL` join: planned, since a table may be a subquery or
//! a WITH.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use datafusion::common::config::Dialect;
use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{
    Cte, Query, Select, Statement, TableFactor, TableWithJoins, Visit, Visitor, With,
};

use crate::idents::means;
use crate::join_syntax::is_by_name;

/// For every table of every SELECT that joins so, in the order they are visited: its columns, or nothing
/// if it cannot be planned by itself.
pub type Relations = VecDeque<Option<Vec<String>>>;

pub async fn plan(state: &SessionState, statement: &Statement) -> Relations {
    let mut found = Tables::default();
    let _: ControlFlow<()> = statement.visit(&mut found);
    let mut relations = Relations::new();
    for sql in found.queries {
        relations.push_back(columns(state, &sql).await);
    }
    relations
}

async fn columns(state: &SessionState, sql: &str) -> Option<Vec<String>> {
    let statement = state.sql_to_statement(sql, &Dialect::Generic).ok()?;
    let plan = state.statement_to_plan(statement).await.ok()?;
    Some(plan.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// Whether a SELECT joins by the names of columns.
pub fn joins_by_name(select: &Select) -> bool {
    fn in_joins(table: &TableWithJoins) -> bool {
        let mut joins = table.joins.iter();
        joins.any(|join| is_by_name(&join.join_operator) || nested(&join.relation))
            || nested(&table.relation)
    }
    fn nested(factor: &TableFactor) -> bool {
        match factor {
            TableFactor::NestedJoin { table_with_joins, .. } => in_joins(table_with_joins),
            _ => false,
        }
    }
    select.from.iter().any(in_joins)
}

/// Collects, for each table, the query that gives its columns.
#[derive(Default)]
struct Tables {
    scopes: Vec<Scope>,
    queries: Vec<String>,
}

/// A query that is being visited: first its WITH, one by one, then itself.
struct Scope {
    with: Option<With>,
    visited: usize,
}

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.scopes.push(Scope { with: query.with.clone(), visited: 0 });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.scopes.pop();
        if let Some(outer) = self.scopes.last_mut() {
            outer.visited += 1;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if joins_by_name(select) {
            let with = self.visible();
            for table in &select.from {
                self.add(table, &with);
            }
        }
        ControlFlow::Continue(())
    }
}

impl Tables {
    fn add(&mut self, table: &TableWithJoins, with: &str) {
        let joined = table.joins.iter().map(|join| &join.relation);
        for factor in std::iter::once(&table.relation).chain(joined) {
            match factor {
                TableFactor::NestedJoin { table_with_joins, .. } => {
                    self.add(table_with_joins, with)
                }
                factor => self.queries.push(format!("{with}SELECT * FROM {factor}")),
            }
        }
    }

    /// The WITHs that can be named here; an inner one hides an outer one of its name.
    fn visible(&self) -> String {
        let mut visible: Vec<&Cte> = vec![];
        let mut recursive = false;
        for scope in &self.scopes {
            let Some(with) = &scope.with else { continue };
            recursive |= with.recursive;
            // While one of them is visited, those after it are not known yet.
            let known = if with.recursive { with.cte_tables.len() } else { scope.visited };
            for cte in with.cte_tables.iter().take(known) {
                visible.retain(|outer| !means(&outer.alias.name, &cte.alias.name.value));
                visible.push(cte);
            }
        }
        if visible.is_empty() {
            return String::new();
        }
        let visible: Vec<_> = visible.into_iter().map(ToString::to_string).collect();
        let word = if recursive { "WITH RECURSIVE" } else { "WITH" };
        format!("{word} {} ", visible.join(", "))
    }
}
