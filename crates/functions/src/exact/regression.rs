//! `regr_r2`: 1 where all values are the same, whatever they are compared with. DataFusion's is NULL.

use arrow::array::ArrayRef;
use datafusion::common::Result;
use datafusion::functions_aggregate::regr::regr_r2_udaf;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl};
use datafusion::scalar::ScalarValue;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Determination {
    inner: AggregateUDF,
}

impl Determination {
    pub fn new() -> Self {
        Self { inner: regr_r2_udaf().as_ref().clone() }
    }
}

impl AggregateUDFImpl for Determination {
    inherit!(name, signature, return_type, state_fields);

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Pairs { inner: self.inner.accumulator(arguments)? }))
    }
}

#[derive(Debug)]
struct Pairs {
    inner: Box<dyn Accumulator>,
}

impl Accumulator for Pairs {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        use ScalarValue::Float64;
        // How many there are, the means of x and of y, the squares of x and of y, the products.
        let state = self.inner.state()?;
        match state.as_slice() {
            [_, _, _, Float64(Some(of_x)), Float64(Some(of_y)), _]
                if *of_x > 0.0 && *of_y == 0.0 =>
            {
                Ok(Float64(Some(1.0)))
            }
            _ => self.inner.evaluate(),
        }
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}
