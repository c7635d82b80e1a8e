//! `caudal schema`: what is in files.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use caudal::{Description, TableOptions, codes};
use caudal_suite::{dialect_options, type_name};

use crate::args::SchemaArgs;
use crate::error::{Failed, Told};
use crate::output::{Format, stdout, writer};
use crate::{Done, job};

pub fn run(args: SchemaArgs) -> Done {
    let format = args.format.unwrap_or_else(Format::for_stdout);
    if format == Format::Parquet {
        return Err(Failed::new(codes::PARQUET_ON_STDOUT, "Parquet cannot be written to stdout"));
    }
    let (files, options) = TableOptions::split(&args.files).told()?;
    let described = caudal::describe(files, &options)?;
    if !args.quiet {
        job::tell(&described.notes);
    }
    Ok(show(&described, files, format)?)
}

/// For people under a line that says what holds for all columns; for programs beside each of them.
fn show(described: &Description, files: &str, format: Format) -> io::Result<()> {
    let table = &described.table;
    let dialect = dialect_options(&table.dialect, table.fields);
    let is_for_people = matches!(format, Format::Table | Format::Markdown);
    let mut out = stdout();
    if is_for_people {
        let Description { rows, rejected, .. } = described;
        let unfit = match rejected {
            0 => String::new(),
            rejected => format!(", {rejected} more do not fit"),
        };
        let rows_of = if *rows == 1 { "row" } else { "rows" };
        writeln!(out, "{files}: {rows} {rows_of}{unfit}, {dialect}")?;
        if format == Format::Markdown {
            writeln!(out)?;
        }
    }
    let columns = &table.columns;
    let texts = |texts: Vec<String>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let all = |text: &str| texts(vec![text.to_string(); columns.len()]);
    let number = |number| Arc::new(UInt64Array::from(vec![number; columns.len()])) as ArrayRef;
    let mut shown = vec![
        ("column", texts(columns.iter().map(|column| column.name.clone()).collect())),
        ("type", texts(columns.iter().map(|column| type_name(column.ty)).collect())),
        ("samples", texts(described.samples.iter().map(|samples| samples.join(", ")).collect())),
    ];
    if !is_for_people {
        shown.push(("rows", number(described.rows)));
        shown.push(("rejected", number(described.rejected)));
        shown.push(("dialect", all(&dialect)));
        shown.push(("files", all(files)));
    }
    let batch = RecordBatch::try_from_iter(shown).map_err(io::Error::other)?;
    let mut writer = writer(format, batch.schema(), out)?;
    writer.write(&batch)?;
    writer.finish()
}
