//! Rewrite: a window that is based on another says all of it itself.
//!
//! ```text
//! sum(x) OVER (w ORDER BY t) ... WINDOW w AS (PARTITION BY k)
//!   ==>  sum(x) OVER (PARTITION BY k ORDER BY t)
//! ```
//!
//! DataFusion forgets the base. What may be added to one is PostgreSQL's rule.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, Query, Select, SetExpr, Statement,
    VisitMut, VisitorMut, WindowSpec, WindowType, visit_expressions_mut,
};

use super::Refusal;
use crate::idents::means;

pub fn rewrite(statement: &mut Statement) -> Result<(), Refusal> {
    match statement.visit(&mut Windows) {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Windows;

impl VisitorMut for Windows {
    type Break = Refusal;

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Refusal> {
        let windows = match resolved(&select.named_window) {
            Ok(windows) => windows,
            Err(refusal) => return ControlFlow::Break(refusal),
        };
        for (definition, (_, window)) in select.named_window.iter_mut().zip(&windows) {
            definition.1 = NamedWindowExpr::WindowSpec(window.clone());
        }
        let mut items = std::mem::take(&mut select.projection);
        let mut qualify = select.qualify.take();
        let done = base(&mut items, &windows);
        let done_too = base(&mut qualify, &windows);
        select.projection = items;
        select.qualify = qualify;
        done?;
        done_too
    }

    /// ORDER BY is outside its SELECT, and may name its windows.
    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Refusal> {
        let windows = match query.body.as_ref() {
            SetExpr::Select(select) => resolved(&select.named_window),
            _ => Ok(vec![]),
        };
        match windows {
            Ok(windows) => base(&mut query.order_by, &windows),
            Err(refusal) => ControlFlow::Break(refusal),
        }
    }
}

/// All windows of a SELECT, none of them based on another; each may name those before it.
fn resolved(definitions: &[NamedWindowDefinition]) -> Result<Vec<(Ident, WindowSpec)>, Refusal> {
    let mut windows = vec![];
    for NamedWindowDefinition(name, window) in definitions {
        let window = match window {
            NamedWindowExpr::NamedWindow(other) => find(other, &windows)?.clone(),
            NamedWindowExpr::WindowSpec(spec) => based(spec.clone(), &windows)?,
        };
        windows.push((name.clone(), window));
    }
    Ok(windows)
}

/// Bases every call in there. Those in subqueries have been done, with their own windows.
fn base(part: &mut impl VisitMut, windows: &[(Ident, WindowSpec)]) -> ControlFlow<Refusal> {
    visit_expressions_mut(part, |expression| {
        if let Expr::Function(call) = expression
            && let Some(WindowType::WindowSpec(spec)) = &mut call.over
        {
            match based(spec.clone(), windows) {
                Ok(complete) => *spec = complete,
                Err(refusal) => return ControlFlow::Break(refusal),
            }
        }
        ControlFlow::Continue(())
    })
}

fn based(spec: WindowSpec, windows: &[(Ident, WindowSpec)]) -> Result<WindowSpec, Refusal> {
    let Some(name) = &spec.window_name else { return Ok(spec) };
    let base = find(name, windows)?;
    let refused = |what: &str| Err(Refusal::new(format!("the window {name} {what}"), Some(name)));
    if !spec.partition_by.is_empty() {
        return refused("has its PARTITION BY already");
    }
    if !spec.order_by.is_empty() && !base.order_by.is_empty() {
        return refused("has its ORDER BY already");
    }
    if base.window_frame.is_some() {
        return refused("has a frame, so that no other can be based on it");
    }
    let order_by = if spec.order_by.is_empty() { base.order_by.clone() } else { spec.order_by };
    Ok(WindowSpec {
        window_name: None,
        partition_by: base.partition_by.clone(),
        order_by,
        window_frame: spec.window_frame,
    })
}

fn find<'a>(name: &Ident, windows: &'a [(Ident, WindowSpec)]) -> Result<&'a WindowSpec, Refusal> {
    let found = windows.iter().find(|(known, _)| means(name, &known.value));
    let unknown = || Refusal::new(format!("there is no window {name}"), Some(name));
    found.map(|(_, window)| window).ok_or_else(unknown)
}
