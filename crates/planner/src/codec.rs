//! Plans as bytes from which they can be made again: DataFusion's protobuf, with our leaves and exchanges as
//! extensions.
//!
//! Nothing in production decodes a plan (every process makes its own from the SQL). That it can be done is what
//! makes the bytes fit to tell plans apart: what they leave out, no reader could restore.

use std::sync::Arc;

use arrow::datatypes::Schema;
use caudal_core::{StageId, TableId};
use datafusion::common::{internal_datafusion_err, internal_err, not_impl_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_proto_converter,
};
use datafusion_proto::physical_plan::from_proto::parse_protobuf_partitioning;
use datafusion_proto::physical_plan::to_proto::{
    serialize_partitioning, serialize_physical_expr_with_converter,
};
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalPlanNodeExt,
    PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf;
use prost::Message;

use crate::exchange::{Distribution, ExchangeExec};
use crate::leaf::{Leaf, LeafExec};
use crate::optional_sides::ForgetConstantsExec;

/// The plan as bytes; an error for an operator that the protobuf does not know.
pub fn encode(plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<u8>> {
    let bytes = physical_plan_to_bytes_with_proto_converter(Arc::clone(plan), &Codec, &Converter)?;
    Ok(bytes.to_vec())
}

/// The plan that was encoded, with the functions that the context knows.
pub fn decode(bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn ExecutionPlan>> {
    physical_plan_from_bytes_with_extension_codec(bytes, context, &Codec)
}

#[derive(Debug)]
struct Codec;

/// DataFusion's, but for the numbers of expressions: each process counts from another one, and of those that are
/// numbered (the filter that a top-k fills while it runs) no other operator of a stage knows.
struct Converter;

impl PhysicalProtoConverterExtension for Converter {
    fn physical_expr_to_proto(
        &self,
        expression: &Arc<dyn PhysicalExpr>,
        codec: &dyn PhysicalExtensionCodec,
    ) -> Result<protobuf::PhysicalExprNode> {
        let mut node = serialize_physical_expr_with_converter(expression, codec, self)?;
        node.expr_id = node.expr_id.map(|_| 0);
        Ok(node)
    }

    fn execution_plan_to_proto(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        codec: &dyn PhysicalExtensionCodec,
    ) -> Result<protobuf::PhysicalPlanNode> {
        let plan = Arc::clone(plan);
        protobuf::PhysicalPlanNode::try_from_physical_plan_with_converter(plan, codec, self)
    }

    fn proto_to_execution_plan(
        &self,
        plan: &protobuf::PhysicalPlanNode,
        context: &PhysicalPlanDecodeContext<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.default_proto_to_execution_plan(plan, context)
    }

    fn proto_to_physical_expr(
        &self,
        expression: &protobuf::PhysicalExprNode,
        schema: &Schema,
        context: &PhysicalPlanDecodeContext<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.default_proto_to_physical_expr(expression, schema, context)
    }
}

/// A node of ours.
#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(message, optional, tag = "1")]
    schema: Option<protobuf::Schema>,
    #[prost(message, optional, tag = "2")]
    partitioning: Option<protobuf::Partitioning>,
    #[prost(oneof = "Kind", tags = "3, 4, 5, 6")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(message, tag = "3")]
    Table(TableNode),
    /// Output of the stage of this number.
    #[prost(uint64, tag = "4")]
    Stage(u64),
    #[prost(enumeration = "ExchangeKind", tag = "5")]
    Exchange(i32),
    /// A cover over the optional side of a join.
    #[prost(bool, tag = "6")]
    ForgetConstants(bool),
}

#[derive(Clone, PartialEq, Message)]
struct TableNode {
    #[prost(uint64, tag = "1")]
    table: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(uint64, repeated, tag = "3")]
    columns: Vec<u64>,
}

/// The keys of a hash are in its partitioning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
enum ExchangeKind {
    Hash = 0,
    Gather = 1,
    Broadcast = 2,
    Spread = 3,
}

impl From<&Leaf> for Kind {
    fn from(leaf: &Leaf) -> Self {
        match leaf {
            Leaf::Table { table, name, columns } => Kind::Table(TableNode {
                table: table.index() as u64,
                name: name.clone(),
                columns: columns.iter().map(|column| *column as u64).collect(),
            }),
            Leaf::Stage(stage) => Kind::Stage(stage.index() as u64),
        }
    }
}

impl From<&Distribution> for Kind {
    fn from(distribution: &Distribution) -> Self {
        let kind = match distribution {
            Distribution::Hash(_) => ExchangeKind::Hash,
            Distribution::Gather => ExchangeKind::Gather,
            Distribution::Broadcast => ExchangeKind::Broadcast,
            Distribution::Spread => ExchangeKind::Spread,
        };
        Kind::Exchange(kind.into())
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_encode(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        buffer: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let kind = if let Some(leaf) = LeafExec::of(&plan) {
            Kind::from(leaf)
        } else if let Some(exchange) = ExchangeExec::at(&plan) {
            Kind::from(&exchange.distribution)
        } else if ForgetConstantsExec::below(&plan).is_some() {
            Kind::ForgetConstants(true)
        } else {
            return not_impl_err!("{} cannot be serialised", plan.name());
        };
        let partitioning = &plan.properties().partitioning;
        let node = Node {
            schema: Some(plan.schema().as_ref().try_into()?),
            partitioning: Some(serialize_partitioning(partitioning, self, converter)?),
            kind: Some(kind),
        };
        node.encode(buffer).map_err(|error| DataFusionError::External(Box::new(error)))
    }

    fn try_decode(
        &self,
        buffer: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let node =
            Node::decode(buffer).map_err(|error| DataFusionError::External(Box::new(error)))?;
        let missing = |what: &str| internal_datafusion_err!("a node without {what}");
        let schema: Schema = node.schema.as_ref().ok_or_else(|| missing("schema"))?.try_into()?;
        let context = PhysicalPlanDecodeContext::new(context, self);
        let partitioning =
            parse_protobuf_partitioning(node.partitioning.as_ref(), &context, &schema, converter)?
                .ok_or_else(|| missing("partitioning"))?;
        let leaf = match node.kind.ok_or_else(|| missing("kind"))? {
            Kind::Table(TableNode { table, name, columns }) => Leaf::Table {
                table: TableId::from(table as usize),
                name,
                columns: columns.into_iter().map(|column| column as usize).collect(),
            },
            Kind::Stage(stage) => Leaf::Stage(StageId::from(stage as usize)),
            Kind::ForgetConstants(keeps_order) => {
                let [input] = inputs else { return internal_err!("a cover has one input") };
                return Ok(ForgetConstantsExec::over(Arc::clone(input), keeps_order));
            }
            Kind::Exchange(kind) => {
                let [input] = inputs else { return internal_err!("an exchange has one input") };
                let distribution = match (ExchangeKind::try_from(kind), partitioning) {
                    (
                        Ok(ExchangeKind::Hash),
                        datafusion::physical_expr::Partitioning::Hash(keys, _),
                    ) => Distribution::Hash(keys),
                    (Ok(ExchangeKind::Gather), _) => Distribution::Gather,
                    (Ok(ExchangeKind::Broadcast), _) => Distribution::Broadcast,
                    (Ok(ExchangeKind::Spread), _) => Distribution::Spread,
                    _ => return internal_err!("no exchange is of kind {kind}"),
                };
                return Ok(Arc::new(ExchangeExec::new(Arc::clone(input), distribution)));
            }
        };
        Ok(Arc::new(LeafExec::new(leaf, Arc::new(schema), partitioning)))
    }
}
