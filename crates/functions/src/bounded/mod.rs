//! Functions that make much of little: `repeat(s, 1000000)`, `range(1000000000)`, `replace(s, 'a', long)`.
//!
//! A failed allocation ends the process, so what they would make is measured before it is made: DataFusion's function stands
//! in a [`Bounded`], under its own name, and beyond `FUNCTION_VALUE_BYTES_MAX` for a value or `FUNCTION_BATCH_BYTES_MAX` for a
//! batch there is an error, [`TooLarge`]. `docs/function-growth.md` says of every function what it can make of its arguments.

mod growth;
mod joined;
mod measure;
mod patterns;
mod series;
mod widths;
mod wrapper;

use std::sync::Arc;

use caudal_core::limits;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::ScalarUDF;

use self::growth::Growth;
pub use self::joined::joined;
pub(crate) use self::measure::bytes;
pub use self::widths::check_width;
pub use self::wrapper::Bounded;

/// DataFusion's functions that may make much of little, each with its bound, to be registered in their place.
pub fn scalars() -> Vec<ScalarUDF> {
    let functions = SessionStateDefaults::default_scalar_functions();
    let bounded = functions.into_iter().filter_map(of).map(Arc::unwrap_or_clone);
    bounded.chain([joined()]).collect()
}

/// The function with its bound; `None` if it needs none, or has one.
pub fn of(function: Arc<ScalarUDF>) -> Option<Arc<ScalarUDF>> {
    let inner = function.inner().as_ref() as &dyn std::any::Any;
    if inner.is::<Bounded>() {
        return None;
    }
    let growth = Growth::of(function.name())?;
    Some(Arc::new(ScalarUDF::new_from_impl(Bounded::new(function, growth))))
}

/// Error of a function that would have made more than it may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{function} would make {} of {of}, and {} are the most", size(*.bytes), size(*.most as u128))]
pub struct TooLarge {
    pub function: String,
    /// The value or batch that is too large.
    pub of: Whole,
    pub bytes: u128,
    pub most: usize,
}

/// Unit that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    Value,
    Batch {
        rows: usize,
    },
    Type,
    /// A constant is a value of every row.
    Constant,
}

impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Whole::Value => f.write_str("one row"),
            Whole::Batch { rows } => write!(f, "{rows} rows"),
            Whole::Type => f.write_str("any value, NULL too"),
            Whole::Constant => f.write_str("every row"),
        }
    }
}

impl TooLarge {
    /// Advice on what to do about it.
    pub const HINT: &str = "ask it for less, or keep the rows away from it that it makes most of";

    pub(crate) fn value(function: &str, bytes: u128) -> Self {
        let (function, most) = (function.to_string(), limits::FUNCTION_VALUE_BYTES_MAX);
        Self { function, of: Whole::Value, bytes, most }
    }

    pub(crate) fn batch(function: &str, rows: usize, bytes: u128) -> Self {
        let (function, most) = (function.to_string(), limits::FUNCTION_BATCH_BYTES_MAX);
        Self { function, of: Whole::Batch { rows }, bytes, most }
    }

    /// A constant beside the columns of a table.
    pub fn constant(bytes: usize) -> Self {
        let (function, most) = ("a constant".to_string(), limits::CONSTANT_BYTES_MAX);
        Self { function, of: Whole::Constant, bytes: bytes as u128, most }
    }

    /// The `TooLarge` within an error, whatever is around it.
    pub fn in_error(error: &DataFusionError) -> Option<&Self> {
        let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            if let Some(DataFusionError::External(inner)) = error.downcast_ref()
                && let Some(found) = inner.downcast_ref::<Self>()
            {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

impl From<TooLarge> for DataFusionError {
    fn from(error: TooLarge) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

/// Bytes as people say them.
fn size(bytes: u128) -> String {
    let units = [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, bits)| bytes >> bits > 0) {
        // Beyond 2^70 nobody compares.
        Some((unit, 60)) if bytes >> 70 > 0 => format!("more than 1000 {unit}"),
        Some((unit, bits)) => {
            let tenths = (bytes * 10) >> bits;
            match tenths % 10 {
                0 => format!("{} {unit}", tenths / 10),
                tenth => format!("{}.{tenth} {unit}", tenths / 10),
            }
        }
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(12), "12 B");
        assert_eq!(size(64 << 20), "64 MiB");
        assert_eq!(size((64 << 20) + 1), "64 MiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
        assert_eq!(size(4_000_000_000_000_000_000), "3.4 EiB");
        assert_eq!(size(u128::MAX / 16), "more than 1000 EiB");
    }

    #[test]
    fn an_error_is_found_whatever_is_around_it() {
        let error = DataFusionError::from(TooLarge::value("repeat", 1 << 40));
        let around = DataFusionError::Shared(Arc::new(error.context("somewhere")));
        let found = TooLarge::in_error(&around).unwrap();
        assert_eq!(
            found.to_string(),
            "repeat would make 1 TiB of one row, and 64 MiB are the most"
        );
        assert!(TooLarge::in_error(&DataFusionError::Plan("else".into())).is_none());
    }
}
