//! LATERAL: what is right of it is found for the distinct values of the left side's columns, and joined to the rows that have them.
//!
//! ```text
//! Left Join: z.a > 0                   Left Join: t.k is z.__outer_1_0, z.a > 0
//!   TableScan: t                         TableScan: t
//!   SubqueryAlias: z            ==>      SubqueryAlias: z        (with the keys)
//!     Subquery:                            Filter: u.k = __outer_1_0
//!       Filter: u.k = outer(t.k)             CrossJoin: __outer_1, u
//!         TableScan: u
//! ```

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::{Join, LogicalPlan, Projection};

use super::domain::{Domain, columns, join_by};
use super::outer;
use super::push::Push;
use super::{Unnester, refuse};
use crate::subqueries::is_lateral_left_to_datafusion;

impl Unnester {
    pub fn lateral(&mut self, join: Join) -> Result<Transformed<LogicalPlan>> {
        let named = outer::of(&join.right)?;
        let is_known = |outer: &outer::Outer| join.left.schema().has_column(&outer.column);
        // One that depends on a row further out has to wait until that has come in.
        let waits = named.is_empty() || !named.iter().all(is_known);
        if waits || is_lateral_left_to_datafusion(&join.right) {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
            return refuse("has a LATERAL on the optional side of a join");
        }
        let known = join.schema.columns();
        let domain = Domain::new(&self.names.next(), &join.left, named)?;
        let right = Push { domain: &domain, names: &mut self.names }.plan(&join.right)?;
        let mut on = join.on;
        on.extend(domain.equal(domain.of_row(), columns(&right.keys)));
        let right = self.plan(right.plan)?.data;
        let left = Arc::unwrap_or_clone(join.left);
        let joined = join_by(left, right, on, join.join_type, join.filter)?;
        let joined = self.attached(joined)?.data;
        let joined = Projection::try_new(columns(&known), Arc::new(joined))?;
        Ok(Transformed::yes(LogicalPlan::Projection(joined)))
    }
}
