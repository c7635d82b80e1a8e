//! The innermost expression that makes no sense by its types.
//!
//! Each expression is planned by itself, from the inside out, with a NULL of the right type in the place of
//! everything in it that has been understood. The first that cannot be planned is the mistake:
//!
//! ```text
//! WHERE upper(s) + n > 1      s: TEXT, upper(NULL: TEXT): TEXT, n: BIGINT, NULL: TEXT + NULL: BIGINT fails
//! ```

use std::ops::ControlFlow;

use arrow::datatypes::DataType;
use caudal_core::limits;
use datafusion::common::{DFSchemaRef, TableReference};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{
    Cte, Expr, Function, GroupByExpr, Ident, Query, Select, SelectItem,
};

use super::plain::{self, type_name};
use super::trial::{self, parsed_expression, shown};
use super::{Mistake, ctes_of, first, start_of};
use crate::walk::{Seen, SeenMut, walk_mut};

pub fn find(query: &Query, state: &SessionState) -> Option<Mistake> {
    // The CTEs and the columns that can be seen, the nearest last.
    let (mut ctes, mut seen): (Vec<Vec<Cte>>, Vec<Option<DFSchemaRef>>) = (vec![], vec![]);
    first(query, &mut |here| {
        match here {
            Seen::Query(query) => ctes.push(ctes_of(query)),
            Seen::AfterQuery => drop(ctes.pop()),
            Seen::Select(select) => {
                seen.push(trial::schema_of_from(select, &ctes.concat(), state));
            }
            // From the inside out: subqueries have been looked at.
            Seen::AfterSelect(select) => {
                let ctes = ctes.concat();
                let mut trial = Trial { state, ctes: &ctes, seen: &seen, nodes: vec![] };
                let found = trial.select(select);
                seen.pop();
                return found;
            }
            _ => {}
        }
        None
    })
}

struct Trial<'a> {
    state: &'a SessionState,
    ctes: &'a [Cte],
    seen: &'a [Option<DFSchemaRef>],
    /// The expressions around the one that is looked at.
    nodes: Vec<Node>,
}

/// An expression whose parts are being looked at.
struct Node {
    /// As it was before its parts were replaced.
    original: Expr,
    /// The types of its parts; `None` where one is not known.
    parts: Vec<Option<DataType>>,
}

impl Trial<'_> {
    fn select(&mut self, select: &Select) -> Option<Mistake> {
        let outputs = select.projection.iter().filter_map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        });
        let group_by = match &select.group_by {
            GroupByExpr::Expressions(expressions, _) => &expressions[..],
            GroupByExpr::All(_) => &[],
        };
        let joins = select.from.iter().flat_map(|item| &item.joins).cloned();
        let conditions = joins.filter_map(|mut join| {
            match crate::join_syntax::constraint_mut(&mut join.join_operator)? {
                datafusion::sql::sqlparser::ast::JoinConstraint::On(on) => Some(on.clone()),
                _ => None,
            }
        });
        let conditions: Vec<_> =
            conditions.chain(select.selection.clone()).chain(select.having.clone()).collect();
        for condition in &conditions {
            if let Some(mistake) = self.condition(condition) {
                return Some(mistake);
            }
        }
        outputs.chain(group_by).chain(&select.qualify).find_map(|expr| self.expression(expr).err())
    }

    /// A condition is true or false.
    fn condition(&mut self, expr: &Expr) -> Option<Mistake> {
        match self.expression(expr) {
            Err(mistake) => Some(mistake),
            Ok(None | Some(DataType::Boolean | DataType::Null)) => None,
            Ok(Some(other)) => {
                let message = format!("{} is {}, not a condition", shown(expr), type_name(&other));
                Some(Mistake::new(message, start_of(expr)).hint("compare it with something"))
            }
        }
    }

    /// The type of an expression, if it can be told; or what is wrong with it.
    fn expression(&mut self, expr: &Expr) -> Result<Option<DataType>, Mistake> {
        self.nodes = vec![Node { original: expr.clone(), parts: vec![] }];
        let mut found = None;
        walk_mut(&mut expr.clone(), &mut |seen| match seen {
            SeenMut::Expr(expr) => {
                self.nodes.push(Node { original: expr.clone(), parts: vec![] });
                ControlFlow::Continue(())
            }
            SeenMut::AfterExpr(expr) => {
                found = self.replace(expr).err();
                if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
            _ => ControlFlow::Continue(()),
        });
        match found {
            Some(mistake) => Err(mistake),
            None => {
                let top = self.nodes.pop();
                Ok(top.and_then(|mut top| top.parts.pop()).flatten())
            }
        }
    }

    /// Puts a NULL of the right type in the place of an expression that has been understood.
    fn replace(&mut self, expr: &mut Expr) -> Result<(), Mistake> {
        let Some(node) = self.nodes.pop() else { return Ok(()) };
        let ty = self.type_of(expr, &node)?;
        // A value stays: what a function makes of it may depend on it.
        let is_value = matches!(expr, Expr::Value(_) | Expr::Interval(_) | Expr::TypedString(_));
        if let Some(ty) = &ty
            && !is_value
            && let Some(null) = parsed_expression(&format!("arrow_cast(NULL, '{ty}')"))
        {
            *expr = null;
        }
        if let Some(around) = self.nodes.last_mut() {
            around.parts.push(ty);
        }
        Ok(())
    }

    /// The type of an expression whose parts are NULLs of theirs.
    fn type_of(&self, expr: &Expr, node: &Node) -> Result<Option<DataType>, Mistake> {
        match expr {
            Expr::Identifier(ident) => Ok(self.column(None, ident)),
            Expr::CompoundIdentifier(idents) => match &idents[..] {
                [table, column] => Ok(self.column(Some(table), column)),
                _ => Ok(None),
            },
            Expr::Subquery(query) => {
                let schema = trial::schema(query, self.ctes, self.state);
                Ok(schema.map(|schema| schema.field(0).data_type().clone()))
            }
            // Neither is anything by itself.
            Expr::Tuple(_) | Expr::Lambda(_) | Expr::Wildcard(_) | Expr::QualifiedWildcard(..) => {
                Ok(None)
            }
            Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_) => Ok(None),
            Expr::InSubquery { .. } | Expr::Exists { .. } => Ok(Some(DataType::Boolean)),
            Expr::Function(call) if !self.knows(call) => Ok(None),
            _ if node.parts.contains(&None) => Ok(None),
            _ => match trial::expression(expr.clone(), self.state) {
                Ok(plan) => Ok(Some(plan.schema().field(0).data_type().clone())),
                Err(error) => Err(self.explained(&node.original, &node.parts, &error)),
            },
        }
    }

    /// Calls that are syntax, and windows by name, cannot be planned by themselves.
    fn knows(&self, call: &Function) -> bool {
        let name = call.name.to_string().to_lowercase();
        let named_window =
            matches!(call.over, Some(datafusion::sql::sqlparser::ast::WindowType::NamedWindow(_)));
        let known = self.state.scalar_functions().contains_key(&name)
            || self.state.aggregate_functions().contains_key(&name)
            || self.state.window_functions().contains_key(&name);
        known && !named_window
    }

    fn column(&self, table: Option<&Ident>, column: &Ident) -> Option<DataType> {
        for schema in self.seen.iter().rev() {
            let schema = schema.as_ref()?;
            let table = table.map(|table| TableReference::bare(table.value.clone()));
            let found = match &table {
                Some(table) => schema.field_with_qualified_name(table, &column.value),
                None => schema.field_with_unqualified_name(&column.value),
            };
            if let Ok(field) = found {
                return Some(field.data_type().clone());
            }
        }
        None
    }
}

/// Whether the types are in order, and a value is not.
fn is_of_values(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ArrowError(..) | DataFusionError::Execution(_))
}

fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8)
}

/// Whether a function that takes these has been given a text, and takes none.
fn is_for_numbers(forms: &str, parts: &[Option<DataType>]) -> bool {
    parts.iter().flatten().any(is_text) && !["TEXT", "String"].iter().any(|t| forms.contains(t))
}

fn advice(parts: &[Option<DataType>]) -> String {
    match parts.iter().flatten().any(is_text) {
        true => {
            "CAST(x AS DOUBLE) makes a number of a text, TRY_CAST a NULL of what is none".into()
        }
        false => "CAST(x AS TYPE) makes one type of another".into(),
    }
}

impl Trial<'_> {
    fn explained(
        &self,
        expr: &Expr,
        parts: &[Option<DataType>],
        error: &DataFusionError,
    ) -> Mistake {
        let names: Vec<_> = parts.iter().flatten().map(type_name).collect();
        let at = start_of(expr);
        match expr {
            _ if is_of_values(error) => {
                Mistake::new(format!("{}: {}", shown(expr), plain::text(error)), at)
            }
            Expr::Function(call) => {
                let name = call.name.to_string().to_lowercase();
                let what = match &names[..] {
                    [] => format!("{name}() needs something to work on"),
                    [one] => format!("{name} cannot take {one}"),
                    [all @ .., last] => format!("{name} cannot take {} and {last}", all.join(", ")),
                };
                let forms = self.takes(&name).filter(|forms| !is_for_numbers(forms, parts));
                let hint = forms.unwrap_or_else(|| advice(parts));
                Mistake::new(format!("{}: {what}", shown(expr)), at).hint(hint)
            }
            Expr::BinaryOp { op, .. } => {
                let message = format!("{}: {op} cannot take {}", shown(expr), names.join(" and "));
                Mistake::new(message, at).hint(advice(parts))
            }
            Expr::Cast { data_type, .. } => {
                let message =
                    format!("{}: {} cannot become {data_type}", shown(expr), names.join(" and "));
                Mistake::new(message, at)
            }
            _ => {
                let message = match names.is_empty() {
                    true => format!("{}: {}", shown(expr), plain::text(error)),
                    false => format!("{}: it cannot take {}", shown(expr), names.join(" and ")),
                };
                Mistake::new(message, at).hint(advice(parts))
            }
        }
    }

    /// Arguments that a function takes, where it can say so.
    fn takes(&self, name: &str) -> Option<String> {
        let scalar = self.state.scalar_functions().get(name).map(|f| f.signature());
        let aggregate = || self.state.aggregate_functions().get(name).map(|f| f.signature());
        let window = || self.state.window_functions().get(name).map(|f| f.signature());
        let signature = scalar.or_else(aggregate).or_else(window)?;
        let forms = signature.type_signature.to_string_repr();
        let forms: Vec<_> = forms
            .iter()
            .filter(|form| !form.contains("UserDefined") && !form.contains('/'))
            .take(limits::FUNCTION_FORMS_MAX)
            .map(|form| format!("{name}({form})"))
            .collect();
        (!forms.is_empty()).then(|| plain::cleaned(&format!("it is {}", forms.join(" or "))))
    }
}
