//! Plans parts of a query by themselves, to see what DataFusion makes of them.

use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use datafusion::common::DFSchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, Cte, Expr, Ident, Query, Select, SelectItem, SetExpr, With,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use crate::walk::{SeenMut, walk_mut};

/// DataFusion's view of a query with the CTEs around it.
pub fn plan(query: Query, state: &SessionState) -> Result<LogicalPlan, DataFusionError> {
    let statement = Statement::Statement(Box::new(ast::Statement::Query(Box::new(query))));
    // It is called async for catalogs that have to be asked; ours is at hand.
    let planning = pin!(state.statement_to_plan(statement));
    match planning.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(planned) => planned,
        Poll::Pending => Err(DataFusionError::Internal("a catalog that waits".to_string())),
    }
}

/// The columns of a query.
pub fn schema(query: &Query, ctes: &[Cte], state: &SessionState) -> Option<DFSchemaRef> {
    let plan = plan(with(query.clone(), ctes), state).ok()?;
    Some(plan.schema().clone())
}

/// The columns of one side of a UNION.
pub fn schema_of_body(body: &SetExpr, ctes: &[Cte], state: &SessionState) -> Option<DFSchemaRef> {
    schema(&query_of(body.clone()), ctes, state)
}

/// The columns that a SELECT's expressions see.
pub fn schema_of_from(select: &Select, ctes: &[Cte], state: &SessionState) -> Option<DFSchemaRef> {
    let mut all = parsed("SELECT *")?;
    let SetExpr::Select(everything) = all.body.as_mut() else { return None };
    everything.from = select.from.clone();
    schema(&all, ctes, state)
}

/// Plans and simplifies an expression that needs no table.
pub fn expression(expr: Expr, state: &SessionState) -> Result<LogicalPlan, DataFusionError> {
    let nothing = || DataFusionError::Internal("SELECT 1 does not parse".to_string());
    let mut query = parsed("SELECT 1").ok_or_else(nothing)?;
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(nothing()) };
    select.projection = vec![SelectItem::ExprWithAlias { expr, alias: Ident::new("x") }];
    let plan = plan(query, state)?;
    state.optimize(&plan)?;
    Ok(plan)
}

pub fn parsed_expression(text: &str) -> Option<Expr> {
    Parser::new(&GenericDialect {}).try_with_sql(text).ok()?.parse_expr().ok()
}

fn parsed(text: &str) -> Option<Query> {
    Some(*Parser::new(&GenericDialect {}).try_with_sql(text).ok()?.parse_query().ok()?)
}

fn query_of(body: SetExpr) -> Query {
    let mut query = parsed("SELECT 1").expect("plain SQL");
    query.body = Box::new(body);
    query
}

fn with(mut query: Query, ctes: &[Cte]) -> Query {
    if ctes.is_empty() {
        return query;
    }
    let own = query.with.take();
    let recursive = own.as_ref().is_some_and(|with| with.recursive);
    let own = own.map(|with| with.cte_tables).unwrap_or_default();
    query.with = Some(With {
        with_token: ast::helpers::attached_token::AttachedToken::empty(),
        recursive,
        cte_tables: [ctes, &own].concat(),
    });
    query
}

/// The text of an expression, without the quotes that the names in it got.
pub fn shown(expr: &Expr) -> String {
    let bare = |ident: &mut Ident| {
        if ident.value.chars().all(|c| c.is_alphanumeric() || c == '_') {
            ident.quote_style = None;
        }
    };
    let mut expr = expr.clone();
    walk_mut(&mut expr, &mut |seen| {
        match seen {
            SeenMut::Expr(Expr::Identifier(ident)) => bare(ident),
            SeenMut::Expr(Expr::CompoundIdentifier(idents)) => idents.iter_mut().for_each(bare),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    expr.to_string()
}
