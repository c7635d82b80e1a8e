//! Joins, for all outer rows at once: a side that names the outer row has its keys, and both sides have the same.
//!
//! ```text
//! Left Join: a.x = b.x                       Left Join: a.x = b.x, __outer_1_0 is __outer_2
//!   Filter: a.k = outer(t.k)          ==>      Filter: a.k = __outer_1_0
//!   Filter: b.k = outer(t.k)                   Projection: b.*, __outer_1_0 AS __outer_2
//!                                                Filter: b.k = __outer_1_0
//! ```

use std::sync::Arc;

use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::error::Result;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Operator, Projection, binary_expr};
use datafusion::prelude::coalesce;

use super::domain::columns;
use super::outer::is_lateral;
use super::push::{Push, Pushed};
use super::refuse;

impl Push<'_> {
    pub fn join(&mut self, join: &Join) -> Result<Pushed> {
        if join.null_aware {
            return refuse("is too complicated");
        }
        let join = &without_keys_of_the_row(join.clone())?;
        let (left, right) = (self.is_named_in(&join.left)?, self.is_named_in(&join.right)?);
        if is_lateral(&join.right) {
            return match join.join_type {
                JoinType::Inner | JoinType::Left => self.lateral(join),
                _ => refuse("has a LATERAL on the optional side of a join"),
            };
        }
        match join.join_type {
            JoinType::Inner if left && right => self.of_both(join, true),
            JoinType::Inner if right => self.of_right(join),
            JoinType::Inner => self.of_left(join),
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
                if right {
                    self.of_both(join, true)
                } else {
                    self.of_left(join)
                }
            }
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => {
                if left {
                    self.of_both(join, false)
                } else {
                    self.of_right(join)
                }
            }
            JoinType::Full => self.of_either(join),
            _ => refuse("is too complicated"),
        }
    }

    /// The left side has the keys; what is right of it is the same for all.
    fn of_left(&mut self, join: &Join) -> Result<Pushed> {
        let left = self.plan(&join.left)?;
        let right = join.right.as_ref().clone();
        self.joined(join, left, right, vec![])
    }

    fn of_right(&mut self, join: &Join) -> Result<Pushed> {
        let Pushed { plan, keys } = self.plan(&join.right)?;
        let left = Pushed { plan: join.left.as_ref().clone(), keys };
        self.joined(join, left, plan, vec![])
    }

    /// Both have keys, and the same. `keeps_left`: the join's are those of the left.
    fn of_both(&mut self, join: &Join, keeps_left: bool) -> Result<Pushed> {
        let (mut left, mut right) = (self.plan(&join.left)?, self.plan(&join.right)?);
        match keeps_left {
            true => right = self.relabelled(right, &join.right.schema().columns())?,
            false => left = self.relabelled(left, &join.left.schema().columns())?,
        }
        let on = self.same_keys(join, &left.keys, &right.keys);
        if !keeps_left {
            left.keys = right.keys;
        }
        self.joined(join, left, right.plan, on)
    }

    /// A row of a full join has the keys of the side that it has.
    fn of_either(&mut self, join: &Join) -> Result<Pushed> {
        let (left, right) = (self.plan(&join.left)?, self.plan(&join.right)?);
        let right = self.relabelled(right, &join.right.schema().columns())?;
        let on = self.same_keys(join, &left.keys, &right.keys);
        let names: Vec<String> = left.keys.iter().map(|_| self.names.next()).collect();
        let either = columns(&left.keys).into_iter().zip(columns(&right.keys)).zip(&names);
        let either = either.map(|((left, right), name)| coalesce(vec![left, right]).alias(name));
        let mut values = columns(&join.schema.columns());
        values.extend(either);
        let joined = self.joined(join, left, right.plan, on)?;
        let plan = Projection::try_new(values, Arc::new(joined.plan))?;
        let keys = names.into_iter().map(Column::from_name).collect();
        Ok(Pushed { plan: LogicalPlan::Projection(plan), keys })
    }

    fn same_keys(&self, join: &Join, left: &[Column], right: &[Column]) -> Vec<(Expr, Expr)> {
        let (left, right) = (columns(left), columns(right));
        match join.null_equality {
            NullEquality::NullEqualsNothing => self.domain.equal(left, right),
            // Set operations find NULL in NULL anyway.
            NullEquality::NullEqualsNull => left.into_iter().zip(right).collect(),
        }
    }

    /// What is right of LATERAL goes on to depend on the left side, which has the keys.
    fn lateral(&mut self, join: &Join) -> Result<Pushed> {
        let left = self.plan(&join.left)?;
        let renamed = self.renamed(&left.keys);
        let renamed = renamed.without(|column| join.left.schema().has_column(column));
        let right = renamed.in_plan(join.right.as_ref().clone())?;
        self.joined(join, left, right, vec![])
    }

    /// `left` has the keys that the join's condition is said with.
    fn joined(
        &mut self,
        join: &Join,
        left: Pushed,
        right: LogicalPlan,
        more: Vec<(Expr, Expr)>,
    ) -> Result<Pushed> {
        let node = LogicalPlan::Join(join.clone());
        let filter = match join.filter.clone() {
            Some(filter) => Some(self.said(filter, &node, &left)?),
            None => None,
        };
        let mut on = join.on.clone();
        on.extend(more);
        let joined = Join::try_new(
            Arc::new(left.plan),
            Arc::new(right),
            on,
            filter,
            join.join_type,
            join.join_constraint,
            join.null_equality,
            false,
        )?;
        Ok(Pushed { plan: LogicalPlan::Join(joined), keys: left.keys })
    }
}

/// Pairs that name the outer row are no keys of the join, but conditions.
fn without_keys_of_the_row(mut join: Join) -> Result<Join> {
    let names_outer =
        |(left, right): &(Expr, Expr)| left.contains_outer() || right.contains_outer();
    if !join.on.iter().any(names_outer) {
        return Ok(join);
    }
    if join.null_equality == NullEquality::NullEqualsNull {
        return refuse("is too complicated");
    }
    let on = std::mem::take(&mut join.on).into_iter();
    let equal = on.map(|(left, right)| binary_expr(left, Operator::Eq, right));
    join.filter = conjunction(equal.chain(join.filter.take()));
    Ok(join)
}
