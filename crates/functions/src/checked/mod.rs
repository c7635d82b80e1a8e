//! Integers and decimals that do not wrap: a result that does not fit is an error of its query.
//!
//! DataFusion's own operators and aggregates compute modulo 2^64. The planner puts `arithmetic` in the place of
//! `+ - * /` and unary minus once it knows their types; `sum` and `avg` replace DataFusion's by their names.

mod arithmetic;
mod averages;
mod distinct;
mod groups;
mod running;
mod totals;
mod wide;

use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub use arithmetic::{Checked, Operation, type_of};
pub use wide::is_wide_enough;

/// Functions that may stand in a plan for an operator.
pub fn scalars() -> Vec<ScalarUDF> {
    Operation::ALL.map(|operation| ScalarUDF::new_from_impl(Checked::new(operation))).into()
}

/// Replacements of the aggregates of the same names.
pub fn aggregates() -> Vec<AggregateUDF> {
    vec![
        AggregateUDF::new_from_impl(totals::Total::sum()),
        AggregateUDF::new_from_impl(totals::Total::average()),
    ]
}

/// Whether values of this type are exact, so that a wrong one cannot be excused by rounding.
pub fn is_exact(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_decimal()
}

/// The one error of all that does not fit: whoever asks for its kind need not read its words.
fn overflow(what: impl Into<String>) -> ArrowError {
    ArrowError::ArithmeticOverflow(what.into())
}
