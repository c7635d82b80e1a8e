//! Pass: frames that reach a distance (`RANGE ... 1 FOLLOWING`) do not fall off the end of a type.
//!
//! ```text
//! ORDER BY t.n RANGE 1 FOLLOWING               ORDER BY CAST(t.n AS DECIMAL(38, 0)) ...
//! ORDER BY t.day RANGE '1 month' FOLLOWING ==> ORDER BY can_add(t.day, '1 month') ...
//! ORDER BY t.name RANGE 1 FOLLOWING            refused
//! ORDER BY t.day RANGE 7 FOLLOWING             refused: it would be seven months
//! ```
//!
//! Where a sum overflows, or types do not add up at all, DataFusion takes the end of the partition, where rows with NULL may be.
//! Decimals have room for any integer's distance; of times, one from which the distance leads too far is an error.

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, IntervalUnit,
};
use caudal_functions::exact::reach;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, WindowFrame, WindowFrameBound, WindowFrameUnits, cast, lit,
};
use datafusion::scalar::ScalarValue;

use crate::expressions;
use crate::mistakes::plain::type_name;
use crate::refusals::Refused;

pub fn widen(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, |part, schema| match part {
        Expr::WindowFunction(window) => {
            let WindowFunction { fun, mut params } = *window;
            let offsets = offsets(&params.window_frame);
            let changed = match params.order_by.as_mut_slice() {
                [key] if !offsets.is_empty() => widened(key, &offsets, schema)?,
                _ => false,
            };
            let window = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
            Ok(Transformed::new_transformed(window, changed))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// Reason why a window over times cannot be answered: a distance without a unit, `7` or `'7'`, would be one of months.
pub fn refused(window: &WindowFunction, schema: &DFSchema) -> Option<Refused> {
    use DataType::{Date32, Date64, Time32, Time64, Timestamp};
    let [key] = window.params.order_by.as_slice() else { return None };
    let kind = key.expr.get_type(schema).ok()?;
    if !matches!(kind, Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..)) {
        return None;
    }
    let offsets = offsets(&window.params.window_frame);
    let bare = offsets.into_iter().find(|offset| offset.text.trim().parse::<f64>().is_ok())?;
    let (number, kind) = (bare.text.trim(), type_name(&kind));
    Refused::new(
        format!("RANGE {number} over {kind}: a distance of times has a unit"),
        format!("INTERVAL '{number} days'"),
    )
}

/// A distance from the current row, as it was written.
struct Offset {
    text: String,
    precedes: bool,
}

fn offsets(frame: &WindowFrame) -> Vec<Offset> {
    let text = |value: &ScalarValue| value.try_as_str().flatten().map(str::to_string);
    let offset = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(value) => {
            text(value).map(|text| Offset { text, precedes: true })
        }
        WindowFrameBound::Following(value) => {
            text(value).map(|text| Offset { text, precedes: false })
        }
        WindowFrameBound::CurrentRow => None,
    };
    match frame.units {
        WindowFrameUnits::Range => {
            [&frame.start_bound, &frame.end_bound].into_iter().filter_map(offset).collect()
        }
        WindowFrameUnits::Rows | WindowFrameUnits::Groups => vec![],
    }
}

/// Whether the key has been made another.
fn widened(key: &mut Sort, offsets: &[Offset], schema: &DFSchema) -> Result<bool> {
    use DataType::{
        Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Float32, Float64, Null,
        Timestamp,
    };
    let value = || key.expr.clone();
    key.expr = match key.expr.get_type(schema)? {
        kind if kind.is_integer() => cast(value(), decimal(20, 0, offsets)),
        Decimal32(precision, scale)
        | Decimal64(precision, scale)
        | Decimal128(precision, scale)
        | Decimal256(precision, scale) => cast(value(), decimal(precision, scale, offsets)),
        Timestamp(..) | Date32 | Date64 => {
            let mut checked = value();
            for offset in offsets {
                let subtracts = offset.precedes == key.asc;
                checked = reach(subtracts).call(vec![checked, lit(interval(&offset.text)?)]);
            }
            checked
        }
        Float32 | Float64 | Null => return Ok(false),
        other => {
            let kind = type_name(&other);
            return plan_err!(
                "RANGE with a distance needs numbers or times in ORDER BY, not {kind}"
            );
        }
    };
    Ok(true)
}

/// A decimal of the largest precision, which no distance changes, with all digits of the key and of the distances.
fn decimal(precision: u8, scale: i8, offsets: &[Offset]) -> DataType {
    let digits = |offset: &Offset| offset.text.split_once('.').map_or(0, |(_, after)| after.len());
    let asked = offsets.iter().map(digits).max().unwrap_or(0);
    let asked = i8::try_from(asked).unwrap_or(i8::MAX).max(scale);
    let needed = i16::from(precision) + i16::from(asked - scale);
    match needed < i16::from(DECIMAL128_MAX_PRECISION) {
        true => DataType::Decimal128(DECIMAL128_MAX_PRECISION, asked),
        false => DataType::Decimal256(DECIMAL256_MAX_PRECISION, asked),
    }
}

fn interval(text: &str) -> Result<ScalarValue> {
    let kind = DataType::Interval(IntervalUnit::MonthDayNano);
    let interval = ScalarValue::try_from_string(text.to_string(), &kind)?;
    match &interval {
        ScalarValue::IntervalMonthDayNano(Some(parts))
            if parts.months < 0 || parts.days < 0 || parts.nanoseconds < 0 =>
        {
            plan_err!("the distance of a window's frame is negative: {text}")
        }
        _ => Ok(interval),
    }
}
