//! The names in a SELECT: which clause sees what.
//!
//! | clause | sees |
//! |---|---|
//! | WHERE, the outputs themselves, windows | what is in the FROM |
//! | GROUP BY, HAVING, QUALIFY, expressions of ORDER BY | the same, then the outputs |
//! | a bare name in ORDER BY or DISTINCT ON | the outputs, then what is in the FROM |

use datafusion::sql::sqlparser::ast::{Distinct, Expr, GroupByExpr, OrderBy, OrderByKind, Select};

use super::scope::{First, Scope, with_names};
use super::{Columns, Names, Naming, Use, order, places, rename};
use crate::error::Error;

impl Names<'_> {
    pub fn select(
        &mut self,
        select: &mut Select,
        order_by: Option<&mut OrderBy>,
        outer: Option<&Scope<'_>>,
        used: Use,
    ) -> Result<Columns, Error> {
        let mut scope = self.from(&mut select.from, outer)?;
        self.expressions(&mut select.selection, &scope)?;
        self.expressions(&mut select.prewhere, &scope)?;
        self.expressions(&mut select.named_window, &scope)?;
        self.expressions(&mut select.lateral_views, &scope)?;
        let inputs = order::inputs_of(select.distinct.as_ref(), order_by.as_deref(), &scope);
        let columns = self.outputs(&mut select.projection, &scope, used, &inputs)?;

        scope.outputs = with_names(columns.as_deref().unwrap_or_default());
        if let GroupByExpr::Expressions(expressions, _) = &mut select.group_by {
            self.expressions(expressions, &scope)?;
        }
        self.expressions(&mut select.having, &scope)?;
        self.expressions(&mut select.qualify, &scope)?;
        if let Some(Distinct::On(expressions)) = &mut select.distinct {
            for expression in expressions {
                self.order(expression, &scope)?;
            }
        }
        if let Some(OrderByKind::Expressions(expressions)) = order_by.map(|by| &mut by.kind) {
            for expression in expressions {
                self.order(&mut expression.expr, &scope)?;
                if self.naming == Naming::ByPlace {
                    places::order(
                        &mut expression.expr,
                        select.distinct.as_ref(),
                        &select.projection,
                    );
                }
            }
        }
        Ok(columns)
    }

    fn order(&mut self, expression: &mut Expr, scope: &Scope<'_>) -> Result<(), Error> {
        let first = match expression {
            Expr::Identifier(ident) if ident.quote_style.is_some() => {
                if let Some(name) = scope.shown(&ident.value) {
                    let name = name.to_string();
                    rename(ident, &name);
                }
                return Ok(());
            }
            Expr::Identifier(_) => First::Outputs,
            _ => First::Inputs,
        };
        self.expressions_seeing(expression, scope, first)
    }
}
