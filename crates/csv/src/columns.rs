//! Columns from fields: one tight loop for each column and stretch of records.

use std::sync::Arc;

use arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float64Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow::array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::DataType;

use crate::field::{Value, owned_value, value as value_of, without_cr};
use crate::formats::Formats;
use crate::index::Stretch;
use crate::nulls::Nulls;
use crate::reject::RejectReason;
use crate::spec::Type;
use crate::syntax::Syntax;
use crate::text::TextValues;
use crate::{time, value};

/// The records of a stretch that have the right number of fields.
pub struct Rows<'a> {
    pub stretch: Stretch<'a>,
    /// Of each record, the place of its first field in the stretch.
    pub records: &'a [u32],
    pub fields: usize,
    pub formats: &'a Formats,
    /// The whole stretch is valid UTF-8.
    pub is_utf8: bool,
}

impl<'a> Rows<'a> {
    pub fn bytes(&self) -> &'a [u8] {
        self.stretch.bytes
    }

    /// One field of every record, with its quotes.
    #[inline(always)]
    pub fn raw_fields(&self, field: usize) -> impl ExactSizeIterator<Item = &'a [u8]> {
        let is_last = field + 1 == self.fields;
        self.records.iter().map(move |first| {
            let raw = self.stretch.raw_field(*first as usize + field);
            if is_last { without_cr(raw) } else { raw }
        })
    }
}

/// Report of a column's rows whose value does not fit.
pub struct Misfits<'a> {
    pub column: usize,
    pub found: &'a mut Vec<Misfit>,
}

pub struct Misfit {
    /// Among the rows that were being converted.
    pub row: usize,
    pub column: usize,
    pub reason: RejectReason,
}

impl Misfits<'_> {
    #[cold]
    pub fn add(&mut self, row: usize, reason: RejectReason) {
        self.found.push(Misfit { row, column: self.column, reason });
    }
}

/// A column that grows by a stretch at a time.
pub struct ColumnBuilder {
    /// Its place in a record.
    field: usize,
    ty: Type,
    values: Values,
}

enum Values {
    Text(TextValues),
    Int64(Parsed<i64>),
    Float64(Parsed<f64>),
    Boolean(Parsed<bool>),
    Decimal { parsed: Parsed<i128>, precision: u8, scale: u8 },
    Date(Parsed<i32>),
    Timestamp(Parsed<i64>),
}

impl ColumnBuilder {
    pub fn new(field: usize, ty: Type) -> ColumnBuilder {
        let values = match ty {
            Type::Text => Values::Text(TextValues::new()),
            Type::Int64 => Values::Int64(Parsed::new()),
            Type::Float64 => Values::Float64(Parsed::new()),
            Type::Boolean => Values::Boolean(Parsed::new()),
            Type::Decimal { precision, scale } => {
                Values::Decimal { parsed: Parsed::new(), precision, scale: scale.unsigned_abs() }
            }
            Type::Date => Values::Date(Parsed::new()),
            Type::Timestamp => Values::Timestamp(Parsed::new()),
        };
        ColumnBuilder { field, ty, values }
    }

    pub fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Values::Text(text) => text.reserve(rows),
            Values::Int64(parsed) | Values::Timestamp(parsed) => parsed.reserve(rows),
            Values::Float64(parsed) => parsed.reserve(rows),
            Values::Boolean(parsed) => parsed.reserve(rows),
            Values::Decimal { parsed, .. } => parsed.reserve(rows),
            Values::Date(parsed) => parsed.reserve(rows),
        }
    }

    pub fn extend(&mut self, rows: &Rows<'_>, misfits: &mut Misfits<'_>) {
        let ColumnBuilder { field, ty, values } = self;
        let (field, ty) = (*field, *ty);
        let plain = rows.formats.has_plain_numbers();
        let formats = rows.formats;
        match values {
            Values::Text(text) => text.extend(rows, field, misfits),
            Values::Int64(parsed) if plain => parsed.extend(rows, field, ty, misfits, value::int64),
            Values::Int64(parsed) => {
                parsed.extend(rows, field, ty, misfits, |text| formats.int64(text))
            }
            Values::Float64(parsed) if plain => {
                parsed.extend(rows, field, ty, misfits, value::float64)
            }
            Values::Float64(parsed) => {
                parsed.extend(rows, field, ty, misfits, |text| formats.float64(text))
            }
            Values::Boolean(parsed) => {
                parsed.extend(rows, field, ty, misfits, |text| formats.boolean(text))
            }
            Values::Decimal { parsed, precision, scale } if plain => {
                let decimal = |text: &[u8]| value::decimal(text, *precision, *scale);
                parsed.extend(rows, field, ty, misfits, decimal);
            }
            Values::Decimal { parsed, precision, scale } => {
                let decimal = |text: &[u8]| formats.decimal(text, *precision, *scale);
                parsed.extend(rows, field, ty, misfits, decimal);
            }
            Values::Date(parsed) if formats.date.is_none() => {
                parsed.extend(rows, field, ty, misfits, time::date)
            }
            Values::Date(parsed) => {
                parsed.extend(rows, field, ty, misfits, |text| formats.date(text))
            }
            Values::Timestamp(parsed) if formats.timestamp.is_none() => {
                parsed.extend(rows, field, ty, misfits, time::timestamp)
            }
            Values::Timestamp(parsed) => {
                parsed.extend(rows, field, ty, misfits, |text| formats.timestamp(text))
            }
        }
    }

    pub fn finish(self, chunk: &Buffer) -> ArrayRef {
        let data_type = self.ty.data_type();
        match self.values {
            Values::Text(text) => text.finish(chunk),
            Values::Int64(parsed) => parsed.finish::<Int64Type>(data_type),
            Values::Float64(parsed) => parsed.finish::<Float64Type>(data_type),
            Values::Boolean(parsed) => {
                let bits = BooleanBuffer::from(parsed.values);
                Arc::new(BooleanArray::new(bits, parsed.nulls.finish()))
            }
            Values::Decimal { parsed, .. } => parsed.finish::<Decimal128Type>(data_type),
            Values::Date(parsed) => parsed.finish::<Date32Type>(data_type),
            Values::Timestamp(parsed) => parsed.finish::<TimestampMicrosecondType>(data_type),
        }
    }
}

/// The values of a column that is not text.
struct Parsed<N> {
    values: Vec<N>,
    nulls: Nulls,
}

impl<N: Default> Parsed<N> {
    fn new() -> Self {
        Parsed { values: Vec::new(), nulls: Nulls::new() }
    }

    fn reserve(&mut self, rows: usize) {
        self.values.reserve_exact(rows);
    }

    #[inline(always)]
    fn extend(
        &mut self,
        rows: &Rows<'_>,
        field: usize,
        ty: Type,
        misfits: &mut Misfits<'_>,
        parse: impl Fn(&[u8]) -> Option<N>,
    ) {
        let formats = rows.formats;
        match formats.nulls.is_empty() {
            true => self.extend_nullable(rows, field, ty, misfits, &parse, |_| false),
            false => {
                self.extend_nullable(rows, field, ty, misfits, &parse, |text| formats.is_null(text))
            }
        }
    }

    #[inline(always)]
    fn extend_nullable(
        &mut self,
        rows: &Rows<'_>,
        field: usize,
        ty: Type,
        misfits: &mut Misfits<'_>,
        parse: &impl Fn(&[u8]) -> Option<N>,
        is_null: impl Fn(&[u8]) -> bool,
    ) {
        let nulls = &mut self.nulls;
        let syntax = rows.stretch.syntax;
        self.values.extend(rows.raw_fields(field).enumerate().map(|(row, raw)| {
            let parsed = match syntax.is_encoded(raw) {
                true => parse_encoded(raw, syntax, parse, &is_null),
                false => parse_trimmed(raw, parse, &is_null),
            };
            nulls.append(matches!(parsed, Ok(Some(_))));
            match parsed {
                Ok(value) => value.unwrap_or_default(),
                Err(NotOfType) => {
                    misfits.add(row, RejectReason::not_of_type(ty, &owned_value(raw, syntax)));
                    N::default()
                }
            }
        }));
    }
}

struct NotOfType;

/// `None` for NULL.
#[inline(always)]
fn parse_trimmed<N>(
    text: &[u8],
    parse: impl Fn(&[u8]) -> Option<N>,
    is_null: impl Fn(&[u8]) -> bool,
) -> Result<Option<N>, NotOfType> {
    match trim_spaces(text) {
        [] => Ok(None),
        text if is_null(text) => Ok(None),
        text => parse(text).map(Some).ok_or(NotOfType),
    }
}

#[cold]
fn parse_encoded<N>(
    raw: &[u8],
    syntax: Syntax,
    parse: impl Fn(&[u8]) -> Option<N>,
    is_null: impl Fn(&[u8]) -> bool,
) -> Result<Option<N>, NotOfType> {
    match value_of(raw, syntax) {
        Value::InPlace(text) => parse_trimmed(text, parse, is_null),
        // As it is in the file: `\N` is a NULL that is written with an escape, `\\N` a text.
        Value::Escaped if is_null(trim_spaces(raw)) => Ok(None),
        Value::Escaped => parse_trimmed(&owned_value(raw, syntax), parse, |_| false),
    }
}

#[inline(always)]
pub fn trim_spaces(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] | [rest @ .., b' '] = text {
        text = rest;
    }
    text
}

impl<N> Parsed<N> {
    fn finish<T: ArrowPrimitiveType<Native = N>>(self, data_type: DataType) -> ArrayRef
    where
        N: arrow::datatypes::ArrowNativeType,
    {
        let array = PrimitiveArray::<T>::new(self.values.into(), self.nulls.finish());
        Arc::new(array.with_data_type(data_type))
    }
}
