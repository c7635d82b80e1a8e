//! Results drawn as tables, for people.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, modifiers, presets};
use rustix::termios::tcgetwinsize;

use super::Writer;
use super::cells::Cells;
use crate::plain_text::plain_line;

/// Collects what will be drawn and counts the rest: widths are known only at the end.
pub struct TableWriter<W: Write> {
    schema: SchemaRef,
    shown: Vec<RecordBatch>,
    rows: usize,
    out: W,
}

impl<W: Write> TableWriter<W> {
    pub fn new(schema: SchemaRef, out: W) -> Self {
        Self { schema, shown: vec![], rows: 0, out }
    }
}

impl<W: Write> Writer for TableWriter<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let room = limits::TABLE_ROWS_MAX.saturating_sub(self.rows).min(batch.num_rows());
        if room > 0 {
            self.shown.push(batch.slice(0, room));
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        writeln!(self.out, "{}", render(&self.schema, &self.shown)?)?;
        if self.rows > limits::TABLE_ROWS_MAX {
            let more = self.rows - limits::TABLE_ROWS_MAX;
            let all = "--format csv or --out DIR gives all; in the shell .mode csv";
            writeln!(self.out, "… {more} more rows ({all})")?;
        }
        self.out.flush()
    }
}

/// A row a line; where the terminal is too narrow for that, a value a line.
pub fn render(schema: &SchemaRef, batches: &[RecordBatch]) -> io::Result<Table> {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_FULL_CONDENSED)
        .apply_modifier(modifiers::UTF8_ROUND_CORNERS)
        .set_content_arrangement(ContentArrangement::Dynamic);
    // A terminal that does not know its width says 0 (under `script`, or in some containers).
    let terminal = tcgetwinsize(io::stdout()).map(|size| size.ws_col);
    let width_chars = terminal.ok().filter(|chars| *chars > 0);
    if let Some(chars) = width_chars {
        table.set_width(chars);
    }
    match width_chars.map(usize::from) {
        Some(chars) if chars < schema.fields().len() * limits::COLUMN_CHARS_MIN => {
            draw_tall(&mut table, schema, batches)?
        }
        Some(_) => draw_wide(&mut table, schema, batches)?,
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
            draw_wide(&mut table, schema, batches)?
        }
    }
    Ok(table)
}

fn draw_wide(table: &mut Table, schema: &SchemaRef, batches: &[RecordBatch]) -> io::Result<()> {
    table.set_header(schema.fields().iter().map(|field| plain_line(field.name())));
    for (index, field) in schema.fields().iter().enumerate() {
        if field.data_type().is_numeric()
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for batch in batches {
        let cells = Cells::of(batch).map_err(io::Error::other)?;
        for row in 0..batch.num_rows() {
            table.add_row(cells.row(row)?.iter().map(|cell| Cell::new(shorten(cell))));
        }
    }
    Ok(())
}

fn draw_tall(table: &mut Table, schema: &SchemaRef, batches: &[RecordBatch]) -> io::Result<()> {
    table.set_header(["column", "value"]);
    for batch in batches {
        let cells = Cells::of(batch).map_err(io::Error::other)?;
        for row in 0..batch.num_rows() {
            if !table.is_empty() {
                table.add_row(["", ""]);
            }
            for (field, cell) in schema.fields().iter().zip(cells.row(row)?) {
                table.add_row([plain_line(field.name()), shorten(&cell).into()]);
            }
        }
    }
    Ok(())
}

fn shorten(cell: &str) -> String {
    let one_line = cell.replace(['\n', '\r'], " ");
    let one_line = plain_line(&one_line);
    if one_line.chars().count() <= limits::CELL_CHARS_MAX {
        return one_line.into_owned();
    }
    let kept: String = one_line.chars().take(limits::CELL_CHARS_MAX - 1).collect();
    format!("{kept}…")
}
