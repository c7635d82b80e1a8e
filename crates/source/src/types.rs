//! Types of columns as tables have them, and what files have.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};

/// The type that a column of a file's type has in a table; none, if queries cannot be asked about it.
///
/// Encodings are undone, and texts of every kind are views, as those of CSV files are.
pub fn plain(ty: &DataType) -> Option<DataType> {
    match ty {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            Some(DataType::Utf8View)
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Some(DataType::BinaryView),
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        other => nested(other),
    }
}

/// The same within another type, where texts are texts: not all functions take views of lists.
fn nested(ty: &DataType) -> Option<DataType> {
    Some(match ty {
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Timestamp(..)
        | DataType::Date32
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Duration(_)
        | DataType::Interval(IntervalUnit::MonthDayNano)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => ty.clone(),
        DataType::Float16 => DataType::Float32,
        DataType::Date64 => DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Interval(_) => DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            DataType::Utf8
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Dictionary(_, values) => nested(values)?,
        DataType::RunEndEncoded(_, values) => nested(values.data_type())?,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => list(nested(item.data_type())?),
        DataType::Struct(fields) => DataType::Struct(plain_fields(fields)?),
        // Pairs of a key and a value.
        DataType::Map(entries, _) => list(nested(entries.data_type())?),
        DataType::Union(..) => return None,
    })
}

pub fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

fn plain_fields(fields: &Fields) -> Option<Fields> {
    let field = |field: &FieldRef| Some(Field::new(field.name(), nested(field.data_type())?, true));
    fields.iter().map(field).collect()
}

/// The type that holds the values of both exactly, if there is one.
pub fn common(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::{Float32, Float64, Timestamp};
    if one == other {
        return Some(one.clone());
    }
    if let (Some(one), Some(other)) = (integer(one), integer(other)) {
        return common_integer(one, other);
    }
    match (one, other) {
        (Float32, Float64) | (Float64, Float32) => Some(Float64),
        (float @ (Float32 | Float64), int) | (int, float @ (Float32 | Float64)) => {
            let (bits, _) = integer(int)?;
            match (bits, float) {
                (..=16, float) => Some(float.clone()),
                (32, _) => Some(Float64),
                _ => None,
            }
        }
        (Timestamp(unit, zone), Timestamp(other_unit, other_zone)) if zone == other_zone => {
            Some(Timestamp(*unit.max(other_unit), zone.clone()))
        }
        (
            DataType::Decimal128(precision, scale),
            DataType::Decimal128(other_precision, other_scale),
        ) => {
            let whole = (i16::from(*precision) - i16::from(*scale))
                .max(i16::from(*other_precision) - i16::from(*other_scale));
            let scale = *scale.max(other_scale);
            let precision = u8::try_from(whole + i16::from(scale)).ok().filter(|p| *p <= 38)?;
            Some(DataType::Decimal128(precision, scale))
        }
        _ => None,
    }
}

/// Whether a type holds every value of another exactly.
pub fn holds(ty: &DataType, other: &DataType) -> bool {
    if common(ty, other).as_ref() == Some(ty) {
        return true;
    }
    match (ty, other) {
        (DataType::Decimal128(precision, scale), other) => {
            let whole = i16::from(*precision) - i16::from(*scale);
            integer(other).is_some_and(|(bits, has_sign)| whole >= digits(bits, has_sign))
        }
        // All of eighteen digits are.
        (DataType::Int64, DataType::Decimal128(..=18, 0)) => true,
        _ => false,
    }
}

/// Digits of the largest integer.
fn digits(bits: u8, has_sign: bool) -> i16 {
    match (bits, has_sign) {
        (8, _) => 3,
        (16, _) => 5,
        (32, _) => 10,
        (_, true) => 19,
        (_, false) => 20,
    }
}

/// Bits, and whether it has a sign.
fn integer(ty: &DataType) -> Option<(u8, bool)> {
    Some(match ty {
        DataType::Int8 => (8, true),
        DataType::Int16 => (16, true),
        DataType::Int32 => (32, true),
        DataType::Int64 => (64, true),
        DataType::UInt8 => (8, false),
        DataType::UInt16 => (16, false),
        DataType::UInt32 => (32, false),
        DataType::UInt64 => (64, false),
        _ => return None,
    })
}

fn common_integer(one: (u8, bool), other: (u8, bool)) -> Option<DataType> {
    let bits = match (one.1, other.1) {
        (true, false) => one.0.max(2 * other.0),
        (false, true) => other.0.max(2 * one.0),
        _ => one.0.max(other.0),
    };
    Some(match (bits, one.1 || other.1) {
        (8, true) => DataType::Int8,
        (16, true) => DataType::Int16,
        (32, true) => DataType::Int32,
        (64, true) => DataType::Int64,
        (8, false) => DataType::UInt8,
        (16, false) => DataType::UInt16,
        (32, false) => DataType::UInt32,
        (64, false) => DataType::UInt64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone_at_every_level() {
        let dictionary = DataType::Dictionary(DataType::Int8.into(), DataType::Utf8.into());
        assert_eq!(plain(&dictionary), Some(DataType::Utf8View));
        let lists = DataType::LargeList(Arc::new(Field::new("x", dictionary, false)));
        assert_eq!(plain(&lists), Some(list(DataType::Utf8)));
        let deep = DataType::Struct(Fields::from(vec![Field::new("a", lists, false)]));
        let fields = Fields::from(vec![Field::new("a", list(DataType::Utf8), true)]);
        assert_eq!(plain(&deep), Some(DataType::Struct(fields)));
    }

    #[test]
    fn a_common_type_loses_nothing() {
        use DataType::*;
        for (one, other, expected) in [
            (Int32, Int64, Some(Int64)),
            (UInt32, Int8, Some(Int64)),
            (UInt8, UInt16, Some(UInt16)),
            (UInt64, Int64, None),
            (Int16, Float32, Some(Float32)),
            (Int32, Float32, Some(Float64)),
            (Int64, Float64, None),
            (Decimal128(5, 2), Decimal128(7, 0), Some(Decimal128(9, 2))),
            (Decimal128(38, 2), Decimal128(38, 4), None),
            (Utf8View, Int64, None),
            (Date32, Timestamp(TimeUnit::Second, None), None),
        ] {
            assert_eq!(common(&one, &other), expected, "{one} and {other}");
            assert_eq!(common(&other, &one), expected, "{other} and {one}");
        }
    }

    #[test]
    fn a_wider_type_holds_all_of_a_narrower() {
        use DataType::*;
        let micros = Timestamp(TimeUnit::Microsecond, None);
        for (ty, other, expected) in [
            (Int64, Int8, true),
            (Int64, UInt32, true),
            (Int64, UInt64, false),
            (Int64, Float64, false),
            (Int64, Decimal128(18, 0), true),
            (Int64, Decimal128(19, 0), false),
            (Int64, Decimal128(10, 2), false),
            (Float64, Float32, true),
            (Float64, Int32, true),
            (Float64, Int64, false),
            (Float64, Decimal128(5, 2), false),
            (Decimal128(10, 2), Decimal128(8, 2), true),
            (Decimal128(10, 2), Decimal128(10, 0), false),
            (Decimal128(10, 2), Int16, true),
            (Decimal128(11, 2), Int32, false),
            (Decimal128(21, 2), Int64, true),
            (Decimal128(21, 2), UInt64, false),
            (micros.clone(), Timestamp(TimeUnit::Second, None), true),
            (micros.clone(), Timestamp(TimeUnit::Nanosecond, None), false),
            (micros.clone(), Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false),
            (micros, Date32, false),
            (Utf8View, Int64, false),
        ] {
            assert_eq!(holds(&ty, &other), expected, "{ty} and {other}");
        }
    }
}
