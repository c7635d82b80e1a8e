//! Values as text: the same in tables, CSV and Markdown. A list is joined with `|`.

use std::io;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// The cells of one batch, column by column.
pub struct Cells<'a> {
    columns: Vec<Cell<'a>>,
}

enum Cell<'a> {
    Plain(ArrayFormatter<'a>),
    List { array: &'a ArrayRef, items: ArrayFormatter<'a> },
}

pub const OPTIONS: FormatOptions<'static> = FormatOptions::new()
    // What cannot be shown is an error, not a cell that says so.
    .with_display_error(false)
    .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
    .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"));

impl<'a> Cells<'a> {
    pub fn of(batch: &'a RecordBatch) -> Result<Self, ArrowError> {
        let columns = batch.columns().iter().map(|array| {
            Ok(match array.data_type() {
                DataType::List(_) => Cell::List {
                    array,
                    items: ArrayFormatter::try_new(array.as_list::<i32>().values(), &OPTIONS)?,
                },
                _ => Cell::Plain(ArrayFormatter::try_new(array, &OPTIONS)?),
            })
        });
        Ok(Self { columns: columns.collect::<Result<_, ArrowError>>()? })
    }

    pub fn row(&self, row: usize) -> io::Result<Vec<String>> {
        let texts = self.columns.iter().map(|cell| cell.text(row));
        texts.collect::<Result<_, ArrowError>>().map_err(io::Error::other)
    }
}

impl Cell<'_> {
    fn text(&self, row: usize) -> Result<String, ArrowError> {
        match self {
            Cell::Plain(formatter) => formatter.value(row).try_to_string(),
            Cell::List { array, .. } if array.is_null(row) => Ok(String::new()),
            Cell::List { array, items } => {
                let offsets = array.as_list::<i32>().value_offsets();
                let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
                let items = (start..end).map(|item| items.value(item).try_to_string());
                Ok(items.collect::<Result<Vec<_>, _>>()?.join("|"))
            }
        }
    }
}
