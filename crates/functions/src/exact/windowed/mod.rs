//! Any aggregate as it is used OVER a window: right over frames that move, and without claims about the order of what it
//! gives.
//!
//! DataFusion takes back what leaves a frame. Of floats that leaves what rounding lost: 0 for the sum of 1 and 1 once 1e20
//! has left, NaN for ever after an infinity, negative variances. And what aggregates say of the order of their results
//! (`max` grows with its frame) does not hold for frames that move, for NULLs, or for orders that descend, but sorts are
//! left out because of it. So only what is exact is taken back ([`takes_back`]); the others are put together of parts
//! ([`parts`], [`floats`]).
//!
//! Reversing a window is DataFusion's way to sort once for two windows; of an aggregate that minds the order of its rows it
//! gives another result.

mod floats;
mod listed;
mod parts;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::WindowFunctionParams;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ReversedUDAF, SetMonotonicity,
};
use datafusion::scalar::ScalarValue;

use self::floats::FloatFrame;
use self::listed::Listed;
use self::parts::Parts;
use crate::checked::is_exact;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Windowed {
    inner: AggregateUDF,
}

impl Windowed {
    pub fn new(inner: AggregateUDF) -> Self {
        Self { inner }
    }
}

impl AggregateUDFImpl for Windowed {
    inherit!(name, aliases, signature, return_type, state_fields);

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner.window_function_schema_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner.window_function_display_name(params)
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(arguments)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn default_value(&self, kind: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(kind)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.supports_within_group_clause()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let accumulator = self.inner.accumulator(arguments)?;
        Ok(match Listed::is_for(self.name()) {
            true => Box::new(Listed::new(self.name(), accumulator)),
            false => accumulator,
        })
    }

    fn create_sliding_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let kind = arguments.expr_fields.first().map(|field| field.data_type().clone());
        let kind = kind.unwrap_or(DataType::Null);
        match self.name() {
            _ if takes_back(self.name(), &kind, arguments.is_distinct) => {
                self.inner.inner().create_sliding_accumulator(arguments)
            }
            "sum" | "avg" if kind == DataType::Float64 && !arguments.is_distinct => {
                Ok(Box::new(FloatFrame::new(self.name() == "avg")))
            }
            name => {
                let parts = Box::new(Parts::new(self.inner.clone(), arguments)?);
                Ok(if Listed::is_for(name) { Box::new(Listed::new(name, parts)) } else { parts })
            }
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match minds_order(self.name()) {
            true => ReversedUDAF::NotSupported,
            false => ReversedUDAF::Identical,
        }
    }

    fn set_monotonicity(&self, _: &DataType) -> SetMonotonicity {
        SetMonotonicity::NotMonotonic
    }
}

/// Whether what leaves a frame can be taken back without a trace.
fn takes_back(function: &str, kind: &DataType, is_distinct: bool) -> bool {
    match function {
        "count" | "min" | "max" => true,
        "sum" | "avg" => is_exact(kind) && !is_distinct,
        _ => false,
    }
}

/// Whether the same rows in another order give another result. What is not known to be indifferent is taken to mind.
fn minds_order(function: &str) -> bool {
    let indifferent = [
        "avg",
        "bit_and",
        "bit_or",
        "bit_xor",
        "bool_and",
        "bool_or",
        "corr",
        "count",
        "covar_pop",
        "covar_samp",
        "max",
        "median",
        "min",
        "stddev",
        "stddev_pop",
        "sum",
        "var",
        "var_pop",
    ];
    !indifferent.contains(&function) && !function.starts_with("regr_")
}
