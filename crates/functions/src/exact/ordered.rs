//! `array_agg` and `string_agg` with ORDER BY inside, whatever the order of the rows that they are given.
//!
//! Both of DataFusion's put their values in order themselves, and ask for rows in order nevertheless: rows in the opposite order
//! turn ORDER BY around, which those with DISTINCT take at its word; and of two orders only one can be had. This asks for none.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, ReversedUDAF};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ordered {
    inner: AggregateUDF,
}

impl Ordered {
    pub fn new(inner: AggregateUDF) -> Self {
        Self { inner }
    }
}

impl AggregateUDFImpl for Ordered {
    inherit!(name, aliases, signature, return_type, state_fields);

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(arguments)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(arguments)
    }

    /// Not that it were: but of one that is indifferent the plan would not say by what it is ordered.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Beneficial
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        _: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Ok(Some(self))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::NotSupported
    }
}
