//! The sum or average of floats over a frame that moves: [`parts`](super::parts) for the most common case, many times
//! as fast.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Float64Type;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    count: u64,
}

impl Sum {
    fn with(self, value: Option<f64>) -> Self {
        match value {
            Some(value) => Self { sum: self.sum + value, count: self.count + 1 },
            None => self,
        }
    }
}

#[derive(Debug)]
pub struct FloatFrame {
    is_average: bool,
    /// Sum of each of the older rows and all after it; the oldest on top.
    older: Vec<Sum>,
    newer: Sum,
    rows: Vec<Option<f64>>,
}

impl FloatFrame {
    pub fn new(is_average: bool) -> Self {
        Self { is_average, older: vec![], newer: Sum::default(), rows: vec![] }
    }

    fn make_older(&mut self) {
        let mut after = Sum::default();
        for row in self.rows.drain(..).rev() {
            after = after.with(row);
            self.older.push(after);
        }
        self.newer = Sum::default();
    }
}

impl Accumulator for FloatFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<Float64Type>() {
            self.newer = self.newer.with(value);
            self.rows.push(value);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut rows = values[0].len();
        while rows > 0 {
            if self.older.is_empty() {
                self.make_older();
            }
            if self.older.is_empty() {
                return internal_err!("more rows leave a frame than are in it");
            }
            let leaving = rows.min(self.older.len());
            self.older.truncate(self.older.len() - leaving);
            rows -= leaving;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let older = self.older.last().copied().unwrap_or_default();
        let (sum, count) = (older.sum + self.newer.sum, older.count + self.newer.count);
        #[expect(clippy::cast_precision_loss, reason = "a frame has fewer than 2^53 rows")]
        let result = if self.is_average { sum / count as f64 } else { sum };
        Ok(ScalarValue::Float64((count > 0).then_some(result)))
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("frames are not merged")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("frames are not merged")
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + self.older.capacity() * size_of::<Sum>()
            + self.rows.capacity() * size_of::<Option<f64>>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Float64Array;

    use super::*;

    /// Every frame that moves over these, against what its rows alone give.
    #[test]
    fn a_frame_knows_nothing_of_what_has_left_it() {
        let rows = [
            Some(1e20),
            Some(1.0),
            None,
            Some(2.0),
            Some(f64::INFINITY),
            None,
            Some(3.0),
            Some(-0.5),
        ];
        let array = |rows: &[Option<f64>]| Arc::new(Float64Array::from(rows.to_vec())) as ArrayRef;
        for width in 1..rows.len() {
            for is_average in [false, true] {
                let mut frame = FloatFrame::new(is_average);
                for end in 1..=rows.len() {
                    frame.update_batch(&[array(&rows[end - 1..end])]).unwrap();
                    if end > width {
                        frame.retract_batch(&[array(&rows[end - width - 1..end - width])]).unwrap();
                    }
                    let mut alone = FloatFrame::new(is_average);
                    alone.update_batch(&[array(&rows[end.saturating_sub(width)..end])]).unwrap();
                    assert_eq!(
                        frame.evaluate().unwrap(),
                        alone.evaluate().unwrap(),
                        "{width} {end}"
                    );
                }
            }
        }
        let mut empty = FloatFrame::new(true);
        assert!(empty.evaluate().unwrap().is_null());
        assert!(empty.retract_batch(&[array(&rows[..1])]).is_err());
    }
}
