//! Results on their way to a person or a file.

mod arrow;
mod cells;
mod csv;
mod file;
mod held;
mod json;
mod markdown;
mod names;
mod parquet;
mod place;
mod plain;
mod several;
mod sink;
mod table;
mod written;
#[cfg(test)]
mod zoo;

use std::io::{self, IsTerminal, Write};

use ::arrow::array::RecordBatch;
use ::arrow::datatypes::SchemaRef;
use ::arrow::error::ArrowError;
use clap::ValueEnum;

use crate::plain_text::PlainWriter;

pub use file::{ResultFile, prepare_folder};
pub use held::Held;
pub use place::{Place, check_one_on_stdout};
pub use several::Several;
pub use sink::Sink;
pub use table::render;
pub use written::Written;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Drawn, for people
    Table,
    Csv,
    /// An array of objects; several results are an object of them
    Json,
    /// One object a line; with several results, {"query":...,"row":{...}}
    Ndjson,
    Markdown,
    /// For files and pipes
    Parquet,
    /// Arrow IPC: a file (Feather 2), on stdout a stream
    Arrow,
}

/// A format, with what can be said of how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub format: Format,
    /// Of CSV.
    pub delimiter: u8,
    /// Of Arrow: a stream and not a file.
    pub is_stream: bool,
}

impl From<Format> for Style {
    fn from(format: Format) -> Self {
        Self { format, delimiter: b',', is_stream: false }
    }
}

impl Format {
    /// Format that suits where stdout goes.
    pub fn for_stdout() -> Self {
        if io::stdout().is_terminal() { Format::Table } else { Format::Csv }
    }

    /// Whether it is no text.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }
}

/// Writes one result, batch by batch.
pub trait Writer {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()>;

    /// Writes what comes after the last row.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A writer of results with these columns.
pub fn writer<'a>(
    style: impl Into<Style>,
    schema: SchemaRef,
    out: impl Write + Send + 'a,
) -> io::Result<Box<dyn Writer + 'a>> {
    let Style { format, delimiter, is_stream } = style.into();
    Ok(match format {
        Format::Table => Box::new(table::TableWriter::new(schema, out)),
        Format::Csv => Box::new(csv::CsvWriter::new(&schema, delimiter, out)?),
        Format::Json => Box::new(json::JsonWriter::array(&schema, out)),
        Format::Ndjson => Box::new(json::JsonWriter::lines(&schema, out)),
        Format::Markdown => Box::new(markdown::MarkdownWriter::new(&schema, out)?),
        Format::Parquet => Box::new(parquet::ParquetWriter::new(&schema, out)?),
        Format::Arrow if is_stream => Box::new(arrow::ArrowWriter::stream(&schema, out)?),
        Format::Arrow => Box::new(arrow::ArrowWriter::file(&schema, out)?),
    })
}

/// Keeps the kind of the error: a closed pipe must stay one.
fn into_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, source) => source,
        other => io::Error::other(other),
    }
}

/// Where answers go. A terminal is not sent control characters: what is in a file is not its master.
pub fn stdout() -> Box<dyn Write + Send> {
    let stdout = io::stdout();
    if stdout.is_terminal() { Box::new(PlainWriter::new(stdout)) } else { Box::new(stdout) }
}

/// Text to stdout; a closed pipe is an error of its kind, not a panic.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
