//! `array_agg` and `string_agg` over a window, with a bound on what they make.
//!
//! Each row has all of its frame: of a hundred thousand rows, five billion. The memory pool knows nothing of it.

use arrow::array::ArrayRef;
use caudal_core::limits;
use datafusion::common::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;

use crate::bounded::{TooLarge, bytes};

/// Rows that are looked at together, as many as there are in a batch.
const BATCH_ROWS: usize = 8192;

#[derive(Debug)]
pub struct Listed {
    function: String,
    inner: Box<dyn Accumulator>,
    /// Bytes made of the last rows, up to a batch of them.
    made_bytes: u128,
    rows: usize,
}

impl Listed {
    /// Whether the aggregate gives all of its rows.
    pub fn is_for(function: &str) -> bool {
        matches!(function, "array_agg" | "string_agg")
    }

    pub fn new(function: &str, inner: Box<dyn Accumulator>) -> Self {
        Self { function: function.to_string(), inner, made_bytes: 0, rows: 0 }
    }

    fn count(&mut self, made: u128) -> Result<()> {
        if made > limits::FUNCTION_VALUE_BYTES_MAX as u128 {
            return Err(TooLarge::value(&self.function, made).into());
        }
        if self.rows == BATCH_ROWS {
            (self.rows, self.made_bytes) = (0, 0);
        }
        self.rows += 1;
        self.made_bytes += made;
        if self.made_bytes > limits::FUNCTION_BATCH_BYTES_MAX as u128 {
            return Err(TooLarge::batch(&self.function, self.rows, self.made_bytes).into());
        }
        Ok(())
    }
}

/// Bytes of a value, without those of its buffers that are of others.
pub fn bytes_of(value: &ScalarValue) -> u128 {
    match value {
        ScalarValue::List(list) => bytes(&(list.clone() as ArrayRef)),
        other => other.size() as u128,
    }
}

impl Accumulator for Listed {
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = self.inner.evaluate()?;
        self.count(bytes_of(&value))?;
        Ok(value)
    }

    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}
