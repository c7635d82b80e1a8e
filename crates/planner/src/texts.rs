//! The texts of expressions, as they can be compared: DataFusion knows what is computed by a name, which is much like its text but for
//! casts, which are not in it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{CastKind, Expr, Ident};

use crate::walk::{SeenMut, walk_mut};

/// Common key of the texts of an expression: without parentheses, spaces, quotes and what stands before a point.
/// Different expressions may have the same.
pub fn key(text: &str) -> String {
    let text = text.to_lowercase().replace('"', "");
    let is_kept = |c: char| c.is_alphanumeric() || "_.'$+-*/%<>=|,".contains(c);
    let words = text.split(|c: char| !is_kept(c));
    words.map(|word| word.rsplit_once('.').map_or(word, |(_, name)| name)).collect()
}

/// An expression with none of its casts.
pub fn without_casts(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    walk_mut(&mut expr, &mut |seen| {
        if let SeenMut::AfterExpr(part) = seen
            && let Expr::Cast { expr: inner, .. } = part
        {
            let inner = std::mem::replace(inner.as_mut(), Expr::Identifier(Ident::new("")));
            *part = inner;
        }
        ControlFlow::Continue(())
    });
    expr
}

/// An expression with all its casts written alike.
pub fn with_plain_casts(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    walk_mut(&mut expr, &mut |seen| {
        if let SeenMut::AfterExpr(Expr::Cast { kind, .. }) = seen
            && *kind == CastKind::DoubleColon
        {
            *kind = CastKind::Cast;
        }
        ControlFlow::Continue(())
    });
    expr
}
