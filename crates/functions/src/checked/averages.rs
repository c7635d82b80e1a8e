//! Averages of exact sums: no order of the rows gives another average, and none is cut off.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, AsArray, Float64Array, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DECIMAL256_MAX_PRECISION, DataType, Decimal256Type, DecimalType, Float64Type, i256,
};
use datafusion::error::Result;

use super::overflow;
use super::wide::finish;

/// The sums by the numbers of their values, as this type.
pub fn averages<W: DecimalType>(
    sums: &PrimitiveArray<W>,
    counts: &[u64],
    to: &DataType,
) -> Result<ArrayRef> {
    if *to == DataType::Float64 {
        let sums = finish(sums, to)?;
        let sums = sums.as_primitive::<Float64Type>();
        let averages = sums.values().iter().zip(counts).map(|(sum, count)| sum / *count as f64);
        return Ok(Arc::new(Float64Array::new(averages.collect(), sums.nulls().cloned())));
    }
    let scale = |kind: &DataType| match kind {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale,
        _ => 0,
    };
    let (given, wanted) = (scale(sums.data_type()), scale(to));
    let rounding = if to.is_decimal() { Rounding::AwayFromZero } else { Rounding::ToEven };
    let more_digits = u32::try_from(wanted - given).unwrap_or(0);
    let factor = i256::from_i128(10).pow_checked(more_digits)?;
    let sums = cast(sums, &DataType::Decimal256(DECIMAL256_MAX_PRECISION, given))?;
    let sums = sums.as_primitive::<Decimal256Type>();
    let averages = sums.iter().zip(counts).map(|(sum, count)| {
        let Some(sum) = sum else { return Ok(None) };
        let scaled = sum.mul_checked(factor).map_err(|_| does_not_fit(to))?;
        Ok(Some(divided(scaled, i256::from_i128((*count).into()), rounding)))
    });
    let averages = averages.collect::<Result<PrimitiveArray<Decimal256Type>>>()?;
    let exact = DataType::Decimal256(DECIMAL256_MAX_PRECISION, wanted);
    finish(&averages.with_data_type(exact), to)
}

fn does_not_fit(to: &DataType) -> arrow::error::ArrowError {
    overflow(format!("an average does not fit into {to}"))
}

/// Where what is in the middle goes.
#[derive(Clone, Copy, Debug)]
enum Rounding {
    /// As decimals do.
    AwayFromZero,
    /// As intervals do.
    ToEven,
}

fn divided(sum: i256, count: i256, rounding: Rounding) -> i256 {
    let (quotient, rest) = (sum.wrapping_div(count), sum.wrapping_rem(count));
    let twice = rest.wrapping_abs().wrapping_add(rest.wrapping_abs());
    let is_odd = quotient.wrapping_rem(i256::from_i128(2)) != i256::ZERO;
    let away = match rounding {
        _ if twice != count => twice > count,
        Rounding::AwayFromZero => true,
        Rounding::ToEven => is_odd,
    };
    match (away, sum.is_negative()) {
        (false, _) => quotient,
        (true, false) => quotient.wrapping_add(i256::ONE),
        (true, true) => quotient.wrapping_sub(i256::ONE),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Decimal128Array;
    use arrow::datatypes::{Decimal128Type, DurationMicrosecondType, TimeUnit};

    use super::*;

    fn decimals(sums: [i128; 4], counts: [u64; 4]) -> Vec<i128> {
        let sums = Decimal128Array::from(sums.to_vec()).with_data_type(DataType::Decimal128(38, 0));
        let averages = averages(&sums, &counts, &DataType::Decimal128(14, 4)).unwrap();
        averages.as_primitive::<Decimal128Type>().values().to_vec()
    }

    #[test]
    fn averages_of_decimals_are_rounded() {
        assert_eq!(
            decimals([2, -2, 1, -1], [3, 3, 20_000, 20_000]),
            [6_667, -6_667, 1, -1],
            "what is in the middle goes away from zero"
        );
    }

    #[test]
    fn averages_of_differences_go_to_the_even_one() {
        let sums =
            Decimal128Array::from(vec![1, 3, -3, 5]).with_data_type(DataType::Decimal128(38, 0));
        let to = DataType::Duration(TimeUnit::Microsecond);
        let averages = averages(&sums, &[2, 2, 2, 3], &to).unwrap();
        assert_eq!(averages.as_primitive::<DurationMicrosecondType>().values(), &[0, 2, -2, 2]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let sums = Decimal128Array::from(vec![10_i128.pow(20)])
            .with_data_type(DataType::Decimal128(38, 0));
        assert!(averages(&sums, &[1], &DataType::Decimal128(14, 4)).is_err());
    }
}
