//! Check: the frame of a window says how far it goes.
//!
//! ```text
//! ROWS -1 PRECEDING, ROWS k PRECEDING, ROWS $n PRECEDING      refused: not a number, or less than none
//! ORDER BY a, b RANGE 1 PRECEDING, GROUPS without ORDER BY    refused: a distance of what?
//! ```
//!
//! DataFusion does not take them either; its words are about the types of the aggregate.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Function, Ident, Spanned, Statement, UnaryOperator, Value, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::Refusal;
use crate::walk::{Seen, walk};

pub fn check(statement: &Statement) -> Result<(), Refusal> {
    let mut found = None;
    walk(statement, &mut |seen| {
        if let Seen::Expr(Expr::Function(call)) = seen
            && let Some(WindowType::WindowSpec(window)) = &call.over
        {
            found = wrong(call, window);
        }
        if found.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.map_or(Ok(()), Err)
}

fn wrong(call: &Function, window: &WindowSpec) -> Option<Refusal> {
    let frame = window.window_frame.as_ref()?;
    let ends = std::iter::once(&frame.start_bound).chain(&frame.end_bound);
    let distances: Vec<&Expr> = ends.filter_map(distance).collect();
    let name = call.name.0.last().and_then(|part| part.as_ident());
    if let Some(refusal) = distances.iter().find_map(|distance| no_distance(distance, name)) {
        return Some(refusal);
    }
    match frame.units {
        WindowFrameUnits::Groups if window.order_by.is_empty() => Some(
            Refusal::new("GROUPS is of rows that are equal in an ORDER BY: there is none", name)
                .hint("OVER (ORDER BY x GROUPS ...)"),
        ),
        WindowFrameUnits::Range if !distances.is_empty() && window.order_by.len() != 1 => Some(
            Refusal::new("RANGE with a distance needs one key in ORDER BY", name)
                .hint("ROWS counts rows, GROUPS those that are equal in all keys"),
        ),
        _ => None,
    }
}

fn distance(end: &WindowFrameBound) -> Option<&Expr> {
    match end {
        WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) => {
            distance.as_deref()
        }
        WindowFrameBound::CurrentRow => None,
    }
}

/// Refusal of what a frame cannot reach to.
fn no_distance(distance: &Expr, call: Option<&Ident>) -> Option<Refusal> {
    let refused = |message: String, hint: &str| {
        let at = Some(distance.span().start).filter(|start| start.line > 0);
        let refusal = Refusal::new(message, call).hint(hint);
        Some(Refusal { at: at.or(refusal.at), ..refusal })
    };
    match distance {
        Expr::UnaryOp { op: UnaryOperator::Minus, .. } => refused(
            format!("{distance} is less than no distance"),
            "n PRECEDING reaches back, n FOLLOWING on",
        ),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => refused(
            format!("the distance of a frame is a number: {distance} is a column"),
            "a window reaches as far for all rows",
        ),
        Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => refused(
            format!("the distance of a frame is a number: {distance} is a parameter"),
            "write the number into the SQL",
        ),
        _ => None,
    }
}
