//! Subqueries as expressions over one-row tables and marks.
//!
//! `x` is what stands left of it; `rows`, `values`, `least` and `greatest` are of the subquery.
//!
//! ```text
//! (subquery)            value
//! EXISTS (subquery)     found
//! x IN (subquery)       CASE WHEN mark THEN true
//! x = ANY (subquery)         WHEN rows > 0 AND (x IS NULL OR values < rows) THEN NULL ELSE false END
//! x > ANY (subquery)    CASE WHEN x > least THEN true
//!                            WHEN rows > 0 AND (x IS NULL OR values < rows) THEN NULL ELSE false END
//! x > ALL (subquery)    CASE WHEN NOT x > greatest THEN false
//!                            WHEN rows > 0 AND (x IS NULL OR values < rows) THEN NULL ELSE true END
//! ```

use datafusion::common::Column;
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, binary_expr, lit, not, or, when};
use datafusion::scalar::ScalarValue;

use super::one_row::{self, Summary};

/// Tables that are joined for what stands in an expression.
pub trait Joins {
    /// Joins a table of one row; its name.
    fn one_row(&mut self, row: LogicalPlan) -> Result<String>;

    /// Whether a value is in the first column of a table: yes or no.
    fn mark(&mut self, value: Expr, table: &LogicalPlan) -> Result<Expr>;

    /// A column of such a table.
    fn column(&self, table: &str, name: &str) -> Expr {
        Expr::Column(Column::new(Some(table), name))
    }
}

/// A comparison with a set that always has one row is a comparison with its value; and it exists.
pub fn compared(part: &Expr) -> Option<Expr> {
    let (value, subquery, op) = match part {
        Expr::Exists(Exists { subquery, negated }) if one_row::is_one(&subquery.subquery) => {
            return Some(lit(!negated));
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            (expr, subquery, if *negated { Operator::NotEq } else { Operator::Eq })
        }
        Expr::SetComparison(SetComparison { expr, subquery, op, .. }) => (expr, subquery, *op),
        _ => return None,
    };
    let scalar = || Expr::ScalarSubquery(subquery.clone());
    one_row::is_one(&subquery.subquery).then(|| binary_expr(*value.clone(), op, scalar()))
}

pub fn replacement(part: Expr, joiner: &mut dyn Joins) -> Result<Expr> {
    match part {
        Expr::ScalarSubquery(subquery) => {
            let table = joiner.one_row(one_row::value(&subquery.subquery)?)?;
            Ok(joiner.column(&table, "value"))
        }
        Expr::Exists(Exists { subquery, negated }) => {
            let table = joiner.one_row(one_row::found(&subquery.subquery)?)?;
            let found = joiner.column(&table, "found");
            Ok(if negated { not(found) } else { found })
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            let is_in = is_in(*expr, &subquery.subquery, joiner)?;
            Ok(if negated { not(is_in) } else { is_in })
        }
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            quantified(*expr, op, &quantifier, &subquery.subquery, joiner)
        }
        other => Ok(other),
    }
}

fn is_in(value: Expr, plan: &LogicalPlan, joiner: &mut dyn Joins) -> Result<Expr> {
    let (found, summary) = found(&value, plan, joiner)?;
    decided(found, true, value, &summary, joiner)
}

/// Whether a value is in there for sure, and the table that says how many there are.
fn found(value: &Expr, plan: &LogicalPlan, joiner: &mut dyn Joins) -> Result<(Expr, String)> {
    if value.any_column_refs() {
        let mark = joiner.mark(value.clone(), plan)?;
        return Ok((mark, joiner.one_row(one_row::summary(plan, Summary::Rows)?)?));
    }
    // A constant has nothing to join by: its equals are counted.
    let summary = joiner.one_row(one_row::summary(plan, Summary::Equals(value.clone()))?)?;
    Ok((joiner.column(&summary, "equals").gt(lit(0)), summary))
}

/// `IN` or `NOT IN`, where it is only asked whether it is true.
pub fn truth_of_in(
    value: Expr,
    plan: &LogicalPlan,
    negated: bool,
    joiner: &mut dyn Joins,
) -> Result<Expr> {
    if !negated && value.any_column_refs() {
        return joiner.mark(value, plan);
    }
    let (found, summary) = found(&value, plan, joiner)?;
    if !negated {
        return Ok(found);
    }
    let (rows, values) = (joiner.column(&summary, "rows"), joiner.column(&summary, "values"));
    let all_known = value.is_not_null().and(values.eq(rows.clone()));
    Ok(not(found).and(or(rows.eq(lit(0)), all_known)))
}

fn quantified(
    value: Expr,
    op: Operator,
    quantifier: &SetQuantifier,
    plan: &LogicalPlan,
    joiner: &mut dyn Joins,
) -> Result<Expr> {
    let all = *quantifier == SetQuantifier::All;
    match (op, all) {
        (Operator::Eq, false) => return is_in(value, plan, joiner),
        (Operator::NotEq, true) => return is_in(value, plan, joiner).map(not),
        _ => {}
    }
    let summary = joiner.one_row(one_row::summary(plan, Summary::Extremes)?)?;
    let (least, greatest) = (joiner.column(&summary, "least"), joiner.column(&summary, "greatest"));
    let compare = |with: Expr| binary_expr(value.clone(), op, with);
    // What one value decides: for ANY that it is true, for ALL that it is false.
    let decides = match (op, all) {
        (Operator::Gt | Operator::GtEq, false) => compare(least),
        (Operator::Lt | Operator::LtEq, false) => compare(greatest),
        (Operator::Gt | Operator::GtEq, true) => not(compare(greatest)),
        (Operator::Lt | Operator::LtEq, true) => not(compare(least)),
        (Operator::NotEq, _) => or(compare(least), compare(greatest)),
        (Operator::Eq, _) => or(not(compare(least)), not(compare(greatest))),
        _ => return datafusion::common::not_impl_err!("{op} with ANY or ALL of a subquery"),
    };
    decided(decides, !all, value, &summary, joiner)
}

/// `outcome` where something decides; else NULL where something is not known; else the contrary.
pub fn decided(
    decides: Expr,
    outcome: bool,
    value: Expr,
    summary: &str,
    joiner: &dyn Joins,
) -> Result<Expr> {
    let (rows, values) = (joiner.column(summary, "rows"), joiner.column(summary, "values"));
    let unknown = rows.clone().gt(lit(0)).and(or(value.is_null(), values.lt(rows)));
    when(decides, lit(outcome))
        .when(unknown, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(!outcome))
}
