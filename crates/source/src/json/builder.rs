//! Columns that grow by a value of JSON at a time.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, ListArray,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, FieldRef, Fields};
use arrow::error::ArrowError;

use super::cursor::{Cursor, Wrong};
use super::untaken::{Names, Untaken};

/// Why a row cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It is not JSON.
    Wrong(Wrong),
    /// A value, as it is in the file, that is not of its type, and the column that has it.
    NotOfType { ty: DataType, value: Vec<u8>, column: usize },
}

impl From<Wrong> for Misfit {
    fn from(wrong: Wrong) -> Misfit {
        Misfit::Wrong(wrong)
    }
}

impl Misfit {
    /// Of a column, whatever it is within that.
    fn of_column(self, column: usize) -> Misfit {
        match self {
            Misfit::NotOfType { ty, value, .. } => Misfit::NotOfType { ty, value, column },
            wrong => wrong,
        }
    }
}

pub const NAME_TWICE: Wrong = "a name twice in an object";

/// A column, or a part of one.
#[derive(Debug)]
pub struct Builder {
    ty: DataType,
    values: Values,
    /// Of each value, whether it is none.
    nulls: Vec<bool>,
}

#[derive(Debug)]
enum Values {
    Boolean(Vec<bool>),
    Integer(Vec<i64>),
    Decimal { values: Vec<i128>, precision: u8, scale: u8 },
    Date(Vec<i32>),
    Timestamp(Vec<i64>),
    Float(Vec<f64>),
    Text { bytes: Vec<u8>, ends: Vec<usize> },
    List { item: Box<Builder>, field: FieldRef, ends: Vec<usize> },
    Object { fields: Fields, columns: Vec<Builder>, path: String },
}

impl Builder {
    /// Of one of the types that are guessed, or can be said, with the names that lead to it.
    pub fn new(path: &str, ty: &DataType) -> Builder {
        let values = match ty {
            DataType::Boolean => Values::Boolean(vec![]),
            DataType::Int64 => Values::Integer(vec![]),
            DataType::Decimal128(precision, scale) => Values::Decimal {
                values: vec![],
                precision: *precision,
                scale: scale.unsigned_abs(),
            },
            DataType::Date32 => Values::Date(vec![]),
            DataType::Timestamp(..) => Values::Timestamp(vec![]),
            DataType::Float64 => Values::Float(vec![]),
            DataType::List(field) => {
                let item = Box::new(Builder::new(path, field.data_type()));
                Values::List { item, field: Arc::clone(field), ends: vec![] }
            }
            DataType::Struct(fields) => {
                let column = |field: &FieldRef| {
                    Builder::new(&format!("{path}.{}", field.name()), field.data_type())
                };
                let columns = fields.iter().map(column).collect();
                Values::Object { fields: fields.clone(), columns, path: path.to_string() }
            }
            _ => Values::Text { bytes: vec![], ends: vec![] },
        };
        Builder { ty: ty.clone(), values, nulls: vec![] }
    }

    pub fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Takes the value that comes next. After a misfit it may hold parts of it: see [`truncate`](Self::truncate).
    pub fn take(&mut self, cursor: &mut Cursor<'_>, untaken: &mut Untaken) -> Result<(), Misfit> {
        let first = cursor.peek();
        let begin = cursor.at();
        if first == Some(b'n') {
            cursor.word("null")?;
            self.push_null();
            return Ok(());
        }
        let is_taken = match (&mut self.values, first) {
            (Values::Boolean(values), Some(word @ (b't' | b'f'))) => {
                cursor.skip()?;
                values.push(word == b't');
                true
            }
            (Values::Integer(values), Some(b'-' | b'0'..=b'9')) => {
                push(values, parsed(cursor.number()?))
            }
            (Values::Decimal { values, precision, scale }, Some(b'-' | b'0'..=b'9')) => {
                push(values, decimal(cursor.number()?, *precision, *scale))
            }
            (Values::Date(values), Some(b'"')) => {
                push(values, caudal_csv::parse_date(&cursor.string()?))
            }
            (Values::Timestamp(values), Some(b'"')) => {
                push(values, caudal_csv::parse_timestamp(&cursor.string()?))
            }
            (Values::Float(values), Some(b'-' | b'0'..=b'9')) => {
                push(values, parsed(cursor.number()?).filter(|n: &f64| n.is_finite()))
            }
            (Values::Text { bytes, ends }, Some(first)) => {
                match first {
                    b'"' => bytes.extend_from_slice(&cursor.string()?),
                    // As it is written.
                    _ => {
                        cursor.skip()?;
                        bytes.extend_from_slice(cursor.since(begin));
                    }
                }
                ends.push(bytes.len());
                true
            }
            (Values::List { item, ends, .. }, Some(b'[')) => {
                cursor.array(|cursor| item.take(cursor, untaken))?;
                ends.push(item.len());
                true
            }
            (Values::Object { fields, columns, path }, Some(b'{')) => {
                take_part(
                    cursor,
                    fields,
                    columns,
                    self.nulls.len(),
                    (path.as_str(), &mut *untaken),
                )?;
                true
            }
            _ => {
                cursor.skip()?;
                false
            }
        };
        if !is_taken {
            let value = cursor.since(begin).to_vec();
            return Err(Misfit::NotOfType { ty: self.ty.clone(), value, column: 0 });
        }
        self.nulls.push(false);
        Ok(())
    }

    pub fn push_null(&mut self) {
        match &mut self.values {
            Values::Boolean(values) => values.push(false),
            Values::Integer(values) => values.push(0),
            Values::Decimal { values, .. } => values.push(0),
            Values::Date(values) => values.push(0),
            Values::Timestamp(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Text { bytes, ends } => ends.push(bytes.len()),
            Values::List { item, ends, .. } => ends.push(item.len()),
            Values::Object { columns, .. } => columns.iter_mut().for_each(Builder::push_null),
        }
        self.nulls.push(true);
    }

    /// Forgets all but the first values.
    pub fn truncate(&mut self, len: usize) {
        self.nulls.truncate(len);
        match &mut self.values {
            Values::Boolean(values) => values.truncate(len),
            Values::Integer(values) => values.truncate(len),
            Values::Decimal { values, .. } => values.truncate(len),
            Values::Date(values) => values.truncate(len),
            Values::Timestamp(values) => values.truncate(len),
            Values::Float(values) => values.truncate(len),
            Values::Text { bytes, ends } => {
                ends.truncate(len);
                bytes.truncate(ends.last().copied().unwrap_or(0));
            }
            Values::List { item, ends, .. } => {
                ends.truncate(len);
                item.truncate(ends.last().copied().unwrap_or(0));
            }
            Values::Object { columns, .. } => {
                columns.iter_mut().for_each(|column| column.truncate(len));
            }
        }
    }

    pub fn finish(self) -> Result<ArrayRef, ArrowError> {
        let len = self.len();
        let has_nulls = self.nulls.contains(&true);
        let nulls =
            has_nulls.then(|| self.nulls.iter().map(|is_null| !is_null).collect::<NullBuffer>());
        Ok(match self.values {
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
            Values::Integer(values) => Arc::new(Int64Array::try_new(values.into(), nulls)?),
            Values::Decimal { values, .. } => {
                let array = Decimal128Array::try_new(values.into(), nulls)?;
                Arc::new(array.with_data_type(self.ty))
            }
            Values::Float(values) => Arc::new(Float64Array::try_new(values.into(), nulls)?),
            Values::Date(values) => Arc::new(Date32Array::try_new(values.into(), nulls)?),
            Values::Timestamp(values) => {
                Arc::new(TimestampMicrosecondArray::try_new(values.into(), nulls)?)
            }
            Values::Text { bytes, ends } => {
                Arc::new(StringArray::try_new(offsets(&ends)?, bytes.into(), nulls)?)
            }
            Values::List { item, field, ends } => {
                Arc::new(ListArray::try_new(field, offsets(&ends)?, item.finish()?, nulls)?)
            }
            Values::Object { fields, columns, .. } => {
                let columns = columns.into_iter().map(Builder::finish).collect::<Result<_, _>>()?;
                Arc::new(StructArray::try_new_with_length(fields, columns, nulls, len)?)
            }
        })
    }
}

/// An integer is written as one where there is nothing behind the point.
fn decimal(number: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let is_integer = !number.contains(&b'.');
    (scale > 0 || is_integer).then(|| caudal_csv::parse_decimal(number, precision, scale))?
}

fn parsed<T: std::str::FromStr>(number: &[u8]) -> Option<T> {
    std::str::from_utf8(number).ok()?.parse().ok()
}

fn push<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
    let is_taken = value.is_some();
    values.extend(value);
    is_taken
}

/// Takes an object as the next value of each column; names that have none are passed over, and noted if no column has them.
pub fn take_object(
    cursor: &mut Cursor<'_>,
    names: &Names,
    columns: &mut [Builder],
    len: usize,
    untaken: &mut Untaken,
) -> Result<(), Misfit> {
    let mut next = 0;
    cursor.object(|cursor, name| {
        let Some(place) = names.place(name, next) else {
            untaken.pass("", name, *cursor);
            return Ok(cursor.skip()?);
        };
        next = place + 1;
        let Some(at) = names.column(place) else { return Ok(cursor.skip()?) };
        if columns[at].len() > len {
            return Err(Misfit::Wrong(NAME_TWICE));
        }
        columns[at].take(cursor, untaken).map_err(|misfit| misfit.of_column(at))
    })?;
    fill_up(columns, len);
    Ok(())
}

/// NULL for the columns that the object has no names of.
fn fill_up(columns: &mut [Builder], len: usize) {
    for column in columns.iter_mut().filter(|column| column.len() == len) {
        column.push_null();
    }
}

/// The same of an object within another, all of whose names are needed.
fn take_part(
    cursor: &mut Cursor<'_>,
    fields: &Fields,
    columns: &mut [Builder],
    len: usize,
    (path, untaken): (&str, &mut Untaken),
) -> Result<(), Misfit> {
    // Names come in the same order nearly always.
    let mut next = 0;
    cursor.object(|cursor, name| {
        let is = |at: usize| fields[at].name().as_bytes() == name;
        let at = match next < fields.len() && is(next) {
            true => next,
            false => match (0..fields.len()).find(|at| is(*at)) {
                Some(at) => at,
                None => {
                    untaken.pass(path, name, *cursor);
                    return Ok(cursor.skip()?);
                }
            },
        };
        next = at + 1;
        if columns[at].len() > len {
            return Err(Misfit::Wrong(NAME_TWICE));
        }
        columns[at].take(cursor, untaken).map_err(|misfit| misfit.of_column(at))
    })?;
    fill_up(columns, len);
    Ok(())
}

fn offsets(ends: &[usize]) -> Result<OffsetBuffer<i32>, ArrowError> {
    let too_much = |_| ArrowError::OffsetOverflowError(ends.last().copied().unwrap_or(0));
    let ends = ends.iter().map(|end| i32::try_from(*end).map_err(too_much));
    let offsets = std::iter::once(Ok(0)).chain(ends).collect::<Result<Vec<i32>, _>>()?;
    Ok(OffsetBuffer::new(offsets.into()))
}
