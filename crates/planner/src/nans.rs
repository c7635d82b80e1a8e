//! Pass: there is one NaN.
//!
//! ```text
//! Projection: a / b, sqrt(c)       ==>     Projection: one_nan(a / b), one_nan(sqrt(c))
//!
//! Aggregate: k, sum(f)             ==>     Projection: k, one_nan(sum(f))
//!                                            Aggregate: k, sum(f)
//! ```
//!
//! NaNs differ in their bits, by which all of Arrow compares, and those that arithmetic makes have another sign than those
//! that are read. So whatever may make a new one makes the one that tables hold, too (the engine sees to those), and no column of
//! any plan ever has another. What only passes floats on is named here ([`passes_on`]); whatever is not named is taken to
//! make them.
//!
//! It is a step of DataFusion's analyzer, after types have been made equal. Between two operators of one expression nobody
//! compares, so `a * b + c` is looked at once.

use arrow::datatypes::DataType;
use caudal_functions::checked::{is_exact, type_of};
use caudal_functions::exact::{one_nan, scalar_with_one_nan};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator,
};
use datafusion::optimizer::AnalyzerRule;

use crate::expressions::rewrite_node;

#[derive(Debug)]
pub struct OneNan;

impl AnalyzerRule for OneNan {
    fn name(&self) -> &str {
        "one_nan"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| {
            rewrite_node(node, with_one_nan)?.transform_data(over_what_is_computed)
        })
        .data()
    }
}

fn with_one_nan(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_arithmetic(op) => {
            let (left, right) = (bare(*left), bare(*right));
            let made = Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)));
            checked(made, schema)
        }
        Expr::Negative(value) => checked(Expr::Negative(Box::new(bare(*value))), schema),
        Expr::Cast(ref cast) if reads(&cast.expr, schema) => checked(part, schema),
        Expr::TryCast(ref cast) if reads(&cast.expr, schema) => checked(part, schema),
        Expr::ScalarFunction(ref call) if !passes_on(call.name()) => checked(part, schema),
        Expr::Literal(value, about) => {
            let made = scalar_with_one_nan(value.clone());
            // NaNs are compared by their bits here.
            let is_other = made != value;
            Ok(Transformed::new_transformed(Expr::Literal(made, about), is_other))
        }
        Expr::AggregateFunction(AggregateFunction { func, mut params })
            if adds_up(func.name()) && !params.distinct && params.args.iter().any(is_settled) =>
        {
            params.args = params.args.into_iter().map(bare).collect();
            Ok(Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params })))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn is_arithmetic(operator: Operator) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(operator, Plus | Minus | Multiply | Divide | Modulo)
}

fn is_float(kind: &DataType) -> bool {
    matches!(kind, DataType::Float32 | DataType::Float64)
}

/// Whether a cast reads something in which a NaN may be written: text.
fn reads(value: &Expr, schema: &DFSchema) -> bool {
    !value.get_type(schema).is_ok_and(|kind| kind.is_numeric() || kind == DataType::Boolean)
}

fn checked(made: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match is_float(&type_of(&made, schema)?) {
        true => Ok(Transformed::yes(one_nan().call(vec![made]))),
        false => Ok(Transformed::no(made)),
    }
}

fn is_settled(value: &Expr) -> bool {
    matches!(value, Expr::ScalarFunction(call) if call.name() == "one_nan")
}

/// An operand, whose NaN is nobody's business yet.
fn bare(operand: Expr) -> Expr {
    match operand {
        Expr::ScalarFunction(mut call) if call.name() == "one_nan" => call.args.swap_remove(0),
        other => other,
    }
}

/// Functions that give one of the values they are given, or never a NaN.
fn passes_on(function: &str) -> bool {
    let scalar = [
        "abs",
        "array_element",
        "as_is",
        "beside",
        "checked_divide",
        "coalesce",
        "float_key",
        "get_field",
        "greatest",
        "least",
        "nullif",
        "nvl",
        "nvl2",
        "one_nan",
        "only_value",
        "sentiment",
        "sign",
    ];
    let of_rows = [
        "cume_dist",
        "first_value",
        "lag",
        "last_value",
        "lead",
        "max",
        "min",
        "nth_value",
        "only_row",
        "percent_rank",
    ];
    scalar.contains(&function) || of_rows.contains(&function)
}

/// Aggregates that do not compare what they are given, and whose result is looked at.
fn adds_up(aggregate: &str) -> bool {
    ["sum", "avg"].contains(&aggregate)
}

/// Aggregates and window functions have to stand alone in their nodes: what makes their NaNs one stands above.
fn over_what_is_computed(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let computed = match &node {
        LogicalPlan::Aggregate(aggregate) => &aggregate.aggr_expr,
        LogicalPlan::Window(window) => &window.window_expr,
        _ => return Ok(Transformed::no(node)),
    };
    let schema = node.schema();
    let input = node.inputs()[0].schema();
    let given = schema.fields().len() - computed.len();
    let makes_nan = |at: usize| {
        let made = at.checked_sub(given).and_then(|at| computed.get(at));
        is_float(schema.field(at).data_type()) && made.is_some_and(|made| computes(made, input))
    };
    let fields: Vec<_> =
        schema.iter().enumerate().map(|(at, field)| (field, makes_nan(at))).collect();
    if !fields.iter().any(|(_, makes_nan)| *makes_nan) {
        return Ok(Transformed::no(node));
    }
    let columns = fields.into_iter().map(|((qualifier, field), makes_nan)| {
        let column = Expr::Column(Column::from((qualifier, field)));
        match makes_nan {
            true => one_nan().call(vec![column]).alias_qualified(qualifier.cloned(), field.name()),
            false => column,
        }
    });
    let columns: Vec<_> = columns.collect();
    LogicalPlanBuilder::from(node).project(columns)?.build().map(Transformed::yes)
}

/// Whether it may give a NaN that it was not given. Averages of integers and decimals never are one.
fn computes(made: &Expr, schema: &DFSchema) -> bool {
    let (function, arguments) = match made.clone().unalias_nested().data {
        Expr::AggregateFunction(call) => (call.func.name().to_string(), call.params.args),
        Expr::WindowFunction(call) => (call.fun.name().to_string(), call.params.args),
        _ => return true,
    };
    let is_exact = |value: &Expr| value.get_type(schema).is_ok_and(|kind| is_exact(&kind));
    !(passes_on(&function) || adds_up(&function) && arguments.iter().all(is_exact))
}
