//! Results on their way to a person or a file.

mod cells;
mod csv;
mod json;
mod markdown;
mod parquet;
mod plain;
mod table;
#[cfg(test)]
mod zoo;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use caudal::codes;
use clap::ValueEnum;

use crate::error::Failed;
use crate::plain_text::PlainWriter;

pub use table::render;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Drawn, for people
    Table,
    Csv,
    /// An array of objects
    Json,
    /// One object a line
    Ndjson,
    Markdown,
    /// Only with --out
    Parquet,
}

impl Format {
    /// Format that suits where stdout goes.
    pub fn for_stdout() -> Self {
        if io::stdout().is_terminal() { Format::Table } else { Format::Csv }
    }

    fn extension(self) -> &'static str {
        match self {
            Format::Table => "txt",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Ndjson => "ndjson",
            Format::Markdown => "md",
            Format::Parquet => "parquet",
        }
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
    format: Format,
    schema: SchemaRef,
    out: impl Write + Send + 'a,
) -> io::Result<Box<dyn Writer + 'a>> {
    Ok(match format {
        Format::Table => Box::new(table::TableWriter::new(schema, out)),
        Format::Csv => Box::new(csv::CsvWriter::new(&schema, out)?),
        Format::Json => Box::new(json::JsonWriter::array(&schema, out)),
        Format::Ndjson => Box::new(json::JsonWriter::lines(&schema, out)),
        Format::Markdown => Box::new(markdown::MarkdownWriter::new(&schema, out)?),
        Format::Parquet => Box::new(parquet::ParquetWriter::new(&schema, out)?),
    })
}

/// The same columns, each with a name of its own, for formats in which a name stands for one value:
/// `x, x` becomes `x, x_1`.
fn told_apart(schema: &SchemaRef) -> SchemaRef {
    let mut names: Vec<String> = vec![];
    for field in schema.fields() {
        let name = field.name();
        let numbered = (1..).map(|n| format!("{name}_{n}"));
        let is_free = |name: &String| {
            !names.contains(name) && (schema.fields().iter().all(|field| field.name() != name))
        };
        let name = match names.contains(name) {
            true => numbered.into_iter().find(is_free).unwrap_or_default(),
            false => name.clone(),
        };
        names.push(name);
    }
    let fields = schema.fields().iter().zip(names);
    let fields: Vec<_> =
        fields.map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
    Arc::new(Schema::new(fields))
}

/// A batch under other names.
fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &rows)
}

/// A result's file in the output folder. It appears under its name only when it is complete.
pub struct ResultFile {
    writer: Box<dyn Writer>,
    part: PathBuf,
    path: PathBuf,
}

impl ResultFile {
    pub fn create(
        folder: &Path,
        name: &str,
        format: Format,
        schema: SchemaRef,
    ) -> Result<Self, Failed> {
        let path = folder.join(format!("{name}.{}", format.extension()));
        let part = folder.join(format!(".{name}.{}.part", format.extension()));
        let file = File::create(&part).map_err(|error| unwritable(folder, &error))?;
        let writer = writer(format, schema, BufWriter::new(file))?;
        Ok(Self { writer, part, path })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.writer.write(batch)
    }

    pub fn finish(self) -> io::Result<PathBuf> {
        self.writer.finish()?;
        std::fs::rename(&self.part, &self.path)?;
        Ok(self.path)
    }

    /// Leaves nothing that could be taken for an answer.
    pub fn discard(self) {
        drop(self.writer);
        // Best effort: its name says that it is only a part.
        let _ = std::fs::remove_file(&self.part);
    }
}

/// Makes the output folder if need be, and makes sure now that it can be written to.
pub fn prepare_folder(folder: &Path) -> Result<(), Failed> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let probe = folder.join(".caudal-probe");
    File::create(&probe).map_err(|error| unwritable(folder, &error))?;
    std::fs::remove_file(&probe).map_err(|error| unwritable(folder, &error))
}

fn unwritable(folder: &Path, error: &io::Error) -> Failed {
    let message = format!("cannot write into the folder {}: {error}", folder.display());
    Failed::new(codes::FOLDER_UNWRITABLE, message)
        .hint("name a folder that is not there yet, or that you may write to".to_string())
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
