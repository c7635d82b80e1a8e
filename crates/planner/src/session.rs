//! The plan of a session: all its queries, cut into stages that share what they can.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use caudal_core::{QueryId, ShardId, Source, StageId, TableId, limits};
use caudal_protocol::calls::TableNeeds;
use datafusion::error::DataFusionError;

use crate::align::align;
use crate::cut::{CutStage, Cutter};
use crate::error::Error;
use crate::exchanges::make_exchanges_explicit;
use crate::fingerprint::fingerprint_of;
use crate::leaf::Leaf;
use crate::panics;
use crate::region::Region;
use crate::spec::{QuerySpec, SessionSpec, TableSpec, row_field};
use crate::sql::{Distinct, Planned, Sql};
use crate::stage::{Output, Placement, Stage, leaves};
use crate::{Distribution, early, needed_rows};

#[derive(Clone, Debug)]
pub struct SessionPlan {
    pub stages: Vec<Stage>,
    pub queries: Vec<QueryPlan>,
    pub tables: Vec<TablePlan>,
    pub shards: usize,
    /// The same in every process that plans the same session with the same engine.
    pub fingerprint: u128,
}

#[derive(Clone, Debug)]
pub struct QueryPlan {
    pub name: String,
    /// Plan of its answer; or the reason why there is none, which is no obstacle to the other queries: it has no stages.
    pub answer: Result<AnswerPlan, Arc<Error>>,
}

#[derive(Clone, Debug)]
pub struct AnswerPlan {
    /// The stage that answers it.
    pub root: StageId,
    /// Its columns, as a user calls them.
    pub schema: SchemaRef,
}

#[derive(Clone, Debug)]
pub struct TablePlan {
    pub needs: TableNeeds,
    /// The stages that run on each of its fragments. None: the table is not sent at all.
    pub stages: Vec<StageId>,
}

impl SessionPlan {
    pub fn stage(&self, id: StageId) -> &Stage {
        &self.stages[id.index()]
    }

    pub fn query(&self, id: QueryId) -> &QueryPlan {
        &self.queries[id.index()]
    }

    pub fn table(&self, id: TableId) -> &TablePlan {
        &self.tables[id.index()]
    }

    /// The stage that answers a query, unless it is refused.
    pub fn root(&self, query: QueryId) -> Option<StageId> {
        self.query(query).answer.as_ref().ok().map(|answer| answer.root)
    }

    /// The sources of a query's answer: none, if it is refused.
    pub fn sources(&self, query: QueryId) -> Vec<Source> {
        self.root(query).map_or(vec![], |root| self.stage(root).sources(self.shards))
    }

    pub fn shard_ids(&self) -> impl Iterator<Item = ShardId> {
        (0..self.shards).map(ShardId::from)
    }

    /// The shards that receive fragments of a table.
    pub fn shards_reading(&self, table: TableId) -> Vec<ShardId> {
        let stages = &self.table(table).stages;
        self.shard_ids()
            .filter(|shard| stages.iter().any(|stage| self.stage(*stage).sends_to(*shard)))
            .collect()
    }

    /// The queries whose answer comes straight from the fragments of a table.
    pub fn results_reading(&self, table: TableId) -> Vec<QueryId> {
        let outputs = self.table(table).stages.iter().map(|stage| &self.stage(*stage).output);
        outputs
            .filter_map(|output| match output {
                Output::Result(query) => Some(*query),
                Output::Shards { .. } => None,
            })
            .collect()
    }
}

/// Plans every query of a session that can be planned. Fails if there is none.
pub async fn plan(spec: &SessionSpec) -> Result<SessionPlan, Error> {
    plan_telling(spec, |_| {}).await
}

/// The same; says which query it begins with, for the case that it never ends.
pub async fn plan_telling(
    spec: &SessionSpec,
    mut begins: impl FnMut(QueryId),
) -> Result<SessionPlan, Error> {
    #[cfg(debug_assertions)]
    if let Some(plan) = crate::remembered::find(spec) {
        return Ok(plan);
    }
    check_bounds(spec)?;
    let mut cutter = Cutter::default();
    let mut queries = vec![];
    let sql = Sql::new(spec);
    for (index, query) in spec.queries.iter().enumerate() {
        begins(index.into());
        let answer = answer_plan(&sql, &mut cutter, index.into(), query).await;
        queries.push(QueryPlan { name: query.name.clone(), answer: answer.map_err(Arc::new) });
    }
    if !queries.is_empty() && queries.iter().all(|query| query.answer.is_err()) {
        return Err(nothing_left(queries));
    }
    Ok(assemble(spec, cutter.stages, queries))
}

fn nothing_left(queries: Vec<QueryPlan>) -> Error {
    let errors = queries.into_iter().filter_map(|query| query.answer.err());
    let mut errors: Vec<_> = errors.collect();
    match errors.len() {
        1 => Arc::into_inner(errors.remove(0)).expect("nobody else has it yet"),
        _ => Error::Every(errors),
    }
}

async fn answer_plan(
    sql: &Sql<'_>,
    cutter: &mut Cutter,
    id: QueryId,
    query: &QuerySpec,
) -> Result<AnswerPlan, Error> {
    let before = cutter.stages.len();
    let answer = panics::caught(cut_plan(sql, cutter, id, query)).await;
    let answer = answer.unwrap_or_else(|panic| Err(met_the_impossible(query, panic)));
    if answer.is_err() {
        cutter.forget(id, before);
    }
    answer
}

async fn cut_plan(
    sql: &Sql<'_>,
    cutter: &mut Cutter,
    id: QueryId,
    query: &QuerySpec,
) -> Result<AnswerPlan, Error> {
    let planned = explicit_plan(sql, query).await?;
    let schema = planned.schema();
    let root = cutter.add(id, planned.plan).map_err(|source| unsupported(query, source))?;
    Ok(AnswerPlan { root, schema })
}

/// A query that makes planning panic is one that cannot be answered. The others of its session can.
fn met_the_impossible(query: &QuerySpec, panic: String) -> Error {
    Error::NotSupported {
        query: query.name.clone(),
        message: format!("planning it met what should be impossible: {panic}"),
        hint: Some("write it otherwise, and please report it".to_string()),
        at: None,
    }
}

/// The query's plan with all its exchanges. Where remembering distinct values lets it answer while
/// its tables still arrive, they are remembered.
async fn explicit_plan(sql: &Sql<'_>, query: &QuerySpec) -> Result<Planned, Error> {
    let explicit = |Planned { plan, names }| {
        let plan = make_exchanges_explicit(plan).and_then(align);
        let plan = plan.map_err(|source| unsupported(query, source))?;
        Ok(Planned { plan, names })
    };
    if query.sql.to_lowercase().contains("distinct") {
        let plan = explicit(sql.physical_plan(query, Distinct::AsState).await?)?;
        if early::answers_while_tables_arrive(&plan.plan) {
            return Ok(plan);
        }
    }
    explicit(sql.physical_plan(query, Distinct::AsGroups).await?)
}

fn unsupported(query: &QuerySpec, source: DataFusionError) -> Error {
    Error::Unsupported { query: query.name.clone(), source: Box::new(source) }
}

fn check_bounds(spec: &SessionSpec) -> Result<(), Error> {
    let limit = |what, is: usize, max: usize| {
        if is > max { Err(Error::TooMany { what, is, max }) } else { Ok(()) }
    };
    for (index, table) in spec.tables.iter().enumerate() {
        if spec.tables[..index].iter().any(|other| other.name == table.name) {
            return Err(Error::TwoTables { name: table.name.clone() });
        }
    }
    limit("shards", spec.shards, limits::SHARDS_MAX)?;
    limit("queries", spec.queries.len(), limits::QUERIES_MAX)?;
    for query in &spec.queries {
        limit("bytes of SQL", query.sql.len(), limits::SQL_BYTES_MAX)?;
    }
    Ok(())
}

fn assemble(spec: &SessionSpec, cut: Vec<CutStage>, queries: Vec<QueryPlan>) -> SessionPlan {
    let placements = place(&cut, spec.shards);
    let fingerprint = fingerprint_of(spec.shards, &cut);
    let inputs: Vec<_> = cut.iter().map(inputs_of).collect();
    let mut stages = vec![];
    for (index, stage) in cut.into_iter().enumerate() {
        let id = StageId::from(index);
        let output = match stage.distribution {
            None => Output::Result(stage.queries[0]),
            Some(distribution) => {
                let to = destinations(id, &distribution, &inputs, &placements, spec.shards);
                Output::Shards { distribution, to }
            }
        };
        let early = early::find(&stage.plan, &output)
            .filter(|early| matches!(placements[early.growing.index()], Placement::Map { .. }));
        stages.push(Stage {
            id,
            plan: stage.plan,
            placement: placements[index].clone(),
            inputs: inputs[index].clone(),
            output,
            queries: stage.queries,
            early,
        });
    }
    let tables = spec.tables.iter().enumerate();
    let tables = tables.map(|(index, table)| needs_of(index.into(), table, &stages)).collect();
    SessionPlan { stages, queries, tables, shards: spec.shards, fingerprint }
}

/// Single stages take the shards in turn, so that they do not all meet in the first one.
fn place(cut: &[CutStage], shards: usize) -> Vec<Placement> {
    let mut turn = (0..shards).cycle();
    cut.iter()
        .map(|stage| match stage.region {
            Region::Tables => Placement::Map { tables: tables_of(stage) },
            Region::Sharded => Placement::EveryShard,
            Region::Single => Placement::OneShard(turn.next().unwrap_or(0).into()),
        })
        .collect()
}

fn tables_of(stage: &CutStage) -> Vec<TableId> {
    let tables: BTreeSet<_> = leaves(&stage.plan)
        .into_iter()
        .filter_map(|leaf| match leaf {
            Leaf::Table { table, .. } => Some(table),
            Leaf::Stage(_) => None,
        })
        .collect();
    tables.into_iter().collect()
}

fn inputs_of(stage: &CutStage) -> Vec<StageId> {
    let inputs: BTreeSet<_> = leaves(&stage.plan)
        .into_iter()
        .filter_map(|leaf| match leaf {
            Leaf::Stage(input) => Some(input),
            Leaf::Table { .. } => None,
        })
        .collect();
    inputs.into_iter().collect()
}

/// Gathered rows go where their readers live; any others may be needed by every shard.
fn destinations(
    stage: StageId,
    distribution: &Distribution,
    inputs: &[Vec<StageId>],
    placements: &[Placement],
    shards: usize,
) -> Vec<ShardId> {
    if !matches!(distribution, Distribution::Gather) {
        return (0..shards).map(ShardId::from).collect();
    }
    let readers = inputs.iter().zip(placements).filter(|(inputs, _)| inputs.contains(&stage));
    let homes: BTreeSet<_> = readers
        .filter_map(|(_, placement)| match placement {
            Placement::OneShard(home) => Some(*home),
            Placement::EveryShard | Placement::Map { .. } => None,
        })
        .collect();
    homes.into_iter().collect()
}

fn needs_of(table: TableId, spec: &TableSpec, stages: &[Stage]) -> TablePlan {
    let mut columns = BTreeSet::new();
    let mut readers = vec![];
    for stage in stages {
        let before = readers.len();
        for leaf in leaves(&stage.plan) {
            if let Leaf::Table { table: read, columns: needed, .. } = leaf
                && read == table
            {
                columns.extend(needed);
                readers.truncate(before);
                readers.push(stage.id);
            }
        }
    }
    let columns: Vec<_> = columns.into_iter().collect();
    let mut fields: Vec<_> = spec.schema.fields().iter().cloned().collect();
    fields.push(row_field());
    let schema = Schema::new(columns.iter().map(|at| fields[*at].clone()).collect::<Vec<_>>());
    let (name, needed) = (spec.name.clone(), !readers.is_empty());
    let rows = needed_rows::of_table(table, spec.schema.fields().len(), stages);
    TablePlan {
        needs: TableNeeds { name, needed, columns, schema: Arc::new(schema), rows },
        stages: readers,
    }
}
