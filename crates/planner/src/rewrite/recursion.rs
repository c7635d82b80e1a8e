//! Check: what a recursive query goes on with fits into what it begins with.
//!
//! ```text
//! WITH RECURSIVE f(n) AS (SELECT 1 UNION ALL SELECT n + 1.5 FROM f WHERE n < 4)    refused: n is BIGINT, then DOUBLE
//! ```
//!
//! DataFusion casts each step to the types of the first part, which cuts off what does not fit: `0, 0 - 0.5, ...` is 0, for ever.
//! Where nothing is lost, or what is too large is an error, types may differ: other databases refuse all of that.

use arrow::datatypes::DataType;
use datafusion::common::DFSchemaRef;
use datafusion::common::config::Dialect;
use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{
    Cte, Ident, ObjectName, Query, SetExpr, SetOperator, TableFactor, With,
};

use super::Refusal;
use crate::idents::means;
use crate::mistakes::plain::type_name;
use crate::walk::{Seen, walk};
use crate::{decimals, values};

pub async fn check(state: &SessionState, query: &Query) -> Result<(), Refusal> {
    for recursion in recursions(query) {
        let Recursion { cte, begins, goes_on } = recursion;
        // What cannot be planned by itself is not told better here.
        let Some(first) = columns(state, &begins).await else { continue };
        let Some(next) = columns(state, &goes_on).await else { continue };
        for (at, (first, next)) in first.fields().iter().zip(next.fields()).enumerate() {
            if keeps(first.data_type(), next.data_type()) {
                continue;
            }
            let name = cte.alias.columns.get(at).map_or(first.name(), |name| &name.name.value);
            let (from, to) = (type_name(first.data_type()), type_name(next.data_type()));
            let message = format!(
                "{name} of the recursive {} begins as {from} and goes on as {to}",
                cte.alias.name.value
            );
            return Err(Refusal::new(message, Some(&cte.alias.name))
                .hint(format!("begin with a value of that type: CAST(... AS {to})")));
        }
    }
    Ok(())
}

/// A recursive query, and its two parts as queries of their own.
struct Recursion {
    cte: Cte,
    begins: String,
    goes_on: String,
}

fn recursions(query: &Query) -> Vec<Recursion> {
    let mut found = vec![];
    // The WITHs around what is visited: all that can be named there, and more.
    let mut scopes: Vec<Option<With>> = vec![];
    walk(query, &mut |seen| {
        match seen {
            Seen::Query(query) => {
                if let Some(with) = &query.with
                    && with.recursive
                {
                    found.extend(in_with(with, &scopes));
                }
                scopes.push(query.with.clone());
            }
            Seen::AfterQuery => drop(scopes.pop()),
            _ => {}
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

fn in_with(with: &With, scopes: &[Option<With>]) -> Vec<Recursion> {
    let around = scopes.iter().flatten().flat_map(|with| &with.cte_tables);
    let recursions = with.cte_tables.iter().enumerate().filter_map(|(at, cte)| {
        let name = &cte.alias.name;
        let SetExpr::SetOperation { op: SetOperator::Union, left, right, .. } =
            cte.query.body.as_ref()
        else {
            return None;
        };
        if !names(right, name) {
            return None;
        }
        let part = |body: &SetExpr| Query {
            body: Box::new(body.clone()),
            order_by: None,
            limit_clause: None,
            ..cte.query.as_ref().clone()
        };
        let before: Vec<_> = around
            .clone()
            .chain(&with.cte_tables[..at])
            .filter(|other| !means(name, &other.alias.name.value))
            .map(ToString::to_string)
            .collect();
        let begins = part(left);
        let itself = Cte { query: Box::new(begins.clone()), ..cte.clone() };
        let with = |more: &[String]| match [&before[..], more].concat() {
            all if all.is_empty() => String::new(),
            all => format!("WITH RECURSIVE {} ", all.join(", ")),
        };
        Some(Recursion {
            cte: cte.clone(),
            begins: format!("{}({begins})", with(&[])),
            goes_on: format!("{}({})", with(&[itself.to_string()]), part(right)),
        })
    });
    recursions.collect()
}

/// Whether a part of a query reads a table of this name.
fn names(body: &SetExpr, name: &Ident) -> bool {
    let mut found = false;
    walk(body, &mut |seen| {
        if let Seen::Factor(TableFactor::Table { name: ObjectName(parts), .. }) = seen {
            let ident = parts.last().and_then(|part| part.as_ident());
            found |= ident.is_some_and(|ident| means(ident, &name.value));
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

/// The columns of a query, as they will be computed.
async fn columns(state: &SessionState, sql: &str) -> Option<DFSchemaRef> {
    let statement = state.sql_to_statement(sql, &Dialect::Generic).ok()?;
    let plan = state.statement_to_plan(statement).await.ok()?;
    let plan = decimals::beside_floats(plan).and_then(values::say_otherwise).ok()?;
    Some(plan.schema().clone())
}

/// Whether a value of one type can become one of another, as it is or not at all.
fn keeps(first: &DataType, next: &DataType) -> bool {
    use DataType::{
        Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Dictionary, Duration,
        FixedSizeList, Float64, Interval, LargeList, List, Null, Timestamp,
    };
    let scale = |kind: &DataType| match kind {
        Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale) => {
            *scale
        }
        _ => 0,
    };
    match (first, next) {
        (first, next) if first.equals_datatype(next) => true,
        (_, Null) => true,
        (Dictionary(_, first), next) => keeps(first, next),
        (first, Dictionary(_, next)) => keeps(first, next),
        (first, _) if first.is_string() => true,
        (first, next) if first.is_integer() && next.is_integer() => true,
        (first, next) if first.is_decimal() && (next.is_integer() || next.is_decimal()) => {
            scale(next) <= scale(first)
        }
        (Float64, next) => next.is_numeric(),
        (Timestamp(first, _), Timestamp(next, _)) => next <= first,
        (Timestamp(..), Date32 | Date64) | (Date64, Date32) => true,
        (Interval(_) | Duration(_), Interval(_) | Duration(_)) => true,
        (
            List(first) | LargeList(first) | FixedSizeList(first, _),
            List(next) | LargeList(next) | FixedSizeList(next, _),
        ) => keeps(first.data_type(), next.data_type()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::TimeUnit;

    use super::*;

    #[test]
    fn what_would_be_cut_off_does_not_fit() {
        use DataType::{
            Date32, Decimal128, Float32, Float64, Int32, Int64, Null, Timestamp, Utf8, Utf8View,
        };
        let timestamp = || Timestamp(TimeUnit::Nanosecond, None);
        for (first, next) in [
            (Utf8, Utf8View),
            (Int32, Int64),
            (Int64, Null),
            (Float64, Decimal128(10, 2)),
            (Decimal128(10, 2), Decimal128(12, 2)),
            (Decimal128(10, 2), Int64),
            (timestamp(), Date32),
        ] {
            assert!(keeps(&first, &next), "{first} {next}");
        }
        for (first, next) in [
            (Int64, Float64),
            (Int64, Decimal128(21, 1)),
            (Decimal128(10, 2), Decimal128(12, 4)),
            (Float32, Float64),
            (Null, Int64),
            (Date32, timestamp()),
            (DataType::Boolean, Int64),
            (Int64, Utf8),
        ] {
            assert!(!keeps(&first, &next), "{first} {next}");
        }
    }
}
