//! Results as JSON: an array of objects, or an object a line.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, WriterBuilder};

use super::cells::Cells;
use super::names::{renamed, told_apart};
use super::plain::{plain_batch, plain_schema};
use super::{Writer, into_io};

pub struct JsonWriter<W: Write, F: JsonFormat> {
    out: arrow::json::Writer<W, F>,
    /// An object has each name once.
    schema: SchemaRef,
    /// Text after the last row: each line has its own end.
    end: &'static str,
}

impl<W: Write> JsonWriter<W, JsonArray> {
    pub fn array(schema: &SchemaRef, out: W) -> Self {
        let out = WriterBuilder::new().with_explicit_nulls(true).build(out);
        Self { out, schema: told_apart(schema), end: "\n" }
    }

    /// The same as a value of something that goes on after it.
    pub fn value(schema: &SchemaRef, out: W) -> Self {
        Self { end: "", ..Self::array(schema, out) }
    }
}

impl<W: Write> JsonWriter<W, LineDelimited> {
    pub fn lines(schema: &SchemaRef, out: W) -> Self {
        let out = WriterBuilder::new().with_explicit_nulls(true).build(out);
        Self { out, schema: told_apart(schema), end: "" }
    }
}

impl<W: Write, F: JsonFormat> Writer for JsonWriter<W, F> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let batch = renamed(batch, &self.schema).map_err(into_io)?;
        let schema = plain_schema(&batch.schema());
        let batch = plain_batch(&batch, &schema).map_err(into_io)?;
        refuse_what_cannot_be_shown(&batch)?;
        self.out.write(&batch).map_err(into_io)?;
        self.out.get_mut().flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.finish().map_err(into_io)?;
        let mut out = self.out.into_inner();
        out.write_all(self.end.as_bytes())?;
        out.flush()
    }
}

/// A time that is beyond all calendars would be written as a text that says so.
fn refuse_what_cannot_be_shown(batch: &RecordBatch) -> io::Result<()> {
    let schema = batch.schema();
    let may_hold_times = |at: &usize| may_hold_times(schema.field(*at).data_type());
    let times: Vec<usize> = (0..batch.num_columns()).filter(may_hold_times).collect();
    let batch = batch.project(&times).map_err(into_io)?;
    let cells = Cells::of(&batch).map_err(into_io)?;
    (0..batch.num_rows()).try_for_each(|row| cells.row(row).map(drop))
}

fn may_hold_times(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => may_hold_times(values),
        DataType::RunEndEncoded(_, values) => may_hold_times(values.data_type()),
        other => other.is_temporal() || other.is_nested(),
    }
}
