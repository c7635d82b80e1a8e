//! Filters of joins that ask, before each batch of pairs, whether anybody waits for the answer.
//!
//! A join by equal keys of which few differ tries as many pairs as a nested loop does, and gives none away if its filter
//! takes none.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, Schema};
use caudal_runtime::compute::Stop;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};

/// The same join with a checked filter, if it has one.
pub fn hash_join(join: &HashJoinExec, stop: &Stop) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = join.filter() else { return Ok(None) };
    Ok(Some(Arc::new(join.builder().with_filter(Some(checked(filter, stop))).build()?)))
}

/// The same join with a checked filter, if it has one.
pub fn sort_merge_join(
    join: &SortMergeJoinExec,
    stop: &Stop,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = join.filter() else { return Ok(None) };
    Ok(Some(Arc::new(SortMergeJoinExec::try_new(
        Arc::clone(join.left()),
        Arc::clone(join.right()),
        join.on().to_vec(),
        Some(checked(filter, stop)),
        join.join_type(),
        join.sort_options().to_vec(),
        join.null_equality(),
    )?)))
}

fn checked(filter: &JoinFilter, stop: &Stop) -> JoinFilter {
    let expression = Arc::new(Checked { of: Arc::clone(filter.expression()), stop: stop.clone() });
    JoinFilter::new(expression, filter.column_indices().to_vec(), Arc::clone(filter.schema()))
}

/// An expression that fails once its computation is to stop.
#[derive(Debug)]
struct Checked {
    of: Arc<dyn PhysicalExpr>,
    stop: Stop,
}

impl PhysicalExpr for Checked {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        if self.stop.is_raised() {
            return exec_err!("stopped: nobody waits for the answer any more");
        }
        self.of.evaluate(batch)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.of.return_field(schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.of]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let of = children.pop().unwrap_or_else(|| Arc::clone(&self.of));
        Ok(Arc::new(Self { of, stop: self.stop.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt_sql(f)
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)
    }
}

impl PartialEq for Checked {
    fn eq(&self, other: &Self) -> bool {
        self.of.eq(&other.of)
    }
}

impl Eq for Checked {}

impl Hash for Checked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of.hash(state);
    }
}
