//! Part of the readers' results that is compared: too little to take time, enough to notice a difference.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimestampMicrosecondType};

/// Of all batches of a reader.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    rows: usize,
    nulls: usize,
    text_bytes: u64,
    integers: i64,
    floats: f64,
}

impl Sum {
    pub fn add(&mut self, rows: usize, columns: &[ArrayRef]) {
        self.rows += rows;
        for column in columns {
            self.nulls += column.null_count();
            match column.data_type() {
                DataType::Utf8View => {
                    let text = column.as_string_view();
                    self.text_bytes += text.lengths().map(u64::from).sum::<u64>();
                }
                DataType::Int64 => {
                    self.integers +=
                        arrow::compute::sum(column.as_primitive::<Int64Type>()).unwrap_or(0);
                }
                DataType::Float64 => {
                    let sum = arrow::compute::sum(column.as_primitive::<Float64Type>());
                    self.floats += sum.unwrap_or(0.0);
                }
                _ => {
                    let times = column.as_primitive::<TimestampMicrosecondType>();
                    self.integers =
                        self.integers.wrapping_add(arrow::compute::sum(times).unwrap_or(0));
                }
            }
        }
    }

    pub fn equals(&self, other: &Self) -> bool {
        let counted = |sum: &Self| (sum.rows, sum.nulls, sum.text_bytes, sum.integers);
        // Batches end at different rows, and sums of floats depend on the order.
        let close = (self.floats - other.floats).abs() <= 1e-9 * self.floats.abs();
        counted(self) == counted(other) && close
    }
}
