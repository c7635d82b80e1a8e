//! Walks through the tree of a query. Two walkers for all: each kind of visitor would make the compiler write the
//! walk through all of SQL once more, which takes it minutes.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Query, Select, TableFactor, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut,
};

/// Node that a walk comes by, before or after its contents.
pub enum Seen<'a> {
    Query(&'a Query),
    AfterQuery,
    Select(&'a Select),
    AfterSelect(&'a Select),
    Factor(&'a TableFactor),
    Expr(&'a Expr),
    AfterExpr(&'a Expr),
    Value(&'a ValueWithSpan),
}

/// Shows everything in a part of a query to `look`, until that says that it has seen enough.
pub fn walk(part: &impl Visit, look: &mut dyn FnMut(Seen<'_>) -> ControlFlow<()>) {
    let _ = part.visit(&mut Walker(look));
}

struct Walker<'a>(&'a mut dyn FnMut(Seen<'_>) -> ControlFlow<()>);

impl Visitor for Walker<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.0(Seen::Query(query))
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0(Seen::AfterQuery)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.0(Seen::Select(select))
    }

    fn post_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.0(Seen::AfterSelect(select))
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        self.0(Seen::Factor(factor))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0(Seen::Expr(expr))
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0(Seen::AfterExpr(expr))
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        self.0(Seen::Value(value))
    }
}

/// As [`Seen`], to be changed.
pub enum SeenMut<'a> {
    Query(&'a mut Query),
    AfterQuery(&'a mut Query),
    Expr(&'a mut Expr),
    AfterExpr(&'a mut Expr),
}

pub fn walk_mut(part: &mut impl VisitMut, look: &mut dyn FnMut(SeenMut<'_>) -> ControlFlow<()>) {
    let _ = part.visit(&mut WalkerMut(look));
}

struct WalkerMut<'a>(&'a mut dyn FnMut(SeenMut<'_>) -> ControlFlow<()>);

impl VisitorMut for WalkerMut<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.0(SeenMut::Query(query))
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.0(SeenMut::AfterQuery(query))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.0(SeenMut::Expr(expr))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.0(SeenMut::AfterExpr(expr))
    }
}
