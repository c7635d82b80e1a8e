//! Nested loops in slices: the rows of the one side are counted, those of the other come so few at a time that a slice is
//! a matter of milliseconds, and others may go on after each.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use caudal_core::limits;
use caudal_planner::region::with_children;
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt, stream};

/// The same nested loop, its left side counted, its right side sliced.
pub fn probe_in_slices(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let left_rows = Arc::new(AtomicUsize::new(0));
    let side = |of, role| -> Arc<dyn ExecutionPlan> {
        Arc::new(SideExec { input: Arc::clone(of), role, left_rows: Arc::clone(&left_rows) })
    };
    let &[left, right] = join.children().as_slice() else {
        return internal_err!("a join has two sides");
    };
    let sides = vec![side(left, Role::Counted), side(right, Role::Sliced)];
    with_children(join, sides)
}

/// A side of a nested loop. The left one is read to its end before the right one is begun.
#[derive(Debug)]
struct SideExec {
    input: Arc<dyn ExecutionPlan>,
    role: Role,
    left_rows: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    Counted,
    Sliced,
}

impl DisplayAs for SideExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

impl ExecutionPlan for SideExec {
    fn name(&self) -> &str {
        match self.role {
            Role::Counted => "CountedExec",
            Role::Sliced => "SlicedExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop().unwrap_or_else(|| Arc::clone(&self.input));
        Ok(Arc::new(Self { input, role: self.role, left_rows: Arc::clone(&self.left_rows) }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (rows, left_rows) =
            (self.input.execute(partition, context)?, Arc::clone(&self.left_rows));
        Ok(match self.role {
            Role::Counted => {
                left_rows.store(0, Ordering::Relaxed);
                let counted = rows.inspect_ok(move |batch| {
                    left_rows.fetch_add(batch.num_rows(), Ordering::Relaxed);
                });
                Box::pin(RecordBatchStreamAdapter::new(self.schema(), counted))
            }
            Role::Sliced => {
                let slices = rows
                    .map_ok(move |batch| slices(batch, left_rows.load(Ordering::Relaxed)))
                    .try_flatten();
                Box::pin(RecordBatchStreamAdapter::new(self.schema(), slices))
            }
        })
    }
}

/// A batch in slices, each of which makes so many pairs with the rows of the other side and no more. Where there are
/// several, or the batch is as much as a slice, others may go on before each.
fn slices(
    batch: RecordBatch,
    left_rows: usize,
) -> impl futures::Stream<Item = Result<RecordBatch>> + Send {
    let rows_max = (limits::PAIRS_AT_ONCE / left_rows.max(1)).max(1);
    let gives_way = batch.num_rows() >= rows_max;
    let starts = (0..batch.num_rows()).step_by(rows_max);
    stream::iter(starts).then(move |start| {
        let slice = batch.slice(start, rows_max.min(batch.num_rows() - start));
        async move {
            if gives_way {
                tokio::task::yield_now().await;
            }
            Ok(slice)
        }
    })
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;

    use super::*;

    fn rows(count: usize) -> RecordBatch {
        let values = Int64Array::from_iter_values(0..count as i64);
        RecordBatch::try_from_iter([("x", Arc::new(values) as _)]).unwrap()
    }

    async fn sliced(count: usize, left_rows: usize) -> Vec<RecordBatch> {
        slices(rows(count), left_rows).try_collect().await.unwrap()
    }

    #[tokio::test]
    async fn slices_are_the_rows_in_order_and_none_makes_too_many_pairs() {
        let left_rows = limits::PAIRS_AT_ONCE / 7;
        let slices = sliced(100, left_rows).await;
        assert_eq!(slices.len(), 15);
        assert!(slices.iter().all(|slice| slice.num_rows() * left_rows <= limits::PAIRS_AT_ONCE));
        let joined = arrow::compute::concat_batches(&slices[0].schema(), &slices).unwrap();
        assert_eq!(joined, rows(100));
    }

    #[tokio::test]
    async fn few_pairs_are_one_slice_and_many_are_one_row_at_a_time() {
        assert_eq!(sliced(8192, 10).await.len(), 1);
        assert_eq!(sliced(8192, 0).await.len(), 1);
        assert_eq!(sliced(3, 10 * limits::PAIRS_AT_ONCE).await.len(), 3);
        assert_eq!(sliced(0, 10).await.len(), 0);
    }
}
