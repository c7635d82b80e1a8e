//! Functions of DataFusion that give wrong numbers, with the same names and the right ones.
//!
//! - [`extremes`]: `min` and `max` of floats;
//! - [`as_is`]: what keeps conditions from being simplified;
//! - [`float_key`]: what sorting needs to know that `-0.0` equals `0.0`;
//! - [`percentile`][]: `percentile_cont`;
//! - [`median`][]: `median`.

mod as_is;
mod extremes;
mod float_key;
mod median;
mod percentile;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

/// `min`, as it is registered.
pub fn min() -> AggregateUDF {
    AggregateUDF::new_from_impl(extremes::Extreme::min())
}

/// `max`, as it is registered.
pub fn max() -> AggregateUDF {
    AggregateUDF::new_from_impl(extremes::Extreme::max())
}

/// To be registered with a session, after DataFusion's own.
pub fn aggregates() -> Vec<AggregateUDF> {
    vec![
        min(),
        max(),
        AggregateUDF::new_from_impl(percentile::PercentileCont::new()),
        AggregateUDF::new_from_impl(median::Median::new()),
    ]
}

/// `float_key`, as it is registered.
pub fn float_key() -> ScalarUDF {
    ScalarUDF::new_from_impl(float_key::FloatKey::new())
}

/// `as_is`, as it is registered.
pub fn as_is() -> ScalarUDF {
    ScalarUDF::new_from_impl(as_is::AsIs::new())
}
