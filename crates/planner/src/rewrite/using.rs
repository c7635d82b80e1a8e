//! Rewrite: joins by the names of columns say what they compare, and which of the two columns is meant.
//!
//! ```text
//! SELECT *, k FROM t FULL JOIN u USING (k)
//!   ==>  SELECT coalesce(t.k, u.k) AS k, t.* EXCEPT (k), u.* EXCEPT (k), coalesce(t.k, u.k) AS k
//!        FROM t FULL JOIN u ON t.k = u.k
//! ```
//!
//! SQL says that the joined column comes first, once, and is the one that has a value: the left one's for
//! a LEFT JOIN, the right one's for a RIGHT JOIN, either for a FULL JOIN. DataFusion takes the column of
//! the table whose name sorts first.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, OrderByKind, Query, Select,
    SelectItem, SetExpr, Statement, TableAlias, TableFactor, TableWithJoins, Value, VisitMut,
    VisitorMut, WildcardAdditionalOptions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::columns::{Columns, Part, named};
use super::relations::{Relations, joins_by_name};
use super::{Refusal, call};
use crate::idents::{exact, means, normal};
use crate::join_syntax::{Keeps, constraint, constraint_mut, is_by_name};

pub fn rewrite(statement: &mut Statement, relations: Relations) -> Result<(), Refusal> {
    let mut using = Using { relations, generated: 0, orders: vec![] };
    match statement.visit(&mut using) {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Using {
    relations: Relations,
    generated: usize,
    /// For each query that is being visited, what its ORDER BY has to replace.
    orders: Vec<Option<Columns>>,
}

impl VisitorMut for Using {
    type Break = Refusal;

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Refusal> {
        self.orders.push(None);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Refusal> {
        if !joins_by_name(select) {
            return ControlFlow::Continue(());
        }
        match self.select(select) {
            Ok(columns) => {
                if let Some(order) = self.orders.last_mut() {
                    *order = Some(columns);
                }
                ControlFlow::Continue(())
            }
            Err(refusal) => ControlFlow::Break(refusal),
        }
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Refusal> {
        let columns = self.orders.pop().flatten();
        if let (SetExpr::Select(select), Some(columns)) = (query.body.as_ref(), columns)
            && let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(orders) = &mut order.kind
        {
            for order in orders {
                // A name alone is one of the answer's columns first.
                let in_answer =
                    matches!(&order.expr, Expr::Identifier(name) if answers(select, name));
                if !in_answer {
                    columns.replace(&mut order.expr);
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn answers(select: &Select, name: &Ident) -> bool {
    select.projection.iter().any(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => means(name, &alias.value),
        SelectItem::UnnamedExpr(Expr::Identifier(column)) => means(name, &column.value),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
            parts.last().is_some_and(|column| means(name, &column.value))
        }
        _ => false,
    })
}

impl Using {
    fn select(&mut self, select: &mut Select) -> Result<Columns, Refusal> {
        let mut all = Columns::default();
        for table in &mut select.from {
            all.parts.extend(self.table(table)?.parts);
        }
        let mut items = vec![];
        for item in std::mem::take(&mut select.projection) {
            match item {
                SelectItem::Wildcard(options) => items.extend(all.all(&options)?),
                SelectItem::UnnamedExpr(mut expr) => {
                    let name = match &expr {
                        Expr::Identifier(name) => exact(normal(name)),
                        other => exact(other.to_string()),
                    };
                    items.push(match all.replace(&mut expr) {
                        true => named(expr, name),
                        false => SelectItem::UnnamedExpr(expr),
                    });
                }
                mut other => {
                    all.replace(&mut other);
                    items.push(other);
                }
            }
        }
        select.projection = items;
        all.replace(&mut select.distinct);
        all.replace(&mut select.selection);
        all.replace(&mut select.group_by);
        all.replace(&mut select.having);
        all.replace(&mut select.named_window);
        all.replace(&mut select.qualify);
        Ok(all)
    }

    fn table(&mut self, table: &mut TableWithJoins) -> Result<Columns, Refusal> {
        let mut left = self.factor(&mut table.relation)?;
        for join in &mut table.joins {
            let right = self.factor(&mut join.relation)?;
            left = joined(left, right, join)?;
        }
        Ok(left)
    }

    fn factor(&mut self, factor: &mut TableFactor) -> Result<Columns, Refusal> {
        if let TableFactor::NestedJoin { table_with_joins, alias } = factor {
            let columns = self.table(table_with_joins)?;
            let Some(alias) = alias.take() else { return Ok(columns) };
            let inner = table_with_joins.as_ref().clone();
            let names = columns.names();
            *factor = derived(inner, &columns, alias.clone())?;
            return Ok(one_table(alias.name, names));
        }
        let columns = self.relations.pop_front().flatten();
        let table = self.name(factor);
        match (columns, table) {
            (Some(columns), Some(table)) => Ok(one_table(table, columns)),
            (_, table) => Err(Refusal::new("this cannot be joined with USING", table.as_ref())
                .hint("say what is compared: JOIN ... ON a.k = b.k")),
        }
    }

    /// The name that the table's columns can be named with; one is given to what has none.
    fn name(&mut self, factor: &mut TableFactor) -> Option<Ident> {
        let (alias, name) = match factor {
            TableFactor::Table { alias, name, .. } | TableFactor::Function { alias, name, .. } => {
                (alias, name.0.last().and_then(|part| part.as_ident()).cloned())
            }
            TableFactor::Derived { alias, .. } | TableFactor::UNNEST { alias, .. } => (alias, None),
            _ => return None,
        };
        if let Some(alias) = alias {
            return Some(alias.name.clone());
        }
        if name.is_some() {
            return name;
        }
        self.generated += 1;
        let name = exact(format!("joined {}", self.generated));
        *alias = Some(alias_of(name.clone()));
        Some(name)
    }
}

fn one_table(table: Ident, columns: Vec<String>) -> Columns {
    Columns { parts: vec![Part::Table { table, columns, hidden: vec![] }] }
}

fn alias_of(name: Ident) -> TableAlias {
    TableAlias { explicit: true, name, columns: vec![], at: None }
}

/// `(t JOIN u USING (k)) AS j` is a subquery.
fn derived(
    inner: TableWithJoins,
    columns: &Columns,
    alias: TableAlias,
) -> Result<TableFactor, Refusal> {
    let broken = |_| Refusal::new("this join cannot have a name", Some(&alias.name));
    let parser = Parser::new(&GenericDialect {}).try_with_sql("SELECT 1");
    let mut query = parser.and_then(|mut parser| parser.parse_query()).map_err(broken)?;
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.projection = columns.all(&WildcardAdditionalOptions::default())?;
        select.from = vec![inner];
    }
    let alias = Some(alias);
    Ok(TableFactor::Derived { lateral: false, subquery: query, alias, sample: None })
}

/// The columns of a join, whose condition is said in full from here on.
fn joined(mut left: Columns, mut right: Columns, join: &mut Join) -> Result<Columns, Refusal> {
    let by = match constraint(&join.join_operator) {
        Some(JoinConstraint::Using(names)) => {
            names.iter().filter_map(|name| name.0.last()?.as_ident().cloned()).collect()
        }
        Some(JoinConstraint::Natural) => {
            let common = right.names();
            left.names().into_iter().filter(|name| common.contains(name)).map(exact).collect()
        }
        _ => vec![],
    };
    let by_name = is_by_name(&join.join_operator);
    let (mut parts, mut condition) = (vec![], None);
    for name in &by {
        let missing = || {
            Refusal::new(format!("there is no column {name} on both sides of the join"), Some(name))
        };
        let (column, ours) = left.find(name)?.ok_or_else(missing)?;
        let (theirs_name, theirs) = right.find(name)?.ok_or_else(missing)?;
        left.hide(&column);
        right.hide(&theirs_name);
        let equal = binary(ours.clone(), BinaryOperator::Eq, theirs.clone());
        condition = Some(match condition {
            None => equal,
            Some(before) => binary(before, BinaryOperator::And, equal),
        });
        let is = either(&join.join_operator, ours, theirs);
        parts.push(Part::Joined { name: column, is });
    }
    let keeps = Keeps::of(&join.join_operator);
    if keeps != Keeps::Right {
        parts.extend(left.parts);
    }
    if keeps != Keeps::Left {
        parts.extend(right.parts);
    }
    let columns = Columns { parts };
    match constraint_mut(&mut join.join_operator) {
        Some(by) if by_name => {
            let nothing = || Expr::Value(Value::Boolean(true).into());
            *by = JoinConstraint::On(condition.unwrap_or_else(nothing));
        }
        Some(JoinConstraint::On(condition)) => {
            columns.replace(condition);
        }
        _ => {}
    }
    Ok(columns)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// Of the two columns that are equal where rows match, what there is where they do not.
fn either(join: &JoinOperator, left: Expr, right: Expr) -> Expr {
    use JoinOperator::{FullOuter, Right, RightAnti, RightOuter, RightSemi};
    match join {
        FullOuter(_) => call("coalesce", vec![left, right]),
        Right(_) | RightOuter(_) | RightSemi(_) | RightAnti(_) => right,
        _ => left,
    }
}
