//! A function of DataFusion with a bound on what it makes. In all else it is that function.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use caudal_core::limits;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, StructFieldMapping,
};
use datafusion::scalar::ScalarValue;

use super::growth::Growth;
use super::of;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Bounded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
}

impl Bounded {
    pub(super) fn new(inner: Arc<ScalarUDF>, growth: Growth) -> Self {
        Self { inner, growth }
    }

    /// The call with a bound on every function in it that needs one.
    pub fn in_expression(expression: Expr) -> Result<Transformed<Expr>> {
        expression.transform_up(|part| match part {
            Expr::ScalarFunction(ScalarFunction { func, args }) => match of(Arc::clone(&func)) {
                Some(func) => {
                    Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })))
                }
                None => Ok(Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args }))),
            },
            other => Ok(Transformed::no(other)),
        })
    }
}

impl ScalarUDFImpl for Bounded {
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.growth.check(self.name(), &arguments.args, arguments.number_rows)?;
        self.inner.invoke_with_args(arguments)
    }

    /// Some put constants together here, and call themselves anew.
    fn simplify(&self, arguments: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let constants = arguments.iter().map(|argument| match argument {
            Expr::Literal(value, _) => text_bytes(value),
            _ => 0,
        });
        if constants.sum::<usize>() > limits::FUNCTION_VALUE_BYTES_MAX {
            return Ok(ExprSimplifyResult::Original(arguments));
        }
        match self.inner.simplify(arguments, info)? {
            ExprSimplifyResult::Simplified(simpler) => {
                Ok(ExprSimplifyResult::Simplified(Self::in_expression(simpler).data()?))
            }
            original => Ok(original),
        }
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        self.inner.schema_name(arguments)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let updated = self.inner.inner().with_updated_config(config)?;
        Some(ScalarUDF::new_from_impl(Self::new(Arc::new(updated), self.growth)))
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(arguments)
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn preimage(
        &self,
        arguments: &[Expr],
        literal: &Expr,
        info: &SimplifyContext,
    ) -> Result<PreimageResult> {
        self.inner.preimage(arguments, literal, info)
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(
        &self,
        arguments: &'a [Expr],
    ) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(arguments)
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        self.inner.evaluate_bounds(inputs)
    }

    fn propagate_constraints(
        &self,
        interval: &Interval,
        inputs: &[&Interval],
    ) -> Result<Option<Vec<Interval>>> {
        self.inner.propagate_constraints(interval, inputs)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn struct_field_mapping(&self, literals: &[Option<ScalarValue>]) -> Option<StructFieldMapping> {
        self.inner.struct_field_mapping(literals)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn placement(&self, arguments: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.placement(arguments)
    }
}

fn text_bytes(value: &ScalarValue) -> usize {
    value.try_as_str().flatten().map_or(0, str::len)
}
