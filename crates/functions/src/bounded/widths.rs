//! Types whose values are large whatever is in them: `FixedSizeBinary(2000000000)`, `INT[2000000000]`. A NULL of it is, too.

use arrow::datatypes::DataType;
use caudal_core::limits;
use datafusion::error::Result;

use super::{TooLarge, Whole};

/// An error if each value of a type takes too much.
pub fn check_width(what: &str, kind: &DataType) -> Result<()> {
    let bytes = fixed_width(kind);
    let most = limits::CONSTANT_BYTES_MAX;
    if bytes <= most as u128 {
        return Ok(());
    }
    Err(TooLarge { function: what.to_string(), of: Whole::Type, bytes, most }.into())
}

/// Bytes of each value of a type at least.
fn fixed_width(kind: &DataType) -> u128 {
    match kind {
        DataType::FixedSizeBinary(bytes) => u128::try_from(*bytes).unwrap_or(0),
        DataType::FixedSizeList(item, length) => {
            let length = u128::try_from(*length).unwrap_or(0);
            fixed_width(item.data_type()).max(1).saturating_mul(length)
        }
        DataType::Struct(fields) => {
            let widths = fields.iter().map(|field| fixed_width(field.data_type()));
            widths.fold(0, u128::saturating_add)
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            fixed_width(item.data_type())
        }
        DataType::Dictionary(_, values) => fixed_width(values),
        DataType::RunEndEncoded(_, values) => fixed_width(values.data_type()),
        other => other.primitive_width().unwrap_or(0) as u128,
    }
}
