//! Pass: a difference has a sign, also where its sides have none.
//!
//! ```text
//! array_length(a) - array_length(b)  ==>  CAST(array_length(a) AS BIGINT) - CAST(array_length(b) AS BIGINT)
//! ```
//!
//! Several of DataFusion's functions give unsigned integers, where other systems give ones with a sign. Between
//! an unsigned integer and one with a sign it computes in decimals, and then a division is not one of integers.

use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, cast};

/// Before types are made equal: what is built on the difference has to see its type.
#[derive(Debug)]
pub struct SignedDifferences;

impl FunctionRewrite for SignedDifferences {
    fn name(&self) -> &str {
        "signed_differences"
    }

    fn rewrite(
        &self,
        expression: Expr,
        schema: &DFSchema,
        _: &ConfigOptions,
    ) -> Result<Transformed<Expr>> {
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expression else {
            return Ok(Transformed::no(expression));
        };
        let (of_left, of_right) = (left.get_type(schema)?, right.get_type(schema)?);
        if !needs_sign(op, &of_left, &of_right) {
            return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
        }
        let signed = |side: Expr, of: &DataType| match of.is_unsigned_integer() {
            true => cast(side, DataType::Int64),
            false => side,
        };
        let (left, right) = (signed(*left, &of_left), signed(*right, &of_right));
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right })))
    }
}

fn needs_sign(op: Operator, left: &DataType, right: &DataType) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    let is_mixed = (left.is_unsigned_integer() && right.is_signed_integer())
        || (left.is_signed_integer() && right.is_unsigned_integer());
    match op {
        Minus => is_mixed || (left.is_unsigned_integer() && right.is_unsigned_integer()),
        Plus | Multiply | Divide | Modulo => is_mixed,
        _ => false,
    }
}
