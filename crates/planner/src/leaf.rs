//! The leaves of a stage: a table of the session, or what another stage sends.
//!
//! A leaf stands for data that is bound later, fragment by fragment or when a shard is complete;
//! it cannot be executed itself.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use caudal_core::{StageId, TableId};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use crate::exchange::ExchangeExec;

/// Partitions that DataFusion believes a table or a hash exchange has. More than one, or it would
/// plan aggregates that cannot be split; how many shards there are is not the plan's business.
pub const PLANNED_PARTITIONS: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// Columns (by position in the table's schema) of a table.
    Table { table: TableId, name: String, columns: Vec<usize> },
    /// Output of a stage.
    Stage(StageId),
}

#[derive(Debug)]
pub struct LeafExec {
    pub leaf: Leaf,
    properties: Arc<PlanProperties>,
}

impl LeafExec {
    pub fn new(leaf: Leaf, schema: SchemaRef, partitioning: Partitioning) -> Self {
        Self::knowing(leaf, EquivalenceProperties::new(schema), partitioning)
    }

    /// Output of a stage, through the exchange that it ends in.
    pub fn of_stage(stage: StageId, exchange: &ExchangeExec) -> Self {
        let PlanProperties { eq_properties, partitioning, .. } = exchange.properties().as_ref();
        Self::knowing(Leaf::Stage(stage), eq_properties.clone(), partitioning.clone())
    }

    fn knowing(leaf: Leaf, known: EquivalenceProperties, partitioning: Partitioning) -> Self {
        let properties = PlanProperties::new(
            known,
            partitioning,
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { leaf, properties: Arc::new(properties) }
    }

    /// The leaf at this node, if it is one.
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Option<&Leaf> {
        (plan.as_ref() as &dyn Any).downcast_ref::<LeafExec>().map(|exec| &exec.leaf)
    }
}

impl DisplayAs for LeafExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        match &self.leaf {
            Leaf::Table { name, .. } => write!(f, "table {name} [{}]", columns.join(", ")),
            Leaf::Stage(stage) => write!(f, "from stage {stage} [{}]", columns.join(", ")),
        }
    }
}

impl ExecutionPlan for LeafExec {
    fn name(&self) -> &str {
        "LeafExec"
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
        datafusion::common::internal_err!("a stage's leaf must be bound to data before it runs")
    }
}

/// A table of the session as DataFusion's planner sees it.
#[derive(Debug)]
pub struct SessionTable {
    pub table: TableId,
    pub name: String,
    pub schema: SchemaRef,
}

#[async_trait]
impl TableProvider for SessionTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        let leaf = Leaf::Table { table: self.table, name: self.name.clone(), columns };
        let partitioning = Partitioning::UnknownPartitioning(PLANNED_PARTITIONS);
        Ok(Arc::new(LeafExec::new(leaf, schema, partitioning)))
    }
}
