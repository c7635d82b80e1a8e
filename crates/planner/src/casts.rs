//! Pass: a cast that loses something is compared as it was written.
//!
//! ```text
//! CAST(m AS BIGINT) = 1          ==>     as_is(CAST(m AS BIGINT)) = 1
//! TRY_CAST(n AS TINYINT) > 5             as_is(TRY_CAST(n AS TINYINT)) > 5
//! ```
//!
//! DataFusion would compare what is cast, and cast the constant instead: `m = 1.00`, which 1.50 is not; `n > 5`, which 1000 is.
//! That is right where every value has one of its own, in the same order. Such casts are named here ([`keeps_values`]), any
//! other is hidden: wherever it stands, since conditions are moved to where columns come from.
//!
//! It is a step of DataFusion's analyzer, after types have been made equal.

use arrow::datatypes::DataType;
use caudal_functions::exact::as_is;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::logical_expr_common::casts::is_supported_type;
use datafusion::optimizer::AnalyzerRule;

use crate::expressions;

#[derive(Debug)]
pub struct KeptCasts;

impl AnalyzerRule for KeptCasts {
    fn name(&self) -> &str {
        "kept_casts"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        expressions::rewrite(plan, kept)
    }
}

fn kept(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::Cast(Cast { ref expr, ref field })
        | Expr::TryCast(TryCast { ref expr, ref field })
            if may_be_moved(expr, field.data_type(), schema) =>
        {
            Ok(Transformed::yes(as_is().call(vec![part])))
        }
        // A subquery is joined by such a comparison, which has to be seen.
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right })
            if left.contains_outer() || right.contains_outer() =>
        {
            let (left, right) = (Box::new(seen(*left)), Box::new(seen(*right)));
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right })))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether DataFusion would take the cast off, though it matters. A constant is computed first.
fn may_be_moved(value: &Expr, to: &DataType, schema: &DFSchema) -> bool {
    let Ok(from) = value.get_type(schema) else { return false };
    is_supported_type(&from)
        && is_supported_type(to)
        && !keeps_values(&from, to)
        && (value.any_column_refs() || value.contains_outer())
}

/// What `as_is` hides.
pub fn seen(value: Expr) -> Expr {
    match value {
        Expr::ScalarFunction(mut call) if call.name() == "as_is" => call.args.swap_remove(0),
        other => other,
    }
}

/// Whether every value becomes one of its own, and none is too large.
fn keeps_values(from: &DataType, to: &DataType) -> bool {
    use DataType::{Dictionary, LargeUtf8, Utf8, Utf8View};
    match (from, to) {
        (from, to) if from == to => true,
        (Dictionary(_, from), to) => keeps_values(from, to),
        (from, Dictionary(_, to)) => keeps_values(from, to),
        // Of numbers as texts only `=` and `<>` are asked of the numbers.
        (from, Utf8 | LargeUtf8 | Utf8View) => from.is_integer() || from.is_string(),
        (from, to) if from.is_integer() && to.is_integer() => {
            match (from.is_signed_integer(), to.is_signed_integer()) {
                (true, false) => false,
                (false, true) => from.primitive_width() < to.primitive_width(),
                _ => from.primitive_width() <= to.primitive_width(),
            }
        }
        (from, to) if to.is_decimal() => match (digits(from), digits(to)) {
            (Some((before, after)), Some((room_before, room_after))) => {
                before <= room_before && after <= room_after
            }
            _ => false,
        },
        _ => false,
    }
}

/// Most digits that a number may have before and after its point.
fn digits(kind: &DataType) -> Option<(i16, i16)> {
    use DataType::{
        Decimal32, Decimal64, Decimal128, Decimal256, Int8, Int16, Int32, Int64, UInt8, UInt16,
        UInt32, UInt64,
    };
    Some(match kind {
        Int8 | UInt8 => (3, 0),
        Int16 | UInt16 => (5, 0),
        Int32 | UInt32 => (10, 0),
        Int64 => (19, 0),
        UInt64 => (20, 0),
        Decimal32(precision, scale)
        | Decimal64(precision, scale)
        | Decimal128(precision, scale)
        | Decimal256(precision, scale) => {
            (i16::from(*precision) - i16::from(*scale), i16::from(*scale))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_room_keeps_values() {
        use DataType::{Decimal128, Int8, Int32, Int64, UInt8, UInt64, Utf8, Utf8View};
        for (from, to) in [
            (Int32, Int64),
            (UInt8, Int32),
            (Int64, Utf8View),
            (Utf8, Utf8View),
            (Int64, Decimal128(21, 2)),
            (Decimal128(10, 2), Decimal128(12, 4)),
        ] {
            assert!(keeps_values(&from, &to), "{from} {to}");
        }
        for (from, to) in [
            (Int64, Int8),
            (Int8, UInt64),
            (UInt64, Int64),
            (Utf8, Int64),
            (Int64, Decimal128(20, 2)),
            (Decimal128(10, 2), Int64),
            (Decimal128(10, 2), Decimal128(10, 0)),
            (Decimal128(10, 2), Decimal128(10, 3)),
        ] {
            assert!(!keeps_values(&from, &to), "{from} {to}");
        }
    }
}
