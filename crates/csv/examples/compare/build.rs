//! Arrow's builders behind a reader of records, as whoever uses such a reader would put them there.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Builder, Int64Builder, StringViewBuilder, TimestampMicrosecondBuilder,
};
use arrow::compute::kernels::cast_utils::Parser;
use arrow::datatypes::{Float64Type, Int64Type, TimestampMicrosecondType};
use caudal_csv::Type;

use crate::sum::Sum;

const ROWS: usize = 8192;

pub enum Column {
    Text(StringViewBuilder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Timestamp(TimestampMicrosecondBuilder),
}

/// The batch that is being built, and what those before it added up to.
pub struct Batches {
    columns: Vec<Column>,
    rows: usize,
    sum: Sum,
}

impl Batches {
    pub fn new(types: impl Iterator<Item = Type>) -> Self {
        let column = |ty| match ty {
            Type::Text => Column::Text(StringViewBuilder::with_capacity(ROWS)),
            Type::Int64 => Column::Int64(Int64Builder::with_capacity(ROWS)),
            Type::Float64 => Column::Float64(Float64Builder::with_capacity(ROWS)),
            Type::Timestamp => Column::Timestamp(TimestampMicrosecondBuilder::with_capacity(ROWS)),
            other => unreachable!("no file here has a {other}"),
        };
        Self { columns: types.map(column).collect(), rows: 0, sum: Sum::default() }
    }

    /// Adds a row.
    pub fn push<F: AsRef<[u8]>>(&mut self, fields: impl Iterator<Item = F>) -> Result<(), String> {
        for (column, field) in self.columns.iter_mut().zip(fields) {
            column.push(field.as_ref())?;
        }
        self.rows += 1;
        if self.rows == ROWS {
            self.flush();
        }
        Ok(())
    }

    pub fn finish(mut self) -> Sum {
        self.flush();
        self.sum
    }

    fn flush(&mut self) {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(Column::finish).collect();
        self.sum.add(self.rows, &arrays);
        self.rows = 0;
    }
}

impl Column {
    fn push(&mut self, field: &[u8]) -> Result<(), String> {
        let text = simdutf8::basic::from_utf8(field).map_err(|_| "not UTF-8")?;
        match self {
            Self::Text(builder) => builder.append_option((!text.is_empty()).then_some(text)),
            Self::Int64(builder) => builder.append_option(Int64Type::parse(text)),
            Self::Float64(builder) => builder.append_option(Float64Type::parse(text)),
            Self::Timestamp(builder) => {
                builder.append_option(TimestampMicrosecondType::parse(text));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::Float64(builder) => Arc::new(builder.finish()),
            Self::Timestamp(builder) => Arc::new(builder.finish()),
        }
    }
}
