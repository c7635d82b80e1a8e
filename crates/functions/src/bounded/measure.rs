//! Sizes of arguments: those of a batch together, and those of one row.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;

/// An argument of a call: a value for each row, or one for all.
pub struct Argument {
    pub array: ArrayRef,
    is_constant: bool,
}

/// Sizes of some values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measure {
    /// Of all together.
    pub bytes: u128,
    /// Of the longest one.
    pub longest: u128,
    /// Elements of all lists together.
    pub items: u128,
    /// Elements of the longest list.
    pub most_items: u128,
    /// The largest of them, if they are integers; never negative.
    pub number: u128,
}

impl Measure {
    /// At most this of one row.
    pub fn of_largest(self) -> Self {
        Self { bytes: self.longest, items: self.most_items, ..self }
    }
}

impl Argument {
    pub fn of(value: &ColumnarValue) -> Result<Self> {
        let (array, is_constant) = match value {
            ColumnarValue::Array(array) => (ArrayRef::clone(array), false),
            ColumnarValue::Scalar(value) => (value.to_array()?, true),
        };
        let array = match array.data_type() {
            DataType::Int64 => array,
            kind if kind.is_integer() => cast(&array, &DataType::Int64)?,
            _ => array,
        };
        Ok(Self { array, is_constant })
    }

    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// Of the values of so many rows.
    pub fn all(&self, rows: usize) -> Measure {
        let measure = measure(&self.array);
        let copies = if self.is_constant { rows as u128 } else { 1 };
        Measure {
            bytes: measure.bytes.saturating_mul(copies),
            items: measure.items.saturating_mul(copies),
            ..measure
        }
    }

    pub fn one(&self, row: usize) -> Measure {
        measure(&self.array.slice(self.at(row), 1))
    }

    pub fn text(&self, row: usize) -> Option<&str> {
        let at = self.at(row);
        if self.array.is_null(at) {
            return None;
        }
        match self.array.data_type() {
            DataType::Utf8 => Some(self.array.as_string::<i32>().value(at)),
            DataType::LargeUtf8 => Some(self.array.as_string::<i64>().value(at)),
            DataType::Utf8View => Some(self.array.as_string_view().value(at)),
            _ => None,
        }
    }

    pub fn number(&self, row: usize) -> Option<i64> {
        let at = self.at(row);
        let numbers = self.array.as_primitive_opt::<Int64Type>()?;
        numbers.is_valid(at).then(|| numbers.value(at))
    }

    pub fn is_null(&self, row: usize) -> bool {
        self.array.data_type().is_null() || self.array.is_null(self.at(row))
    }

    pub fn at(&self, row: usize) -> usize {
        if self.is_constant { 0 } else { row }
    }
}

fn measure(array: &ArrayRef) -> Measure {
    let number = || {
        let numbers = array.as_primitive_opt::<Int64Type>()?;
        numbers.iter().flatten().max().map(|number| u128::try_from(number).unwrap_or(0))
    };
    let (items, most_items) = items(array);
    let bytes = bytes(array);
    Measure {
        bytes,
        longest: longest(array).unwrap_or(bytes),
        items,
        most_items,
        number: number().unwrap_or(0),
    }
}

/// Elements of the lists of a column, of all and of the longest; those of lists within lists count.
fn items(array: &ArrayRef) -> (u128, u128) {
    let Some((lengths, values)) = lists(array) else { return (0, 0) };
    let most = lengths.iter().copied().max().unwrap_or(0) as u128;
    let all = lengths.iter().map(|length| *length as u128).sum::<u128>();
    match items(&values) {
        (0, _) => (all, most),
        (inner, most_inner) => (all + inner, most.saturating_mul(most_inner + 1)),
    }
}

/// The lengths of the lists of a column, and the values of all of them.
fn lists(array: &ArrayRef) -> Option<(Vec<usize>, ArrayRef)> {
    match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let (first, last) = ends(lists.value_offsets())?;
            let lengths = lists.value_offsets().windows(2).map(|ends| (ends[1] - ends[0]) as usize);
            Some((lengths.collect(), lists.values().slice(first, last - first)))
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            let (first, last) = ends(lists.value_offsets())?;
            let lengths = lists.value_offsets().windows(2).map(|ends| (ends[1] - ends[0]) as usize);
            Some((lengths.collect(), lists.values().slice(first, last - first)))
        }
        DataType::FixedSizeList(_, length) => {
            let lists = array.as_fixed_size_list();
            let lengths = vec![*length as usize; lists.len()];
            Some((lengths, ArrayRef::clone(lists.values())))
        }
        _ => None,
    }
}

fn ends<O: arrow::array::OffsetSizeTrait>(offsets: &[O]) -> Option<(usize, usize)> {
    Some((offsets.first()?.as_usize(), offsets.last()?.as_usize()))
}

/// Bytes that the values of a column take, without those of its buffers that none of them uses.
pub fn bytes(array: &ArrayRef) -> u128 {
    let rows = array.len() as u128;
    if let Some((lengths, values)) = lists(array) {
        return bytes(&values) + 4 * lengths.len() as u128;
    }
    match array.data_type() {
        DataType::Utf8View => {
            array.as_string_view().lengths().map(u128::from).sum::<u128>() + 16 * rows
        }
        DataType::BinaryView => {
            array.as_binary_view().lengths().map(u128::from).sum::<u128>() + 16 * rows
        }
        DataType::Struct(_) => array.as_struct().columns().iter().map(bytes).sum(),
        DataType::Map(..) => {
            let map = array.as_map();
            let entries = ends(map.value_offsets()).map_or(0, |(first, last)| {
                let entries = map.entries().slice(first, last - first);
                entries.columns().iter().map(bytes).sum()
            });
            entries + 4 * rows
        }
        // Whoever unpacks it has the longest value in each row.
        DataType::Dictionary(..) => {
            let values = array.as_any_dictionary().values();
            longest(values).unwrap_or_else(|| bytes(values)).saturating_mul(rows)
        }
        _ => {
            let data = array.to_data();
            let size = data.get_slice_memory_size();
            size.unwrap_or_else(|_| array.get_array_memory_size()) as u128
        }
    }
}

/// Bytes of the longest value of a column, where that is quickly seen.
fn longest(array: &ArrayRef) -> Option<u128> {
    let widest = |offsets: &[i32]| offsets.windows(2).map(|ends| ends[1] - ends[0]).max();
    let widest_large = |offsets: &[i64]| offsets.windows(2).map(|ends| ends[1] - ends[0]).max();
    let longest = match array.data_type() {
        DataType::Utf8 => widest(array.as_string::<i32>().value_offsets()).map(i64::from),
        DataType::LargeUtf8 => widest_large(array.as_string::<i64>().value_offsets()),
        DataType::Utf8View => array.as_string_view().lengths().max().map(i64::from),
        kind => kind.primitive_width().map(|width| width as i64),
    };
    // Its offset, or its view.
    longest.map(|longest| longest as u128 + 16)
}
