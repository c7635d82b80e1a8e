//! `row_number`, `rank`, `dense_rank` and `ntile` as integers with a sign, as everywhere else in SQL.
//!
//! DataFusion's are unsigned: `v - row_number() OVER (ORDER BY v)`, which finds runs of consecutive values, would
//! be a decimal, and of two of them the larger could not be taken from the smaller.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::functions_window::ntile::ntile_udwf;
use datafusion::functions_window::rank::{dense_rank_udwf, rank_udwf};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::function::{
    ExpressionArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs,
};
use datafusion::logical_expr::window_state::WindowAggState;
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::scalar::ScalarValue;

/// Replacements of the window functions of the same names.
pub fn windows() -> Vec<WindowUDF> {
    let unsigned = [row_number_udwf(), rank_udwf(), dense_rank_udwf(), ntile_udwf()];
    unsigned.map(|unsigned| WindowUDF::new_from_impl(Signed { unsigned })).into()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Signed {
    unsigned: Arc<WindowUDF>,
}

impl WindowUDFImpl for Signed {
    fn name(&self) -> &str {
        self.unsigned.name()
    }

    fn signature(&self) -> &Signature {
        self.unsigned.signature()
    }

    fn expressions(&self, args: ExpressionArgs<'_>) -> Vec<Arc<dyn PhysicalExpr>> {
        self.unsigned.expressions(args)
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let unsigned = self.unsigned.partition_evaluator_factory(args)?;
        Ok(Box::new(SignedEvaluator { unsigned }))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let field = self.unsigned.field(args)?;
        Ok(Arc::new(field.as_ref().clone().with_data_type(DataType::Int64)))
    }

    fn sort_options(&self) -> Option<SortOptions> {
        self.unsigned.sort_options()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.unsigned.coerce_types(arguments)
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        self.unsigned.reverse_expr()
    }

    fn limit_effect(&self, arguments: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        self.unsigned.inner().limit_effect(arguments)
    }
}

#[derive(Debug)]
struct SignedEvaluator {
    unsigned: Box<dyn PartitionEvaluator>,
}

impl PartitionEvaluator for SignedEvaluator {
    fn memoize(&mut self, state: &mut WindowAggState) -> Result<()> {
        self.unsigned.memoize(state)
    }

    fn get_range(&self, row: usize, rows: usize) -> Result<Range<usize>> {
        self.unsigned.get_range(row, rows)
    }

    fn is_causal(&self) -> bool {
        self.unsigned.is_causal()
    }

    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        Ok(cast(&self.unsigned.evaluate_all(values, rows)?, &DataType::Int64)?)
    }

    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        self.unsigned.evaluate(values, range)?.cast_to(&DataType::Int64)
    }

    fn evaluate_all_with_rank(&self, rows: usize, ranks: &[Range<usize>]) -> Result<ArrayRef> {
        Ok(cast(&self.unsigned.evaluate_all_with_rank(rows, ranks)?, &DataType::Int64)?)
    }

    fn supports_bounded_execution(&self) -> bool {
        self.unsigned.supports_bounded_execution()
    }

    fn uses_window_frame(&self) -> bool {
        self.unsigned.uses_window_frame()
    }

    fn include_rank(&self) -> bool {
        self.unsigned.include_rank()
    }
}
