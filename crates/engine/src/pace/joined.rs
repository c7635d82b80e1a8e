//! Small batches, joined below what keeps all of its rows: a recursive query makes one for each step, of a row perhaps, and what is
//! around such a row takes far more memory than the row, of which the memory pool knows.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow::compute::BatchCoalescer;
use caudal_planner::region::is_recursive;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, stream};

/// The rows of a plan, in large batches if a recursive query makes them.
pub fn joined(input: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let is_joined = (input.as_ref() as &dyn Any).is::<JoinedExec>();
    let has_columns = !input.schema().fields().is_empty();
    if is_joined || !has_columns || !input.exists(|node| Ok(is_recursive(node)))? {
        return Ok(Arc::clone(input));
    }
    Ok(Arc::new(JoinedExec { input: Arc::clone(input) }))
}

#[derive(Debug)]
struct JoinedExec {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for JoinedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

impl ExecutionPlan for JoinedExec {
    fn name(&self) -> &str {
        "JoinedExec"
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
        Ok(Arc::new(Self { input }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = context.session_config().batch_size();
        let joining = BatchCoalescer::new(self.schema(), rows);
        let input = self.input.execute(partition, context)?;
        let batches = stream::try_unfold(
            (input, joining, false),
            |(mut input, mut joining, mut ended)| async move {
                loop {
                    if let Some(batch) = joining.next_completed_batch() {
                        return Ok::<_, DataFusionError>(Some((batch, (input, joining, ended))));
                    }
                    if ended {
                        return Ok(None);
                    }
                    match input.next().await {
                        Some(batch) => joining.push_batch(batch?)?,
                        None => {
                            ended = true;
                            joining.finish_buffered_batch()?;
                        }
                    }
                }
            },
        );
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::physical_plan::{collect, displayable};
    use datafusion::prelude::SessionContext;
    use futures::TryStreamExt;

    use super::*;
    use crate::pace::pace;

    const STEPS: usize = 20_000;

    async fn plan(context: &SessionContext, then: &str) -> Arc<dyn ExecutionPlan> {
        let sql = format!(
            "WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r WHERE a < {STEPS})
             SELECT a FROM r {then}"
        );
        pace(context.sql(&sql).await.unwrap().create_physical_plan().await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_sort_keeps_large_batches_of_a_recursive_query() {
        let context = SessionContext::new();
        let sorted = plan(&context, "ORDER BY a DESC").await;
        let shown = displayable(sorted.as_ref()).indent(false).to_string();
        assert!(shown.contains("JoinedExec"), "{shown}");
        let mut below = Arc::clone(&sorted);
        while !(below.as_ref() as &dyn Any).is::<JoinedExec>() {
            below = Arc::clone(below.children()[0]);
        }
        let batches: Vec<_> =
            below.execute(0, context.task_ctx()).unwrap().try_collect().await.unwrap();
        assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), STEPS);
        assert!(batches.len() < 5, "{} batches", batches.len());
        let rows = collect(sorted, context.task_ctx()).await.unwrap();
        assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), STEPS);
    }

    #[tokio::test]
    async fn what_needs_few_rows_waits_for_no_more() {
        let context = SessionContext::new();
        let limited = plan(&context, "LIMIT 5").await;
        let shown = displayable(limited.as_ref()).indent(false).to_string();
        assert!(!shown.contains("JoinedExec"), "{shown}");
    }
}
