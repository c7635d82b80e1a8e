//! Values as text: the same in tables, CSV and Markdown. A list is joined with `|`.

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

const OPTIONS: FormatOptions<'static> = FormatOptions::new()
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

    pub fn row(&self, row: usize) -> impl Iterator<Item = String> {
        self.columns.iter().map(move |cell| cell.text(row))
    }
}

impl Cell<'_> {
    fn text(&self, row: usize) -> String {
        match self {
            Cell::Plain(formatter) => formatter.value(row).to_string(),
            Cell::List { array, .. } if array.is_null(row) => String::new(),
            Cell::List { array, items } => {
                let offsets = array.as_list::<i32>().value_offsets();
                let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
                let items: Vec<_> =
                    (start..end).map(|item| items.value(item).to_string()).collect();
                items.join("|")
            }
        }
    }
}
