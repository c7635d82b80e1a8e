//! Results as a Markdown table.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::Writer;
use super::cells::Cells;

pub struct MarkdownWriter<W: Write> {
    out: W,
}

impl<W: Write> MarkdownWriter<W> {
    pub fn new(schema: &SchemaRef, mut out: W) -> io::Result<Self> {
        write_row(&mut out, schema.fields().iter().map(|field| field.name().clone()))?;
        let rule = schema.fields().iter().map(|field| match field.data_type().is_numeric() {
            true => "---:".to_string(),
            false => "---".to_string(),
        });
        write_row(&mut out, rule)?;
        Ok(Self { out })
    }
}

impl<W: Write> Writer for MarkdownWriter<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let cells = Cells::of(batch).map_err(io::Error::other)?;
        for row in 0..batch.num_rows() {
            let escaped = |cell: String| cell.replace('|', "\\|").replace(['\n', '\r'], " ");
            write_row(&mut self.out, cells.row(row)?.into_iter().map(escaped))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_row(out: &mut impl Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    for cell in cells {
        write!(out, "| {cell} ")?;
    }
    writeln!(out, "|")
}
