//! The distinct values of an outer row's columns: for each of them a subquery is answered once.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Column, ExprSchema, JoinType, NullEquality};
use datafusion::error::Result;
use datafusion::logical_expr::{
    Expr, Join, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Operator, Projection, binary_expr,
    cast, lit, when,
};
use datafusion::prelude::coalesce;
use datafusion::scalar::ScalarValue;

use super::outer::Outer;
use super::refuse;
use super::settled::{Doubt, Settled};

/// ```text
/// SubqueryAlias: __outer_1
///   Distinct:
///     Projection: t.k AS __outer_1_0, t.f AS __outer_1_1, 1.0 / t.f < 0.0 AS __outer_1_2
///       (the rows around the subquery: at least these, [`Settled`])
/// ```
///
/// `-0.0` equals `0.0`, but `CAST(f AS TEXT)` and `1 / f` tell them apart: so a float is a key together with its sign. Groups and
/// DISTINCT make `0.0` of it, which is mended above them.
pub struct Domain {
    pub plan: LogicalPlan,
    pub outer: Vec<Outer>,
    /// Its columns: those of the outer row first, in the same order.
    pub keys: Vec<Column>,
    /// What the keys are for a row around the subquery.
    of_row: Vec<Key>,
    /// Which keys are floats, and which are their signs.
    signs: Vec<(usize, usize)>,
}

struct Key {
    value: Expr,
    /// What takes the place of NULL, if it may be that.
    zero: Option<ScalarValue>,
    /// Whether it is NULL just where another key is.
    is_sign: bool,
    /// Whether there is a key that says so for it.
    has_sign: bool,
}

impl Domain {
    pub fn new(alias: &str, rows: &LogicalPlan, outer: Vec<Outer>) -> Result<Self> {
        let Some(settled) = Settled::of(rows)? else {
            return refuse("depends on rows that may be others when they are computed again");
        };
        let (mut of_row, mut signs) = (vec![], vec![]);
        for outer in &outer {
            let field = rows.schema().field_from_column(&outer.column)?;
            let kind = field.data_type();
            if !can_be_a_key(kind) {
                return refuse(&format!("depends on a value of type {kind}"));
            }
            let doubt = settled.doubt(&outer.column);
            if doubt == Some(Doubt::Value) {
                return refuse("depends on a value that may be another when it is computed again");
            }
            let value = Expr::Column(outer.column.clone());
            let has_sign = kind.is_floating() && doubt.is_none();
            if has_sign {
                let inverse =
                    binary_expr(lit(1.0), Operator::Divide, cast(value.clone(), DataType::Float64));
                let value = binary_expr(inverse, Operator::Lt, lit(0.0));
                let zero = field.is_nullable().then_some(ScalarValue::Boolean(Some(false)));
                signs.push(Key { value, zero, is_sign: true, has_sign: false });
            }
            let zero = field.is_nullable().then(|| ScalarValue::new_default(kind)).transpose()?;
            of_row.push(Key { value, zero, is_sign: false, has_sign });
        }
        let floats = (0..outer.len()).filter(|at| of_row[*at].has_sign);
        let signs_at: Vec<_> = floats.zip(outer.len()..).collect();
        of_row.append(&mut signs);
        let names: Vec<String> = (0..of_row.len()).map(|at| format!("{alias}_{at}")).collect();
        let values = of_row.iter().zip(&names).map(|(key, name)| key.value.clone().alias(name));
        let plan = LogicalPlanBuilder::from(settled.plan).project(values)?.distinct()?;
        let bare: Vec<Column> = names.iter().map(Column::from_name).collect();
        let plan = with_signs(plan.build()?, &bare, &signs_at)?;
        let plan = LogicalPlanBuilder::from(plan).alias(alias)?.build()?;
        let keys = names.into_iter().map(|name| Column::new(Some(alias), name)).collect();
        Ok(Self { plan, outer, keys, of_row, signs: signs_at })
    }

    /// A plan of groups or distinct rows, whose keys are the values that they were.
    pub fn with_signs(&self, plan: LogicalPlan, keys: &[Column]) -> Result<LogicalPlan> {
        with_signs(plan, keys, &self.signs)
    }

    /// The keys of a row around the subquery.
    pub fn of_row(&self) -> Vec<Expr> {
        self.of_row.iter().map(|key| key.value.clone()).collect()
    }

    /// What is equal if keys are the same, be they NULL: `coalesce(k, 0) = coalesce(x, 0)` and `k IS NULL = x IS NULL`. A join that
    /// compares NULLs as equal would do so for all its keys, also those that it gets from elsewhere.
    pub fn equal(&self, left: Vec<Expr>, right: Vec<Expr>) -> Vec<(Expr, Expr)> {
        let mut pairs = vec![];
        for ((key, left), right) in self.of_row.iter().zip(left).zip(right) {
            let Some(zero) = &key.zero else {
                pairs.push((left, right));
                continue;
            };
            let known = |value: Expr| coalesce(vec![value, lit(zero.clone())]);
            pairs.push((known(left.clone()), known(right.clone())));
            if !key.is_sign {
                pairs.push((left.is_null(), right.is_null()));
            }
        }
        pairs
    }
}

fn with_signs(plan: LogicalPlan, keys: &[Column], signs: &[(usize, usize)]) -> Result<LogicalPlan> {
    if signs.is_empty() {
        return Ok(plan);
    }
    let values = plan.schema().iter().map(|(qualifier, field)| {
        let column = Column::from((qualifier, field));
        let value = Expr::Column(column.clone());
        let Some((_, sign)) = signs.iter().find(|(float, _)| keys[*float] == column) else {
            return Ok(value);
        };
        let is_zero = binary_expr(value.clone(), Operator::Eq, lit(0.0));
        let is_negative = Expr::Column(keys[*sign].clone()).and(is_zero);
        let zero = cast(lit(-0.0), field.data_type().clone());
        let mended = when(is_negative, zero).otherwise(value)?;
        Ok(mended.alias_qualified(qualifier.cloned(), field.name()))
    });
    let values = values.collect::<Result<Vec<_>>>()?;
    Projection::try_new(values, Arc::new(plan)).map(LogicalPlan::Projection)
}

pub fn columns(keys: &[Column]) -> Vec<Expr> {
    keys.iter().cloned().map(Expr::Column).collect()
}

/// A join by keys.
pub fn join_by(
    left: LogicalPlan,
    right: LogicalPlan,
    on: Vec<(Expr, Expr)>,
    join_type: JoinType,
    filter: Option<Expr>,
) -> Result<LogicalPlan> {
    let (left, right) = (Arc::new(left), Arc::new(right));
    let (constraint, nulls) = (JoinConstraint::On, NullEquality::NullEqualsNothing);
    let join = Join::try_new(left, right, on, filter, join_type, constraint, nulls, false)?;
    Ok(LogicalPlan::Join(join))
}

/// Whether equal values are the same value. (Equal intervals need not be; of what is in lists and structs nothing is known.)
fn can_be_a_key(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, kind) => can_be_a_key(kind),
        DataType::Interval(_) | DataType::Null => false,
        other => !other.is_nested(),
    }
}
