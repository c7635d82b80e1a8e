//! Rewrite: `count(t.*)` counts the rows of `t`, of which an outer join has none where it found none.
//!
//! ```text
//! SELECT count(b.*) FROM a LEFT JOIN b USING (id)
//!   ==>  SELECT count(b."count(b.*)") FROM a LEFT JOIN (SELECT *, true AS "count(b.*)" FROM b) AS b USING (id)
//! ```
//!
//! DataFusion takes it for `count(*)`, which it is where no join leaves `t` out. `count(DISTINCT t.*)` and `count(DISTINCT *)`, which would be
//! 1, are refused.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    JoinOperator, ObjectName, OrderBy, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, Statement, TableAlias, TableFactor, TableWithJoins, Visit, VisitMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::Refusal;
use crate::idents::{exact, means, same};
use crate::walk::{Seen, SeenMut, walk, walk_mut};

pub fn rewrite(statement: &mut Statement) -> Result<(), Refusal> {
    let mut counts_any = false;
    walk(statement, &mut |seen| {
        counts_any |= matches!(seen, Seen::Expr(Expr::Function(call)) if counted(call).is_some());
        ControlFlow::Continue(())
    });
    if !counts_any {
        return Ok(());
    }
    let mut done = Ok(());
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(Query { body, order_by, .. }) = seen {
            done = in_body(body, order_by.as_mut());
        }
        if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    done
}

fn in_body(body: &mut SetExpr, order_by: Option<&mut OrderBy>) -> Result<(), Refusal> {
    match body {
        SetExpr::Select(select) => in_select(select, order_by),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left, None)?;
            in_body(right, None)
        }
        // What is in parentheses is a query that will be come by.
        _ => Ok(()),
    }
}

fn in_select(select: &mut Select, mut order_by: Option<&mut OrderBy>) -> Result<(), Refusal> {
    let mut tables = vec![];
    collect(&select.projection, &mut tables)?;
    collect(&select.having, &mut tables)?;
    collect(&select.qualify, &mut tables)?;
    if let Some(order_by) = &order_by {
        collect(&order_by.kind, &mut tables)?;
    }
    for table in tables {
        let mut factors = vec![];
        for tables in &mut select.from {
            in_joins(tables, false, &mut factors);
        }
        let found = factors
            .into_iter()
            .find(|(factor, _)| name_of(factor).is_some_and(|name| means(&table, &name.value)));
        let Some((factor, is_optional)) = found else {
            return Err(refused(&table, "is no table of this FROM"));
        };
        if !is_optional {
            continue;
        }
        if select.projection.iter().any(|item| gives_all(item, &table)) {
            return Err(refused(&table, "stands beside a *"));
        }
        let mark = exact(format!("count({}.*)", table.value));
        *factor =
            marked(factor.clone(), &mark).ok_or_else(|| refused(&table, "is no plain table"))?;
        select.projection.iter_mut().for_each(|item| mark_item(item, &table, &mark));
        mark_calls(&mut select.having, &table, &mark);
        mark_calls(&mut select.qualify, &table, &mark);
        if let Some(order_by) = &mut order_by {
            mark_calls(&mut order_by.kind, &table, &mark);
        }
    }
    Ok(())
}

/// What a call counts the rows of: a table, or (`None`) all that there is.
fn counted(call: &Function) -> Option<Option<&ObjectName>> {
    let FunctionArguments::List(list) = &call.args else { return None };
    if !same(&call.name.to_string(), "count") {
        return None;
    }
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name))] => Some(Some(name)),
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if is_distinct => Some(None),
        _ => None,
    }
}

/// Adds the tables whose rows are counted here, but not in subqueries.
fn collect(part: &impl Visit, tables: &mut Vec<Ident>) -> Result<(), Refusal> {
    let mut depth = 0;
    let mut done = Ok(());
    walk(part, &mut |seen| {
        match seen {
            Seen::Query(_) => depth += 1,
            Seen::AfterQuery => depth -= 1,
            Seen::Expr(Expr::Function(call)) if depth == 0 => {
                match (counted(call), is_distinct(call)) {
                    (Some(_), true) => done = Err(distinct(call)),
                    (Some(Some(name)), false) => {
                        tables.extend(last_of(name).filter(|name| !tables.contains(name)));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    done
}

fn is_distinct(call: &Function) -> bool {
    matches!(&call.args, FunctionArguments::List(list)
        if list.duplicate_treatment == Some(DuplicateTreatment::Distinct))
}

fn last_of(name: &ObjectName) -> Option<Ident> {
    name.0.last().and_then(|part| part.as_ident()).cloned()
}

fn distinct(call: &Function) -> Refusal {
    let at = call.name.0.last().and_then(|part| part.as_ident());
    Refusal::new("count(DISTINCT ...) takes no *", at)
        .hint("SELECT count(*) FROM (SELECT DISTINCT ...) counts the rows that differ")
}

fn refused(table: &Ident, why: &str) -> Refusal {
    let message = format!("count({table}.*): {table} {why}");
    let hint = format!("count a column of {table} that is never NULL, or all rows: count(*)");
    Refusal::new(message, Some(table)).hint(hint)
}

/// The tables that are joined, and whether a join may leave out the rows of each.
fn in_joins<'t>(
    tables: &'t mut TableWithJoins,
    is_optional: bool,
    found: &mut Vec<(&'t mut TableFactor, bool)>,
) {
    use JoinOperator::{FullOuter, Left, LeftOuter, Right, RightOuter};
    let from = found.len();
    in_factor(&mut tables.relation, is_optional, found);
    for join in &mut tables.joins {
        let (of_left, of_right) = match &join.join_operator {
            Left(_) | LeftOuter(_) => (false, true),
            Right(_) | RightOuter(_) => (true, false),
            FullOuter(_) => (true, true),
            _ => (false, false),
        };
        found[from..].iter_mut().for_each(|(_, is_optional)| *is_optional |= of_left);
        in_factor(&mut join.relation, is_optional || of_right, found);
    }
}

fn in_factor<'t>(
    factor: &'t mut TableFactor,
    is_optional: bool,
    found: &mut Vec<(&'t mut TableFactor, bool)>,
) {
    match factor {
        TableFactor::NestedJoin { table_with_joins, alias: None } => {
            in_joins(table_with_joins, is_optional, found);
        }
        factor => found.push((factor, is_optional)),
    }
}

/// The name by which a table can be named.
fn name_of(factor: &TableFactor) -> Option<Ident> {
    let (name, alias) = match factor {
        TableFactor::Table { name, alias, .. } => (last_of(name), alias),
        TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => (None, alias),
        _ => return None,
    };
    alias.as_ref().map(|alias| alias.name.clone()).or(name)
}

/// Whether an item gives all columns of a table.
fn gives_all(item: &SelectItem, table: &Ident) -> bool {
    match item {
        SelectItem::Wildcard(_) => true,
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
            last_of(name).is_some_and(|name| same(&name.value, &table.value))
        }
        _ => false,
    }
}

/// A table with a column more, which is never NULL.
fn marked(factor: TableFactor, mark: &Ident) -> Option<TableFactor> {
    let is_plain = matches!(
        factor,
        TableFactor::Table { args: None, .. } | TableFactor::Derived { lateral: false, .. }
    );
    let name = name_of(&factor).filter(|_| is_plain)?;
    let parser = Parser::new(&GenericDialect {}).try_with_sql("SELECT *, true AS mark FROM t");
    let mut query = parser.and_then(|mut parser| parser.parse_query()).ok()?;
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if let Some(SelectItem::ExprWithAlias { alias, .. }) = select.projection.last_mut() {
        *alias = mark.clone();
    }
    select.from = vec![TableWithJoins { relation: factor, joins: vec![] }];
    let alias = TableAlias { explicit: true, name, columns: vec![], at: None };
    Some(TableFactor::Derived { lateral: false, subquery: query, alias: Some(alias), sample: None })
}

/// A call in a SELECT, called as it is written.
fn mark_item(item: &mut SelectItem, table: &Ident, mark: &Ident) {
    let text = item.to_string();
    let is_marked = mark_calls(item, table, mark);
    if let SelectItem::UnnamedExpr(expr) = item
        && is_marked
    {
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: exact(text) };
    }
}

/// Whether there is any.
fn mark_calls(part: &mut impl VisitMut, table: &Ident, mark: &Ident) -> bool {
    let mut depth = 0;
    let mut any = false;
    walk_mut(part, &mut |seen| {
        match seen {
            SeenMut::Query(_) => depth += 1,
            SeenMut::AfterQuery(_) => depth -= 1,
            SeenMut::Expr(Expr::Function(call)) if depth == 0 => {
                let of = counted(call).flatten().and_then(last_of);
                if of.is_some_and(|of| of == *table)
                    && let FunctionArguments::List(list) = &mut call.args
                {
                    let column = Expr::CompoundIdentifier(vec![table.clone(), mark.clone()]);
                    list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(column))];
                    any = true;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    any
}
