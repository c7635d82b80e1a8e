//! Pass: the distances and defaults of window functions that look at one other row.
//!
//! ```text
//! lag(n, 1, 2.7)          ==>     lag(CAST(n AS DOUBLE), 1, 2.7)
//! lag(n, NULL)                    refused: it would be the row itself
//! nth_value(n, -1)                refused: it would count from the end
//! ```
//!
//! DataFusion makes the default a value of the column's type, which cuts off what does not fit.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, cast};
use datafusion::logical_expr_common::type_coercion::binary::type_union_resolution;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::scalar::ScalarValue;

use crate::expressions;
use crate::refusals::Refused;

/// Reason why a call cannot be answered, and what helps.
pub fn refused(window: &WindowFunction) -> Option<Refused> {
    let name = window.fun.name();
    let distance = constant(window.params.args.get(1)?)?;
    match name {
        "lag" | "lead" if distance.is_null() => {
            let hint = format!("{name}(x, 1) looks at the row beside this one");
            Refused::new(format!("the distance of {name} is NULL"), hint)
        }
        "nth_value" => match distance.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(..=0))) => {
                let hint = "nth_value(x, 1) OVER (... ORDER BY ... DESC) is of the last row";
                Refused::new("nth_value counts from 1", hint)
            }
            _ => None,
        },
        _ => None,
    }
}

pub fn widen(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, |part, schema| match part {
        Expr::WindowFunction(window) if ["lag", "lead"].contains(&window.fun.name()) => {
            let WindowFunction { fun, mut params } = *window;
            let changed = match params.args.as_mut_slice() {
                [value, _, default] => widened(value, default, schema)?,
                _ => false,
            };
            let window = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
            Ok(Transformed::new_transformed(window, changed))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// Whether both have been made of one type. A default that the type of the values holds as it is becomes one of them.
fn widened(value: &mut Expr, default: &mut Expr, schema: &DFSchema) -> Result<bool> {
    let (Ok(of_value), Ok(of_default)) = (value.get_type(schema), default.get_type(schema)) else {
        return Ok(false);
    };
    let is_text = of_value.is_string() || of_default.is_string();
    if is_text || constant(default).is_none_or(|default| fits(&default, &of_value)) {
        return Ok(false);
    }
    let Some(both) = type_union_resolution(&[of_value, of_default]) else { return Ok(false) };
    *value = cast(value.clone(), both.clone());
    *default = cast(default.clone(), both);
    Ok(true)
}

fn fits(value: &ScalarValue, kind: &DataType) -> bool {
    let back = value.cast_to(kind).and_then(|cast| cast.cast_to(&value.data_type()));
    back.is_ok_and(|back| back == *value)
}

/// The value of an expression without columns.
fn constant(expression: &Expr) -> Option<ScalarValue> {
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().build());
    match simplifier.simplify(expression.clone()) {
        Ok(Expr::Literal(value, _)) => Some(value),
        _ => None,
    }
}
