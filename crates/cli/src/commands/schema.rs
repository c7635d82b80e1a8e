//! `caudal schema`: what is in files.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, TimeUnit};
use caudal::{Description, TableOptions, Type};
use caudal_suite::type_name;

use crate::args::SchemaArgs;
use crate::error::Told;
use crate::output::{Format, Style, check_one_on_stdout, stdout, writer};
use crate::{Done, job};

pub fn run(args: SchemaArgs) -> Done {
    let format = args.format.unwrap_or_else(Format::for_stdout);
    check_one_on_stdout(format)?;
    let (files, options) = TableOptions::split(&args.files).told()?;
    let described = caudal::describe(files, &options)?;
    if !args.quiet {
        job::tell(&described.notes);
    }
    Ok(show(&described, files, format)?)
}

/// For people under a line that says what holds for all columns; for programs beside each of them.
fn show(described: &Description, files: &str, format: Format) -> io::Result<()> {
    let is_for_people = matches!(format, Format::Table | Format::Markdown);
    let mut out = stdout();
    if is_for_people {
        let Description { rows, rejected, .. } = described;
        let unfit = match rejected {
            0 => String::new(),
            rejected => format!(", {rejected} more do not fit"),
        };
        let rows_of = if *rows == 1 { "row" } else { "rows" };
        writeln!(out, "{files}: {rows} {rows_of}{unfit}, {}", described.written)?;
        if format == Format::Markdown {
            writeln!(out)?;
        }
    }
    let columns = described.schema.fields();
    let texts = |texts: Vec<String>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let all = |text: &str| texts(vec![text.to_string(); columns.len()]);
    let number = |number| Arc::new(UInt64Array::from(vec![number; columns.len()])) as ArrayRef;
    let mut shown = vec![
        ("column", texts(columns.iter().map(|column| column.name().clone()).collect())),
        ("type", texts(columns.iter().map(|column| type_name_of(column.data_type())).collect())),
        ("samples", texts(described.samples.iter().map(|samples| samples.join(", ")).collect())),
    ];
    if !is_for_people {
        shown.push(("rows", number(described.rows)));
        shown.push(("rejected", number(described.rejected)));
        shown.push(("dialect", all(&described.written)));
        shown.push(("files", all(files)));
    }
    let batch = RecordBatch::try_from_iter(shown).map_err(io::Error::other)?;
    let style = Style { is_stream: true, ..Style::from(format) };
    let mut writer = writer(style, batch.schema(), out)?;
    writer.write(&batch)?;
    writer.finish()
}

/// As options have it, where they can say it.
pub fn type_name_of(ty: &DataType) -> String {
    let said = match ty {
        DataType::Utf8View => Type::Text,
        DataType::Int64 => Type::Int64,
        DataType::Float64 => Type::Float64,
        DataType::Boolean => Type::Boolean,
        DataType::Date32 => Type::Date,
        DataType::Timestamp(TimeUnit::Microsecond, None) => Type::Timestamp,
        DataType::Decimal128(precision, scale) => {
            Type::Decimal { precision: *precision, scale: *scale }
        }
        other => return other.to_string(),
    };
    type_name(said)
}
