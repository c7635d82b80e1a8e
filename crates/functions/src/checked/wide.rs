//! Types in which sums are kept, by the type of their values.
//!
//! A sum is kept so wide that no order of its rows, and no division of them over shards, makes it overflow on
//! the way: MAX, 1, -5 fits, whoever adds MAX and 1 first. Only the end is checked.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    ArrowPrimitiveType, DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, DecimalType,
};
use arrow::error::ArrowError;
use datafusion::error::Result;

use super::{is_exact, overflow};

/// The digits that ten thousand million rows add to those of a value.
const ROOM_DIGITS: u8 = 10;

/// The decimal that sums of values of this type are kept in; none where they are not exact.
pub fn wide_type(values: &DataType) -> Option<DataType> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256, Duration, Int64, UInt64};
    match values {
        Int64 | UInt64 | Duration(_) => Some(Decimal128(DECIMAL128_MAX_PRECISION, 0)),
        Decimal32(_, scale) | Decimal64(_, scale) => {
            Some(Decimal128(DECIMAL128_MAX_PRECISION, *scale))
        }
        Decimal128(precision, scale) if precision + ROOM_DIGITS <= DECIMAL128_MAX_PRECISION => {
            Some(Decimal128(DECIMAL128_MAX_PRECISION, *scale))
        }
        Decimal128(_, scale) | Decimal256(_, scale) => {
            Some(Decimal256(DECIMAL256_MAX_PRECISION, *scale))
        }
        _ => None,
    }
}

/// Whether the type of a sum of these values holds the sum of any part of them, too.
pub fn is_wide_enough(values: &DataType) -> bool {
    match values {
        DataType::Decimal128(precision, _) => precision + ROOM_DIGITS <= DECIMAL128_MAX_PRECISION,
        DataType::Decimal256(precision, _) => precision + ROOM_DIGITS <= DECIMAL256_MAX_PRECISION,
        other => !is_exact(other),
    }
}

/// Calls `$build::<Values, Wide>($arguments)` with the types of the values and of their sums.
macro_rules! with_wide_type {
    ($values:expr, $build:ident($($argument:expr),*)) => {{
        use arrow::datatypes::{
            DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
            DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
            DurationSecondType, Int64Type, TimeUnit, UInt64Type,
        };
        match ($values, $crate::checked::wide::wide_type($values)) {
            (DataType::Int64, _) => $build::<Int64Type, Decimal128Type>($($argument),*),
            (DataType::UInt64, _) => $build::<UInt64Type, Decimal128Type>($($argument),*),
            (DataType::Duration(TimeUnit::Second), _) => {
                $build::<DurationSecondType, Decimal128Type>($($argument),*)
            }
            (DataType::Duration(TimeUnit::Millisecond), _) => {
                $build::<DurationMillisecondType, Decimal128Type>($($argument),*)
            }
            (DataType::Duration(TimeUnit::Microsecond), _) => {
                $build::<DurationMicrosecondType, Decimal128Type>($($argument),*)
            }
            (DataType::Duration(TimeUnit::Nanosecond), _) => {
                $build::<DurationNanosecondType, Decimal128Type>($($argument),*)
            }
            (DataType::Decimal32(..), _) => $build::<Decimal32Type, Decimal128Type>($($argument),*),
            (DataType::Decimal64(..), _) => $build::<Decimal64Type, Decimal128Type>($($argument),*),
            (DataType::Decimal128(..), Some(DataType::Decimal128(..))) => {
                $build::<Decimal128Type, Decimal128Type>($($argument),*)
            }
            (DataType::Decimal128(..), _) => $build::<Decimal128Type, Decimal256Type>($($argument),*),
            (DataType::Decimal256(..), _) => $build::<Decimal256Type, Decimal256Type>($($argument),*),
            (other, _) => datafusion::common::internal_err!("sums of {other} are not kept wide"),
        }
    }};
}
pub(super) use with_wide_type;

/// Sums as the type that the query sees.
pub fn finish<W: DecimalType>(sums: &PrimitiveArray<W>, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    // Differences of times are whole numbers of their units.
    let whole = DataType::Int64;
    let number = if let DataType::Duration(_) = to { &whole } else { to };
    let finished = cast_with_options(sums, number, &options).and_then(|finished| {
        // A cast to the same type does not look at the values.
        if let DataType::Decimal128(precision, _) | DataType::Decimal256(precision, _) = to
            && sums.data_type() == to
        {
            finished.as_primitive::<W>().validate_decimal_precision(*precision)?;
        }
        if number != to {
            return cast_with_options(&finished, to, &options);
        }
        Ok(finished)
    });
    Ok(finished.map_err(|error| match error {
        ArrowError::CastError(message) | ArrowError::InvalidArgumentError(message) => {
            overflow(message)
        }
        other => other,
    })?)
}

/// Values with those sums as their state.
pub trait Widens<W: ArrowPrimitiveType>: ArrowPrimitiveType {
    fn widen(value: Self::Native) -> W::Native;
}

impl<T, W> Widens<W> for T
where
    T: ArrowPrimitiveType,
    W: ArrowPrimitiveType,
    W::Native: From<T::Native>,
{
    fn widen(value: T::Native) -> W::Native {
        value.into()
    }
}
