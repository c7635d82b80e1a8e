//! Parts of a query that do not fit together: numbers of columns, positions that are not there, limits that are
//! no numbers.

use datafusion::execution::SessionState;
use datafusion::logical_expr::type_coercion::binary::type_union_coercion;
use datafusion::sql::sqlparser::ast::{
    Cte, Expr, GroupByExpr, LimitClause, OrderByKind, Query, SetExpr, Spanned, TableAlias,
    TableFactor, UnaryOperator, Value,
};
use datafusion::sql::sqlparser::tokenizer::Location;

use super::plain::type_name;
use super::trial::{schema, schema_of_body, shown};
use super::{Mistake, ctes_of, first, start_of};
use crate::walk::Seen;

pub fn find(query: &Query, state: &SessionState) -> Option<Mistake> {
    let mut find = Find { state, ctes: vec![] };
    first(query, &mut |seen| find.see(seen))
}

struct Find<'a> {
    state: &'a SessionState,
    ctes: Vec<Vec<Cte>>,
}

impl Find<'_> {
    fn see(&mut self, seen: Seen<'_>) -> Option<Mistake> {
        match seen {
            Seen::Query(query) => {
                self.ctes.push(ctes_of(query));
                let is_recursive = query.with.as_ref().is_some_and(|with| with.recursive);
                // Of a recursive query's parts only one can be looked at by itself.
                let sides = || if is_recursive { None } else { self.sides(&query.body) };
                self.limit(query).or_else(|| self.position(query)).or_else(sides)
            }
            Seen::AfterQuery => {
                self.ctes.pop();
                None
            }
            Seen::Expr(expr @ Expr::Subquery(query)) => {
                self.one_column(query, start_of(expr), "one value")
            }
            Seen::Expr(expr @ Expr::InSubquery { subquery, expr: what, .. })
                if !matches!(what.as_ref(), Expr::Tuple(_)) =>
            {
                self.one_column(subquery, start_of(expr), "a list of values")
            }
            Seen::Factor(TableFactor::Derived { subquery, alias: Some(alias), .. }) => {
                self.aliases(alias, subquery)
            }
            _ => None,
        }
    }
}

impl Find<'_> {
    fn width(&self, query: &Query) -> Option<usize> {
        Some(schema(query, &self.ctes.concat(), self.state)?.fields().len())
    }

    fn one_column(&self, query: &Query, at: Location, what: &str) -> Option<Mistake> {
        let is = self.width(query).filter(|is| *is != 1)?;
        let message = format!("a subquery that is {what} has {is} columns, where one is needed");
        Some(Mistake::new(message, at).hint("SELECT one column in it"))
    }

    fn aliases(&self, alias: &TableAlias, query: &Query) -> Option<Mistake> {
        let (names, is) = (alias.columns.len(), self.width(query)?);
        if names == 0 || names == is {
            return None;
        }
        let message = format!("{} has {is} columns, and {names} names for them", alias.name.value);
        Some(Mistake::new(message, alias.name.span.start).hint("name each of them"))
    }

    /// Both sides of a UNION, INTERSECT or EXCEPT.
    fn sides(&self, body: &SetExpr) -> Option<Mistake> {
        let SetExpr::SetOperation { left, right, op, .. } = body else { return None };
        if let Some(found) = self.sides(left).or_else(|| self.sides(right)) {
            return Some(found);
        }
        let ctes = self.ctes.concat();
        let one = schema_of_body(left, &ctes, self.state)?;
        let other = schema_of_body(right, &ctes, self.state)?;
        let at = right.span().start;
        let widths = (one.fields().len(), other.fields().len());
        if widths.0 != widths.1 {
            let (left, right) = widths;
            let message = format!("{op} of {left} and {right} columns: both sides need as many");
            return Some(
                Mistake::new(message, at).hint("give the shorter one NULLs, or leave some out"),
            );
        }
        let columns = one.fields().iter().zip(other.fields()).enumerate();
        columns.into_iter().find_map(|(index, (one, other))| {
            if type_union_coercion(one.data_type(), other.data_type()).is_some() {
                return None;
            }
            let (one, other) = (type_name(one.data_type()), type_name(other.data_type()));
            let number = index + 1;
            let message =
                format!("{op}: column {number} is {one} on one side and {other} on the other");
            Some(Mistake::new(message, at).hint(format!("make them one type: CAST(... AS {one})")))
        })
    }

    /// `ORDER BY 7` and `GROUP BY 7`.
    fn position(&self, query: &Query) -> Option<Mistake> {
        let order_by = match query.order_by.as_ref().map(|by| &by.kind) {
            Some(OrderByKind::Expressions(by)) => by.iter().map(|by| &by.expr).collect(),
            _ => vec![],
        };
        let group_by = match query.body.as_ref() {
            SetExpr::Select(select) => match &select.group_by {
                GroupByExpr::Expressions(by, _) => by.iter().collect(),
                GroupByExpr::All(_) => vec![],
            },
            _ => vec![],
        };
        let numbered = |expr: &&Expr| number_of(expr).is_some();
        if !order_by.iter().chain(&group_by).any(numbered) {
            return None;
        }
        let mut bare = query.clone();
        bare.order_by = None;
        bare.limit_clause = None;
        let width = match bare.body.as_mut() {
            SetExpr::Select(select) if !group_by.is_empty() => {
                // Its outputs may need the groups: only `*` has another width than is written.
                let is_star = |item: &_| {
                    use datafusion::sql::sqlparser::ast::SelectItem::{
                        QualifiedWildcard, Wildcard,
                    };
                    matches!(item, Wildcard(_) | QualifiedWildcard(..))
                };
                if select.projection.iter().any(is_star) {
                    return None;
                }
                select.projection.len()
            }
            _ => self.width(&bare)?,
        };
        let clauses = [("ORDER BY", order_by), ("GROUP BY", group_by)];
        clauses.into_iter().find_map(|(clause, exprs)| {
            exprs.into_iter().find_map(|expr| {
                let number = number_of(expr)?;
                if (1..=width as i64).contains(&number) {
                    return None;
                }
                let columns = if width == 1 { "column" } else { "columns" };
                let message = format!("{clause} {number}: the SELECT has {width} {columns}");
                Some(Mistake::new(message, start_of(expr)).hint("positions count from 1"))
            })
        })
    }

    fn limit(&self, query: &Query) -> Option<Mistake> {
        let (limit, offset) = match query.limit_clause.as_ref()? {
            LimitClause::LimitOffset { limit, offset, .. } => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            LimitClause::OffsetCommaLimit { limit, offset } => (Some(limit), Some(offset)),
        };
        [("LIMIT", limit), ("OFFSET", offset)].into_iter().find_map(|(clause, expr)| {
            let expr = expr?;
            let is_bad = match expr {
                Expr::Value(value) => {
                    let is_whole = matches!(&value.value, Value::Number(text, _) if text.parse::<u64>().is_ok());
                    !is_whole && !matches!(value.value, Value::Placeholder(_) | Value::Null)
                }
                Expr::UnaryOp { op: UnaryOperator::Minus, .. } => true,
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
                _ => false,
            };
            let message = format!("{clause} {} is no number of rows", shown(expr));
            is_bad.then(|| {
                Mistake::new(message, start_of(expr)).hint("a whole number, or a parameter like $n")
            })
        })
    }
}

fn number_of(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
