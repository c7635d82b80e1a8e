//! A leaf bound to its data: batches in memory, and those that had to be spilled.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, stream};

use crate::gather::Spilled;
use crate::memory::Held;
use crate::pace::pace;

/// Everything a stage reads at one leaf, as one partition. May be executed any number of times.
#[derive(Debug)]
pub struct SourceExec {
    batches: Vec<RecordBatch>,
    spilled: Vec<Spilled>,
    properties: Arc<PlanProperties>,
}

impl SourceExec {
    /// The data of a leaf, of which all is true that was planned with.
    pub fn new(
        leaf: &Arc<dyn ExecutionPlan>,
        batches: Vec<RecordBatch>,
        spilled: Vec<Spilled>,
    ) -> Self {
        let properties = PlanProperties::new(
            leaf.properties().eq_properties.clone(),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { batches, spilled, properties: Arc::new(properties) }
    }

    fn rows(&self) -> usize {
        let in_memory: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        in_memory + self.spilled.iter().map(|spilled| spilled.rows).sum::<usize>()
    }

    pub fn bytes(&self) -> usize {
        let in_memory: usize = self.batches.iter().map(RecordBatch::get_array_memory_size).sum();
        in_memory + self.spilled.iter().map(|spilled| spilled.bytes).sum::<usize>()
    }
}

impl DisplayAs for SourceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceExec: rows={}", self.rows())
    }
}

impl ExecutionPlan for SourceExec {
    fn name(&self) -> &str {
        "SourceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let in_memory = stream::iter(self.batches.clone().into_iter().map(Ok));
        if self.spilled.is_empty() {
            let in_memory = RecordBatchStreamAdapter::new(schema, in_memory);
            return Ok(Box::pin(cooperative(in_memory)));
        }
        let spilled: Vec<_> = self.spilled.iter().map(Spilled::read).collect::<Result<_>>()?;
        let all = stream::iter(spilled).flatten().chain(in_memory);
        Ok(Box::pin(cooperative(RecordBatchStreamAdapter::new(schema, all))))
    }

    /// Exact, so that the smaller side of a join builds its hash table.
    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let fields = self.schema().fields().len();
        Ok(Arc::new(Statistics {
            num_rows: Precision::Exact(self.rows()),
            total_byte_size: Precision::Exact(self.bytes()),
            column_statistics: vec![ColumnStatistics::new_unknown(); fields],
        }))
    }
}

/// All batches of a plan's every partition.
pub async fn collect(
    plan: Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> Result<Vec<RecordBatch>> {
    let plan = pace(plan)?;
    let mut collected = Held::new("collected rows", context.memory_pool());
    let partitions = plan.properties().partitioning.partition_count();
    for partition in 0..partitions {
        let mut stream = plan.execute(partition, Arc::clone(context))?;
        while let Some(batch) = stream.next().await {
            collected.push(batch?);
        }
    }
    Ok(collected.into_batches())
}
