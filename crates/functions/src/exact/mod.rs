//! Functions of DataFusion that give wrong numbers, with the same names and the right ones.
//!
//! - [`extremes`]: `min` and `max` of floats;
//! - [`as_is`]: what keeps conditions from being simplified, and names apart;
//! - [`bins`]: `date_bin`, whose bins may be out of time;
//! - [`digits`]: `round` and `trunc` to some digits;
//! - [`float_key`]: what sorting needs to know that `-0.0` equals `0.0`;
//! - [`in_time`]: what `to_timestamp` of floats needs to know where time ends;
//! - [`interval_key`]: what intervals are compared by;
//! - [`one_nan`]: what makes any NaN the same;
//! - [`only_value`]: what scalar subqueries need to have one row at most;
//! - [`ordered`]: `array_agg` and `string_agg` that put their values in order themselves;
//! - [`patterns`]: what LIKE and SIMILAR TO need to know the patterns of SQL;
//! - [`reach`]: what windows over times need to know where time ends;
//! - [`real`]: floats of 32 bits that are not infinite;
//! - [`replacement`]: what `regexp_replace` needs to know the replacements of PostgreSQL;
//! - [`split_part`]: `split_part`, counted from the end;
//! - [`steps`], [`time_text`], [`zoneless`]: what casts of timestamps need;
//! - [`unordered`]: `sqrt`, `ln` and others, which can be sorted by;
//! - [`whole`]: `ceil` and `floor` of decimals;
//! - [`windowed`][]: any aggregate over a window;
//! - [`without_nulls`]: `array_remove(a, NULL)`;
//! - [`sign`][]: `sign`, which DataFusion calls `signum`;
//! - [`percentile`][]: `percentile_cont`;
//! - [`regression`][]: `regr_r2`;
//! - [`median`][]: `median`.

#[macro_use]
mod inherit;

mod as_is;
mod bins;
mod digits;
mod extremes;
mod float_key;
mod in_time;
mod interval_key;
mod median;
mod one_nan;
mod only_value;
mod ordered;
mod patterns;
mod percentile;
mod reach;
mod real;
mod regression;
mod replacement;
mod sign;
mod split_part;
mod steps;
mod time_text;
mod unordered;
mod whole;
mod windowed;
mod without_nulls;
mod zoneless;

use datafusion::functions::math::{ceil, floor};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub use bins::is_more_than_nothing;
pub use digits::Digits;
pub use one_nan::{scalar_with_one_nan, with_one_nan};
pub use patterns::Kind as PatternKind;
pub use replacement::translate as translate_replacement;
pub use steps::Step;

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
        AggregateUDF::new_from_impl(regression::Determination::new()),
    ]
}

/// To be registered with a session, after DataFusion's own.
pub fn scalars() -> Vec<ScalarUDF> {
    let mut scalars = vec![
        float_key(),
        as_is(),
        beside(),
        one_nan(),
        only_value(),
        pattern(PatternKind::Like),
        pattern(PatternKind::SimilarTo),
        reach(true),
        reach(false),
        ScalarUDF::new_from_impl(sign::Sign::new()),
        interval_key(),
        to_digits(Digits::Round),
        to_digits(Digits::Trunc),
        replacement(),
        split_part_back(),
        to_step(Step::Nearest),
        to_step(Step::Last),
        time_text(),
        zoneless(),
        in_time(),
        to_real(false),
        to_real(true),
        without_nulls(),
        ScalarUDF::new_from_impl(bins::Bins::new()),
        ScalarUDF::new_from_impl(whole::Whole::new(ceil())),
        ScalarUDF::new_from_impl(whole::Whole::new(floor())),
    ];
    scalars.extend(unordered::Unordered::all().map(ScalarUDF::new_from_impl));
    scalars
}

/// The aggregate as it is used over windows.
pub fn windowed(aggregate: &AggregateUDF) -> AggregateUDF {
    AggregateUDF::new_from_impl(windowed::Windowed::new(aggregate.clone()))
}

/// The aggregate, asking for no order of its rows: only for one that puts its values in order itself.
pub fn ordered(aggregate: &AggregateUDF) -> AggregateUDF {
    AggregateUDF::new_from_impl(ordered::Ordered::new(aggregate.clone()))
}

/// `float_key`, as it is registered.
pub fn float_key() -> ScalarUDF {
    ScalarUDF::new_from_impl(float_key::FloatKey::new())
}

/// `as_is`, as it is registered.
pub fn as_is() -> ScalarUDF {
    ScalarUDF::new_from_impl(as_is::AsIs::alone())
}

/// `beside`, as it is registered.
pub fn beside() -> ScalarUDF {
    ScalarUDF::new_from_impl(as_is::AsIs::beside())
}

/// `one_nan`, as it is registered.
pub fn one_nan() -> ScalarUDF {
    ScalarUDF::new_from_impl(one_nan::OneNan::new())
}

/// `only_value`, as it is registered.
pub fn only_value() -> ScalarUDF {
    ScalarUDF::new_from_impl(only_value::OnlyValue::new())
}

/// `like_pattern` or `similar_pattern`, as they are registered.
pub fn pattern(kind: PatternKind) -> ScalarUDF {
    ScalarUDF::new_from_impl(patterns::Pattern::new(kind))
}

/// `can_add` or `can_subtract`, as they are registered.
pub fn reach(subtracts: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(reach::Reach::new(subtracts))
}

/// `interval_key`, as it is registered.
pub fn interval_key() -> ScalarUDF {
    ScalarUDF::new_from_impl(interval_key::IntervalKey::new())
}

/// `round_digits` or `trunc_digits`, as they are registered.
pub fn to_digits(digits: Digits) -> ScalarUDF {
    ScalarUDF::new_from_impl(digits::ToDigits::new(digits))
}

/// `replacement`, as it is registered.
pub fn replacement() -> ScalarUDF {
    ScalarUDF::new_from_impl(replacement::Replacement::new())
}

/// `split_part_back`, as it is registered.
pub fn split_part_back() -> ScalarUDF {
    ScalarUDF::new_from_impl(split_part::SplitPartBack::new())
}

/// `nearest_step` or `last_step`, as they are registered.
pub fn to_step(step: Step) -> ScalarUDF {
    ScalarUDF::new_from_impl(steps::ToStep::new(step))
}

/// `time_text`, as it is registered.
pub fn time_text() -> ScalarUDF {
    ScalarUDF::new_from_impl(time_text::TimeText::new())
}

/// `zoneless`, as it is registered.
pub fn zoneless() -> ScalarUDF {
    ScalarUDF::new_from_impl(zoneless::Zoneless::new())
}

/// `in_time`, as it is registered.
pub fn in_time() -> ScalarUDF {
    ScalarUDF::new_from_impl(in_time::InTime::new())
}

/// `to_real` or `try_to_real`, as they are registered.
pub fn to_real(tries: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(real::Real::new(tries))
}

/// `without_nulls`, as it is registered.
pub fn without_nulls() -> ScalarUDF {
    ScalarUDF::new_from_impl(without_nulls::WithoutNulls::new())
}
