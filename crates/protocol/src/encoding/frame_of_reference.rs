//! Frame of reference: a number as how many steps it is above the least of its column.

use std::sync::Arc;

use arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float64Type, Int64Type,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, TimeUnit};
use arrow::error::ArrowError;
use serde::{Deserialize, Serialize};

/// The number is `base` + `step` × what is sent, where every integer of 64 bits wraps around.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameOfReference {
    pub of: Number,
    pub bits: Bits,
    pub base: i64,
    pub step: i64,
}

/// The type of a column once it is decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Number {
    Int64,
    Uint64,
    /// Each is an integer, divided by this.
    Float64 {
        divisor: u32,
    },
    Date32,
    TimestampUs,
    Decimal128 {
        precision: u8,
        scale: i8,
    },
}

/// The width of what is sent, unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Bits {
    B8,
    B16,
    B32,
}

/// Most times are whole seconds.
const SECOND_US: i64 = 1_000_000;

/// Most floats of a table were written with a digit or two after the point, or none. What is written like that is
/// the float next to it: an integer divided by one of these, and nothing else.
const DIVISORS: [u32; 3] = [1, 10, 100];

/// Added to a float it leaves an integer in the last bits. Not of a large one: that is not had back.
const ROUNDS: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

pub fn encode(column: &ArrayRef) -> Option<(FrameOfReference, ArrayRef)> {
    let (of, values) = integers(column)?;
    let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let (least, most) = bounds(&values, nulls.as_ref());
    let above = most.checked_sub(least)?;
    let is_whole = |value: i64| value.wrapping_sub(least) % SECOND_US == 0;
    let step = match of {
        Number::TimestampUs if all_are(&values, nulls.as_ref(), is_whole) => SECOND_US,
        _ => 1,
    };
    let bits = Bits::that_hold(above / step).filter(|bits| of.is_wider_than(*bits))?;
    let encoded: ArrayRef = match bits {
        Bits::B8 => Arc::new(sent::<UInt8Type>(&values, nulls, least, step, |s| s as u8)),
        Bits::B16 => Arc::new(sent::<UInt16Type>(&values, nulls, least, step, |s| s as u16)),
        Bits::B32 => Arc::new(sent::<UInt32Type>(&values, nulls, least, step, |s| s as u32)),
    };
    Some((FrameOfReference { of, bits, base: least, step }, encoded))
}

impl FrameOfReference {
    /// Of a column of the right type.
    pub fn decode(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let (values, nulls) = (self.integers(column), column.nulls().cloned());
        Ok(match self.of {
            Number::Int64 => Arc::new(PrimitiveArray::<Int64Type>::try_new(values.into(), nulls)?),
            Number::TimestampUs => {
                Arc::new(PrimitiveArray::<TimestampMicrosecondType>::try_new(values.into(), nulls)?)
            }
            Number::Uint64 => mapped::<UInt64Type>(&values, nulls, |value| value as u64)?,
            Number::Float64 { divisor } => {
                mapped::<Float64Type>(&values, nulls, |value| divided(value, divisor))?
            }
            Number::Date32 => mapped::<Date32Type>(&values, nulls, |value| value as i32)?,
            Number::Decimal128 { precision, scale } => {
                let values = values.iter().map(|value| i128::from(*value)).collect();
                let wide = PrimitiveArray::<Decimal128Type>::try_new(values, nulls)?;
                Arc::new(wide.with_precision_and_scale(precision, scale)?)
            }
        })
    }

    fn integers(&self, column: &ArrayRef) -> Vec<i64> {
        let number = |steps: i64| steps.wrapping_mul(self.step).wrapping_add(self.base);
        match self.bits {
            Bits::B8 => values::<UInt8Type>(column).iter().map(|s| number((*s).into())).collect(),
            Bits::B16 => values::<UInt16Type>(column).iter().map(|s| number((*s).into())).collect(),
            Bits::B32 => values::<UInt32Type>(column).iter().map(|s| number((*s).into())).collect(),
        }
    }
}

impl Number {
    pub fn data_type(&self) -> DataType {
        match *self {
            Number::Int64 => DataType::Int64,
            Number::Uint64 => DataType::UInt64,
            Number::Float64 { .. } => DataType::Float64,
            Number::Date32 => DataType::Date32,
            Number::TimestampUs => DataType::Timestamp(TimeUnit::Microsecond, None),
            Number::Decimal128 { precision, scale } => DataType::Decimal128(precision, scale),
        }
    }

    fn is_wider_than(&self, bits: Bits) -> bool {
        *self != Number::Date32 || bits < Bits::B32
    }
}

impl Bits {
    fn that_hold(most: i64) -> Option<Self> {
        match u32::try_from(most).ok()? {
            0..=0xff => Some(Bits::B8),
            0x100..=0xffff => Some(Bits::B16),
            0x1_0000.. => Some(Bits::B32),
        }
    }

    pub fn data_type(self) -> DataType {
        match self {
            Bits::B8 => DataType::UInt8,
            Bits::B16 => DataType::UInt16,
            Bits::B32 => DataType::UInt32,
        }
    }
}

impl TryFrom<u8> for Bits {
    type Error = String;

    fn try_from(bits: u8) -> Result<Self, String> {
        match bits {
            8 => Ok(Bits::B8),
            16 => Ok(Bits::B16),
            32 => Ok(Bits::B32),
            _ => Err(format!("{bits} bits, where 8, 16 and 32 are there")),
        }
    }
}

impl From<Bits> for u8 {
    fn from(bits: Bits) -> u8 {
        match bits {
            Bits::B8 => 8,
            Bits::B16 => 16,
            Bits::B32 => 32,
        }
    }
}

/// The column's values as integers of 64 bits, if they all can be had back from those.
fn integers(column: &ArrayRef) -> Option<(Number, ScalarBuffer<i64>)> {
    match *column.data_type() {
        DataType::Int64 => Some((Number::Int64, values::<Int64Type>(column).clone())),
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            Some((Number::TimestampUs, values::<TimestampMicrosecondType>(column).clone()))
        }
        DataType::UInt64 => {
            let integers = exact(values::<UInt64Type>(column), |v| v as i64, |i| i as u64);
            Some((Number::Uint64, integers?))
        }
        DataType::Date32 => {
            let integers = exact(values::<Date32Type>(column), i64::from, |i| i as i32);
            Some((Number::Date32, integers?))
        }
        DataType::Decimal128(precision, scale) => {
            let integers = exact(values::<Decimal128Type>(column), |v| v as i64, i128::from);
            Some((Number::Decimal128 { precision, scale }, integers?))
        }
        DataType::Float64 => DIVISORS.into_iter().find_map(|divisor| {
            let integers = multiplied(values::<Float64Type>(column), divisor);
            Some((Number::Float64 { divisor }, integers?))
        }),
        _ => None,
    }
}

fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> &ScalarBuffer<T::Native> {
    column.as_primitive::<T>().values()
}

/// The values as other ones, if all of them can be had back.
fn exact<V: Copy + PartialEq>(
    values: &[V],
    to: impl Fn(V) -> i64,
    back: impl Fn(i64) -> V,
) -> Option<ScalarBuffer<i64>> {
    let are_kept = values.iter().fold(true, |kept, value| kept & (back(to(*value)) == *value));
    are_kept.then(|| values.iter().map(|value| to(*value)).collect())
}

/// The same for floats, by their bits: NaN and -0.0 are no integers.
fn multiplied(values: &[f64], by: u32) -> Option<ScalarBuffer<i64>> {
    let to = |value: f64| {
        let rounded = value * f64::from(by) + ROUNDS;
        (rounded.to_bits() as i64).wrapping_sub(ROUNDS.to_bits() as i64)
    };
    let mut bits = values.iter().map(|value| (to(*value), value.to_bits()));
    let are_kept = bits.all(|(integer, bits)| divided(integer, by).to_bits() == bits);
    are_kept.then(|| values.iter().map(|value| to(*value)).collect())
}

fn divided(integer: i64, by: u32) -> f64 {
    integer as f64 / f64::from(by)
}

/// The least and the greatest of them; of none, zeros.
fn bounds(values: &[i64], nulls: Option<&NullBuffer>) -> (i64, i64) {
    let wider = |(least, most): (i64, i64), value: &i64| (least.min(*value), most.max(*value));
    let none = (i64::MAX, i64::MIN);
    let (least, most) = match nulls {
        None => values.iter().fold(none, wider),
        Some(nulls) => nulls.valid_indices().fold(none, |bounds, at| wider(bounds, &values[at])),
    };
    if least > most { (0, 0) } else { (least, most) }
}

fn all_are(values: &[i64], nulls: Option<&NullBuffer>, is: impl Fn(i64) -> bool) -> bool {
    match nulls {
        None => values.iter().fold(true, |all, value| all & is(*value)),
        Some(nulls) => nulls.valid_indices().all(|at| is(values[at])),
    }
}

/// The values that are sent for nulls have no meaning.
fn sent<T: ArrowPrimitiveType>(
    values: &[i64],
    nulls: Option<NullBuffer>,
    base: i64,
    step: i64,
    cut: impl Fn(i64) -> T::Native,
) -> PrimitiveArray<T> {
    let above = |value: &i64| value.wrapping_sub(base);
    let sent: ScalarBuffer<T::Native> = match step {
        // Divisions by what is known beforehand are cheap.
        SECOND_US => values.iter().map(|value| cut(above(value) / SECOND_US)).collect(),
        _ => values.iter().map(|value| cut(above(value))).collect(),
    };
    PrimitiveArray::new(sent, nulls)
}

fn mapped<T: ArrowPrimitiveType>(
    values: &[i64],
    nulls: Option<NullBuffer>,
    map: impl Fn(i64) -> T::Native,
) -> Result<ArrayRef, ArrowError> {
    let values = values.iter().map(|value| map(*value)).collect();
    Ok(Arc::new(PrimitiveArray::<T>::try_new(values, nulls)?))
}
