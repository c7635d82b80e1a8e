//! Pass: nothing that makes much of little is without a bound.
//!
//! ```text
//! Projection: repeat(s, n), a || b     ==>     Projection: repeat(s, n) with its bound, checked_concat(a, b)
//! ```
//!
//! The registered functions have their bounds already; this is about those that DataFusion puts into plans by itself (an array
//! in brackets is `make_array`), about `||`, and about types whose every value is large. It is a step of the analyzer, so it
//! comes before constants are computed. What becomes of them is looked at in the end: a constant beside the columns of a
//! table is copied for each row.

use std::any::Any;
use std::sync::Arc;

use caudal_core::limits;
use caudal_functions::bounded::{self, TooLarge, check_width};
use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr::expressions::{
    BinaryExpr as PhysicalBinary, InListExpr, LikeExpr, Literal,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;

use crate::expressions;

/// Functions that give any type that they are asked for.
const CASTS: [&str; 4] = ["arrow_cast", "arrow_try_cast", "cast_to_type", "try_cast_to_type"];

#[derive(Debug)]
pub struct BoundedFunctions;

impl AnalyzerRule for BoundedFunctions {
    fn name(&self) -> &str {
        "bounded_functions"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        expressions::rewrite(plan, bound)
    }
}

fn bound(expression: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expression {
        Expr::Cast(ref cast) => check_width("CAST", cast.field.data_type())?,
        Expr::TryCast(ref cast) => check_width("TRY_CAST", cast.field.data_type())?,
        Expr::ScalarFunction(ScalarFunction { func, args }) => {
            let bounded = bounded::of(Arc::clone(&func));
            let is_new = bounded.is_some();
            let func = bounded.unwrap_or(func);
            let name = func.name().to_string();
            let call = Expr::ScalarFunction(ScalarFunction { func, args });
            if CASTS.contains(&&*name) {
                check_width(&name, &call.get_type(schema)?)?;
            }
            return Ok(if is_new { Transformed::yes(call) } else { Transformed::no(call) });
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::StringConcat, right }) => {
            return Ok(Transformed::yes(bounded::joined().call(vec![*left, *right])));
        }
        _ => {}
    }
    Ok(Transformed::no(expression))
}

/// The plan, if no constant in it is too large to be a value of every row.
pub fn with_small_constants(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    check_constants(&plan)?;
    Ok(plan)
}

fn check_constants(plan: &Arc<dyn ExecutionPlan>) -> Result<()> {
    let children = plan.children();
    let is_one_row =
        |child: &&Arc<dyn ExecutionPlan>| (child.as_ref() as &dyn Any).is::<PlaceholderRowExec>();
    if !children.iter().all(is_one_row) {
        plan.apply_expressions(&mut |expression| {
            check_constant(expression)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    children.into_iter().try_for_each(check_constants)
}

fn check_constant(expression: &Arc<dyn PhysicalExpr>) -> Result<()> {
    if let Some(literal) = literal(expression) {
        let bytes = literal.value().size();
        return match bytes > limits::CONSTANT_BYTES_MAX {
            true => Err(TooLarge::constant(bytes).into()),
            false => Ok(()),
        };
    }
    let is_compared = compares(expression);
    let children = expression.children().into_iter();
    children.filter(|child| !(is_compared && literal(child).is_some())).try_for_each(check_constant)
}

fn literal(expression: &Arc<dyn PhysicalExpr>) -> Option<&Literal> {
    (expression.as_ref() as &dyn Any).downcast_ref()
}

/// Whether it takes a constant as it is, without copying it for each row.
fn compares(expression: &Arc<dyn PhysicalExpr>) -> bool {
    let expression = expression.as_ref() as &dyn Any;
    let function = expression.downcast_ref::<ScalarFunctionExpr>();
    expression.is::<PhysicalBinary>()
        || expression.is::<LikeExpr>()
        || expression.is::<InListExpr>()
        || function.is_some_and(|function| function.name().starts_with("array_has"))
}
