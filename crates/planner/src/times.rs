//! Pass: casts of timestamps.
//!
//! ```text
//! CAST(t AS TIMESTAMP(0))                  CAST(nearest_step(t, 1000000000) AS TIMESTAMP(0))
//! t_with_zone AT TIME ZONE 'X'       ==>   to_local_time(t_with_zone AT TIME ZONE 'X')
//! t AT TIME ZONE 'X'                       in_zone(t, 'X')
//!
//! CAST(s AS TIMESTAMP), ... AS DATE        CAST(zoneless(s) AS TIMESTAMP)
//! CAST(t AS TEXT), t || s            ==>   time_text(t), time_text(t) || s
//! ```
//!
//! The former are done as they are written ([`round`]); the latter, which DataFusion adds where types have to be made equal, too, in its analyzer
//! ([`AsText`]). DataFusion cuts off; leaves a time in its zone what it is, with that zone as part of its type, by which its hours are told;
//! moves a time without a zone to London; and writes a T.

use arrow::datatypes::{DataType, TimeUnit};
use caudal_functions::exact::{Step, in_zone, time_text, to_step, zoneless};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions::datetime::to_local_time;
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, cast, lit};
use datafusion::optimizer::AnalyzerRule;

use crate::expressions;

/// The zone of all timestamps that have one.
const UTC: &str = "+00:00";

pub fn round(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite_types(plan, rounded)
}

fn rounded(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    use DataType::Timestamp;
    let (Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })) = &part else {
        return Ok(Transformed::no(part));
    };
    Ok(match (expr.get_type(schema)?, field.data_type()) {
        (given, Timestamp(unit, Some(_))) if is_moment(expr, &given) => {
            let zoned = match given {
                Timestamp(_, Some(_)) => part,
                _ => {
                    let moment = cast(expr.as_ref().clone(), Timestamp(*unit, Some(UTC.into())));
                    cast(moment, field.data_type().clone())
                }
            };
            Transformed::yes(to_local_time().call(vec![zoned]))
        }
        (Timestamp(_, None), Timestamp(unit, Some(zone))) if matches!(part, Expr::Cast(_)) => {
            let zone = lit(zone.to_string());
            let time = cast(expr.as_ref().clone(), Timestamp(*unit, None));
            Transformed::yes(in_zone().call(vec![time, zone]))
        }
        (_, Timestamp(unit, Some(_))) => {
            let zoned = Timestamp(*unit, Some(UTC.into()));
            Transformed::yes(cast(part, zoned))
        }
        (Timestamp(finer, _), Timestamp(coarser, None)) => {
            let step = units_a_second(finer) / units_a_second(*coarser);
            if step <= 1 {
                return Ok(Transformed::no(part));
            }
            let value = expr.as_ref().clone();
            let nearest = to_step(Step::Nearest).call(vec![value, lit(step)]);
            Transformed::yes(cast(nearest, field.data_type().clone()))
        }
        _ => Transformed::no(part),
    })
}

/// Whether it is a moment, whatever the zone: what has one, `now()`, the midnight of a date, and a text, which may name one.
fn is_moment(value: &Expr, kind: &DataType) -> bool {
    use DataType::{Date32, Date64, Timestamp};
    let is_now = matches!(value, Expr::ScalarFunction(call) if call.name() == "now");
    is_now || kind.is_string() || matches!(kind, Timestamp(_, Some(_)) | Date32 | Date64)
}

pub fn units_a_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Times as texts, and texts as times.
#[derive(Debug)]
pub struct AsText;

impl AnalyzerRule for AsText {
    fn name(&self) -> &str {
        "times_as_text"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        expressions::rewrite(plan, as_text)
    }
}

fn as_text(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let (Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })) = &part else {
        return Ok(Transformed::no(part));
    };
    let given = expr.get_type(schema)?;
    let wanted = field.data_type().clone();
    if matches!(given, DataType::Timestamp(..)) && wanted.is_string() {
        let text = time_text().call(vec![expr.as_ref().clone()]);
        return Ok(Transformed::yes(match wanted {
            DataType::Utf8 => text,
            wanted => cast(text, wanted),
        }));
    }
    use DataType::{Date32, Date64, Timestamp};
    if !(given.is_string() && matches!(wanted, Timestamp(_, None) | Date32 | Date64)) {
        return Ok(Transformed::no(part));
    }
    Ok(Transformed::yes(match part {
        Expr::Cast(Cast { expr, field }) => {
            let expr = Box::new(zoneless().call(vec![*expr]));
            Expr::Cast(Cast { expr, field })
        }
        Expr::TryCast(TryCast { expr, field }) => {
            let expr = Box::new(zoneless().call(vec![*expr]));
            Expr::TryCast(TryCast { expr, field })
        }
        other => other,
    }))
}
