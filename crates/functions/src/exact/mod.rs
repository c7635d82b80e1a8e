//! Functions of DataFusion that give wrong numbers, with the same names and the right ones.
//!
//! - [`extremes`]: `min` and `max` of floats;
//! - [`as_is`]: what keeps conditions from being simplified;
//! - [`float_key`]: what sorting needs to know that `-0.0` equals `0.0`;
//! - [`one_nan`]: what makes any NaN the same;
//! - [`patterns`]: what LIKE and SIMILAR TO need to know the patterns of SQL;
//! - [`reach`]: what windows over times need to know where time ends;
//! - [`sign`][]: `sign`, which DataFusion calls `signum`;
//! - [`percentile`][]: `percentile_cont`;
//! - [`median`][]: `median`.

#[macro_use]
mod inherit;

mod as_is;
mod extremes;
mod float_key;
mod median;
mod one_nan;
mod patterns;
mod percentile;
mod reach;
mod sign;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub use one_nan::{scalar_with_one_nan, with_one_nan};
pub use patterns::Kind as PatternKind;

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

/// To be registered with a session, after DataFusion's own.
pub fn scalars() -> Vec<ScalarUDF> {
    vec![
        float_key(),
        as_is(),
        one_nan(),
        pattern(PatternKind::Like),
        pattern(PatternKind::SimilarTo),
        reach(true),
        reach(false),
        ScalarUDF::new_from_impl(sign::Sign::new()),
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

/// `one_nan`, as it is registered.
pub fn one_nan() -> ScalarUDF {
    ScalarUDF::new_from_impl(one_nan::OneNan::new())
}

/// `like_pattern` or `similar_pattern`, as they are registered.
pub fn pattern(kind: PatternKind) -> ScalarUDF {
    ScalarUDF::new_from_impl(patterns::Pattern::new(kind))
}

/// `can_add` or `can_subtract`, as they are registered.
pub fn reach(subtracts: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(reach::Reach::new(subtracts))
}
