//! Rewrite: what differs by nothing but a CAST differs in its name.
//!
//! ```text
//! SELECT sum(w), sum(CAST(w AS DOUBLE))           SELECT sum(w), sum(as_is(CAST(w AS DOUBLE)))
//! ... GROUP BY k, CAST(k AS TEXT)          ==>    ... GROUP BY k, as_is(CAST(k AS TEXT))
//! ```
//!
//! DataFusion knows aggregates, windows and the keys of groups by names, in which casts are left out: two of the same name are refused.
//! What is rewritten is so wherever it stands in its SELECT, since what is grouped by has to be the same as what is selected.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, GroupByExpr, OrderBy, Query, Select, SelectItem, SetExpr, Statement, Value,
    VisitMut,
};

use super::call;
use crate::idents::means;
use crate::texts;
use crate::walk::{Seen, SeenMut, walk, walk_mut};

pub fn rewrite(state: &SessionState, statement: &mut Statement) {
    let mut has_casts = false;
    walk(statement, &mut |seen| {
        has_casts |= matches!(seen, Seen::Expr(Expr::Cast { .. }));
        ControlFlow::Continue(())
    });
    if !has_casts {
        return;
    }
    walk_mut(statement, &mut |seen| {
        if let SeenMut::Query(Query { body, order_by, .. }) = seen {
            in_body(state, body, order_by.as_mut());
        }
        ControlFlow::Continue(())
    });
}

fn in_body(state: &SessionState, body: &mut SetExpr, order_by: Option<&mut OrderBy>) {
    match body {
        SetExpr::Select(select) => in_select(state, select, order_by),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(state, left, None);
            in_body(state, right, None);
        }
        // What is in parentheses is a query that will be come by.
        _ => {}
    }
}

fn in_select(state: &SessionState, select: &mut Select, mut order_by: Option<&mut OrderBy>) {
    let mut known = Known { state, texts: BTreeMap::new() };
    known.groups(select);
    known.calls(&select.projection);
    known.calls(&select.having);
    known.calls(&select.qualify);
    if let Some(order_by) = &order_by {
        known.calls(&order_by.kind);
    }
    let repeated = known.repeated();
    if repeated.is_empty() {
        return;
    }
    tell_apart(&mut select.projection, &repeated);
    tell_apart(&mut select.group_by, &repeated);
    tell_apart(&mut select.having, &repeated);
    tell_apart(&mut select.qualify, &repeated);
    if let Some(order_by) = &mut order_by {
        tell_apart(&mut order_by.kind, &repeated);
    }
}

/// Expressions of one SELECT that DataFusion knows by their names.
struct Known<'a> {
    state: &'a SessionState,
    /// Of each text without casts those with them.
    texts: BTreeMap<String, BTreeSet<String>>,
}

impl Known<'_> {
    fn add(&mut self, expr: &Expr) {
        let name = texts::key(&texts::without_casts(expr).to_string());
        self.texts.entry(name).or_default().insert(full(expr));
    }

    fn groups(&mut self, select: &Select) {
        let GroupByExpr::Expressions(keys, _) = &select.group_by else { return };
        for key in keys {
            match key {
                Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => {
                    sets.iter().flatten().for_each(|key| self.add(meant(key, select)));
                }
                key => self.add(meant(key, select)),
            }
        }
    }

    /// Aggregates and windows.
    fn calls(&mut self, part: &impl datafusion::sql::sqlparser::ast::Visit) {
        let mut depth = 0;
        walk(part, &mut |seen| {
            match seen {
                Seen::Query(_) => depth += 1,
                Seen::AfterQuery => depth -= 1,
                Seen::Expr(expr @ Expr::Function(call)) if depth == 0 && self.is_known(call) => {
                    self.add(expr);
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
    }

    fn is_known(&self, call: &Function) -> bool {
        let name = call.name.to_string().to_lowercase();
        call.over.is_some() || self.state.aggregate_functions().contains_key(&name)
    }

    /// Texts that have another's name, each with the number of such texts before it.
    fn repeated(self) -> BTreeMap<String, usize> {
        let mut repeated = BTreeMap::new();
        for (name, texts) in self.texts {
            // What has no casts keeps its name.
            let (plain, cast): (Vec<_>, Vec<_>) = texts.into_iter().partition(|text| *text == name);
            let all = plain.into_iter().chain(cast).enumerate();
            repeated.extend(all.skip(1).map(|(before, text)| (text, before)));
        }
        repeated
    }
}

/// The text of an expression, by which it is known in its SELECT.
fn full(expr: &Expr) -> String {
    texts::key(&texts::with_plain_casts(expr).to_string())
}

/// Expression that a key of GROUP BY stands for: a number or a name may stand for an output.
fn meant<'e>(key: &'e Expr, select: &'e Select) -> &'e Expr {
    let item = match key {
        Expr::Value(value) => match &value.value {
            Value::Number(place, _) => {
                let place = place.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                place.and_then(|place| select.projection.get(place))
            }
            _ => None,
        },
        Expr::Identifier(name) => select.projection.iter().find(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => means(name, &alias.value),
            _ => false,
        }),
        _ => None,
    };
    match item {
        Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => expr,
        _ => key,
    }
}

/// Wraps the casts of what is repeated, but not in subqueries.
fn tell_apart(part: &mut impl VisitMut, repeated: &BTreeMap<String, usize>) {
    let (mut depth, mut inside) = (0_usize, 0_usize);
    walk_mut(part, &mut |seen| {
        match seen {
            SeenMut::Query(_) => depth += 1,
            SeenMut::AfterQuery(_) => depth -= 1,
            SeenMut::Expr(_) if depth > 0 => {}
            SeenMut::AfterExpr(_) if depth > 0 => {}
            SeenMut::Expr(_) if inside > 0 => inside += 1,
            SeenMut::Expr(expr) => {
                if let Some(before) = repeated.get(&full(expr)) {
                    wrap_casts(expr, *before);
                    inside = 1;
                }
            }
            SeenMut::AfterExpr(_) => inside = inside.saturating_sub(1),
        }
        ControlFlow::Continue(())
    });
}

fn wrap_casts(expr: &mut Expr, times: usize) {
    walk_mut(expr, &mut |seen| {
        if let SeenMut::AfterExpr(part) = seen
            && matches!(part, Expr::Cast { .. })
        {
            for _ in 0..times {
                let inner = std::mem::replace(part, Expr::Value(Value::Null.into()));
                *part = call("as_is", vec![inner]);
            }
        }
        ControlFlow::Continue(())
    });
}
