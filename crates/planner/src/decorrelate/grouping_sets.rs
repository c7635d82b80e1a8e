//! GROUPING SETS, ROLLUP and CUBE, for each outer row: its values are in every set.
//!
//! ```text
//! ROLLUP (u.k)     ==>     GROUPING SETS ((u.k, __outer_1_0), (__outer_1_0))
//! ```

use datafusion::error::Result;
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan};

use super::domain::columns;
use super::push::{Push, Pushed};
use super::refuse;

impl Push<'_> {
    /// What an aggregate groups by, and the keys of its input.
    pub fn group_keys(&self, aggregate: &Aggregate, input: &Pushed) -> Result<Vec<Expr>> {
        let node = LogicalPlan::Aggregate(aggregate.clone());
        let Some(sets) = sets_of(aggregate)? else {
            let mut keys = self.named(&aggregate.group_expr, &node, input)?;
            keys.extend(columns(&input.keys));
            return Ok(keys);
        };
        let mut all = vec![];
        for set in sets {
            let mut set = self.named(&set, &node, input)?;
            set.extend(columns(&input.keys));
            all.push(set);
        }
        Ok(vec![Expr::GroupingSet(GroupingSet::GroupingSets(all))])
    }
}

/// Whether an aggregate has a group of all rows, even if there are none.
pub fn has_group_of_all(aggregate: &Aggregate) -> Result<bool> {
    let Some(sets) = sets_of(aggregate)? else { return Ok(aggregate.group_expr.is_empty()) };
    match sets.iter().filter(|set| set.is_empty()).count() {
        0 => Ok(false),
        1 => Ok(true),
        _ => refuse("has a group of all rows twice"),
    }
}

fn sets_of(aggregate: &Aggregate) -> Result<Option<Vec<Vec<Expr>>>> {
    let is_set = |key: &Expr| matches!(key, Expr::GroupingSet(_));
    match aggregate.group_expr.as_slice() {
        [Expr::GroupingSet(set)] => Ok(Some(match set {
            GroupingSet::Rollup(keys) => {
                (0..=keys.len()).rev().map(|count| keys[..count].to_vec()).collect()
            }
            GroupingSet::Cube(keys) if keys.len() <= CUBE_KEYS_MAX => subsets(keys),
            GroupingSet::Cube(_) => return refuse("has a CUBE of too many keys"),
            GroupingSet::GroupingSets(sets) => sets.clone(),
        })),
        keys if keys.iter().any(is_set) => refuse("has GROUPING SETS beside other keys"),
        _ => Ok(None),
    }
}

/// Twice as many sets for each.
const CUBE_KEYS_MAX: usize = 10;

fn subsets(keys: &[Expr]) -> Vec<Vec<Expr>> {
    let Some((first, rest)) = keys.split_first() else { return vec![vec![]] };
    let without = subsets(rest);
    let with = without.iter().map(|set| [&[first.clone()][..], set.as_slice()].concat());
    let mut all: Vec<_> = with.collect();
    all.extend(without);
    all
}
