//! Pass: from SQL to DataFusion's physical plan, over the session's tables.
//!
//! Only a SELECT without volatile functions is accepted: its answer depends on its tables alone, so
//! any part of it can be computed again. `now()` is the time the session started.

use std::sync::{Arc, OnceLock};

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ParamValues;
use datafusion::common::config::Dialect;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::context::SQLOptions;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::bounds::{self, BoundedFunctions};
use crate::casts::KeptCasts;
use crate::checked::{CheckedArithmetic, CheckedConstants};
use crate::constant_filters;
use crate::dependencies::{self, ForgetDependencies};
use crate::diagnose::Diagnose;
use crate::distinct::DistinctAsGroups;
use crate::error::Error;
use crate::exact_times;
use crate::float_groups;
use crate::leaf::{PLANNED_PARTITIONS, SessionTable};
use crate::literals;
use crate::logical;
use crate::materialized;
use crate::names::{self, Naming, Outputs};
use crate::nans::OneNan;
use crate::null_keys;
use crate::optional_sides;
use crate::rewrite;
use crate::signed::SignedDifferences;
use crate::spec::{QuerySpec, ROW_COLUMN, SessionSpec, TableSpec, row_field, scalar};
use crate::text;
use crate::times;
use crate::zeros;

/// DataFusion, set up so that its plans can be cut.
pub struct Sql<'a> {
    spec: &'a SessionSpec,
    plain: OnceLock<SessionState>,
    with_rows: OnceLock<SessionState>,
}

/// Plan of `count(DISTINCT x)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// As two aggregates on top of each other, which is fast; the second sees nothing until the
    /// first is complete.
    AsGroups,
    /// As one aggregate that remembers all values, which can be asked at any time.
    AsState,
}

impl<'a> Sql<'a> {
    pub fn new(spec: &'a SessionSpec) -> Self {
        Self { spec, plain: OnceLock::new(), with_rows: OnceLock::new() }
    }

    /// The state to plan a query with, made when it is first needed.
    fn state(&self, query: &QuerySpec, distinct: Distinct) -> SessionState {
        let with_row = names_row_column(&query.sql);
        let made = if with_row { &self.with_rows } else { &self.plain };
        let tables = || self.spec.tables.iter().map(|table| visible(table, with_row));
        let state = made.get_or_init(|| state(tables())).clone();
        match distinct {
            Distinct::AsGroups => state,
            Distinct::AsState => without_rule(state, DISTINCT_AS_GROUPS),
        }
    }

    fn statement(
        &self,
        query: &QuerySpec,
        diagnose: &Diagnose<'_>,
        naming: Naming,
    ) -> Result<(Statement, Outputs), Error> {
        let mut statement = diagnose
            .state
            .sql_to_statement(&materialized::without(&query.sql), &Dialect::Generic)
            .map_err(|error| diagnose.syntax(error))?;
        refuse_statements(query, &statement)?;
        rewrite::reading(query, &mut statement)?;
        let with_row = names_row_column(&query.sql);
        let names = names::resolve(&mut statement, self.spec, query, with_row, naming)?;
        Ok((statement, names))
    }

    /// Its outputs are named by their places only where it cannot be planned otherwise; what is wrong then is what was first.
    pub async fn physical_plan(
        &self,
        query: &QuerySpec,
        distinct: Distinct,
    ) -> Result<Planned, Error> {
        text::check(query)?;
        match self.planned(query, distinct, Naming::AsWritten).await {
            Err(first) if may_be_of_names(&first) => {
                self.planned(query, distinct, Naming::ByPlace).await.map_err(|_| first)
            }
            done => done,
        }
    }

    async fn planned(
        &self,
        query: &QuerySpec,
        distinct: Distinct,
        naming: Naming,
    ) -> Result<Planned, Error> {
        let mut state = self.state(query, distinct);
        // Aliases are numbered from here, so that equal parts of different queries get equal names.
        *state.execution_props_mut() =
            ExecutionProps::new().with_query_execution_start_time(self.spec.started);
        let diagnose = Diagnose { query, state: &state };
        let (mut statement, names) = self.statement(query, &diagnose, naming)?;
        if let Statement::Statement(inner) = &mut statement {
            literals::keep_exact(inner).map_err(|place| diagnose.too_long(place))?;
        }
        rewrite::computing(&mut statement);
        rewrite::joins(query, &state, &mut statement).await?;
        rewrite::aggregates(&state, &mut statement);
        rewrite::recursions(query, &state, &statement).await?;
        let plan = state
            .statement_to_plan(statement.clone())
            .await
            .map_err(|error| diagnose.planning(error, &statement))?;
        let only_reads = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        only_reads
            .verify_plan(&plan)
            .map_err(|_| not_a_select(query, "a statement that writes"))?;
        let plan = bind_params(query, plan, &diagnose, &statement)?;
        refuse_volatile(query, &plan)?;
        let invalid = |error| diagnose.planning(error, &statement);
        let plan = logical::rewrite(query, plan, invalid)?;
        let mut planner = state.clone();
        if logical::compares_nulls(&plan) {
            planner = without_rule(planner, FLATTENS_JOINS);
            *planner.execution_props_mut() = state.execution_props().clone();
        }
        let plan = planner
            .create_physical_plan(&plan)
            .await
            .and_then(bounds::with_small_constants)
            .map_err(|error| diagnose.planning(error, &statement))?;
        Ok(Planned { plan, names })
    }
}

/// A query with the exact names of all that it means, as DataFusion alone would understand it, and what a user
/// calls the columns of its answer.
pub fn statement(spec: &SessionSpec, query: &QuerySpec) -> Result<(Statement, Outputs), Error> {
    let sql = Sql::new(spec);
    let state = sql.state(query, Distinct::AsGroups);
    sql.statement(query, &Diagnose { query, state: &state }, Naming::AsWritten)
}

/// Whether an error may be one of the names that DataFusion gives.
fn may_be_of_names(error: &Error) -> bool {
    matches!(
        error,
        Error::Invalid { .. }
            | Error::Mistake { .. }
            | Error::NotSupported { .. }
            | Error::UnknownColumn { .. }
    )
}

/// A query's plan, and what a user calls the columns of its answer.
pub struct Planned {
    pub plan: Arc<dyn ExecutionPlan>,
    pub names: Outputs,
}

impl Planned {
    /// The answer's columns under the names that a user sees: those of the plan stay as they are, so that
    /// equal parts of different queries stay equal.
    pub fn schema(&self) -> SchemaRef {
        named(self.plan.schema(), &self.names)
    }
}

/// Columns under the names that a user sees.
pub fn named(planned: SchemaRef, names: &Outputs) -> SchemaRef {
    let fields = planned.fields();
    match names {
        Some(names) if names.len() == fields.len() => {
            let named = fields.iter().zip(names);
            let named = named.map(|(field, name)| field.as_ref().clone().with_name(name));
            Arc::new(Schema::new(named.collect::<Vec<_>>()))
        }
        _ => planned,
    }
}

pub(crate) fn state(tables: impl Iterator<Item = SessionTable>) -> SessionState {
    let mut context = SessionContext::new_with_config(config());
    caudal_functions::register(&context);
    context
        .register_function_rewrite(Arc::new(SignedDifferences))
        .and_then(|()| context.register_expr_planner(Arc::new(CheckedConstants)))
        .and_then(|()| context.register_relation_planner(Arc::new(dependencies::Relations)))
        .expect("a fresh context takes every rewrite");
    context.add_analyzer_rule(Arc::new(CheckedArithmetic));
    context.add_analyzer_rule(Arc::new(literals::NearestFloats));
    context.add_analyzer_rule(Arc::new(OneNan));
    context.add_analyzer_rule(Arc::new(ForgetDependencies));
    context.add_analyzer_rule(Arc::new(times::AsText));
    context.add_analyzer_rule(Arc::new(KeptCasts));
    context.add_analyzer_rule(Arc::new(BoundedFunctions));
    for (index, mut table) in tables.enumerate() {
        table.table = index.into();
        let name = datafusion::common::TableReference::bare(table.name.clone());
        context
            .register_table(name, Arc::new(table))
            .expect("a fresh catalog takes every table once");
    }
    let state = constant_filters::guarded(zeros::guarded(context.state()));
    let state = exact_times::added(with_distinct_as_groups(state));
    let state = null_keys::guarded(without_physical_pushdown(state));
    optional_sides::guarded(float_groups::guarded(dependencies::guarded(state)))
}

fn with_distinct_as_groups(state: SessionState) -> SessionState {
    let mut rules = state.optimizers().to_vec();
    for rule in rules.iter_mut().filter(|rule| rule.name() == DISTINCT_AS_GROUPS) {
        *rule = Arc::new(DistinctAsGroups::default());
    }
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

/// DataFusion's rule that pushes filters down once more, among operators. It looks columns up by name: of two that a join has it takes
/// the wrong one, and filters the other side. Where filters belong is settled before, in the logical plan.
fn without_physical_pushdown(state: SessionState) -> SessionState {
    let rules = state.physical_optimizers().iter();
    let rules: Vec<_> =
        rules.filter(|rule| !rule.name().starts_with("FilterPushdown")).cloned().collect();
    debug_assert!(rules.len() < state.physical_optimizers().len(), "it is a rule");
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build()
}

/// DataFusion's rule that makes groups of distinct values.
const DISTINCT_AS_GROUPS: &str = "single_distinct_aggregation_to_group_by";

/// DataFusion's rule that puts inner joins in another order.
const FLATTENS_JOINS: &str = "eliminate_cross_join";

fn without_rule(state: SessionState, name: &str) -> SessionState {
    let rules = state.optimizers().iter();
    let rules: Vec<_> = rules.filter(|rule| rule.name() != name).cloned().collect();
    debug_assert!(rules.len() < state.optimizers().len(), "{name} is a rule");
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

/// Settings by which DataFusion's plans can be cut (each line a trap that others fell into).
fn config() -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_target_partitions(PLANNED_PARTITIONS)
        .with_information_schema(false)
        .with_round_robin_repartition(false);
    let options = config.options_mut();
    options.sql_parser.collect_spans = true;
    // Joins are divided by key; which side builds is decided when both have been gathered.
    options.optimizer.hash_join_single_partition_threshold = 0;
    options.optimizer.hash_join_single_partition_threshold_rows = 0;
    // A filter that fills while its query runs cannot cross from one stage to another.
    options.optimizer.enable_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // Both give wrong rows: the first keeps the k largest groups although a window or another expression of the same name is
    // above them, and does not find NaN equal to itself; the second adds up the frames of one of two windows only.
    options.optimizer.enable_topk_aggregation = false;
    options.optimizer.enable_window_limits = false;
    // Scalar subqueries become joins, whose sides are stages like any other.
    options.optimizer.enable_physical_uncorrelated_scalar_subquery = false;
    config
}

fn visible(table: &TableSpec, with_row: bool) -> SessionTable {
    let mut fields: Vec<_> = table.schema.fields().iter().cloned().collect();
    if with_row {
        fields.push(row_field());
    }
    SessionTable {
        table: 0.into(),
        name: table.name.clone(),
        schema: Arc::new(Schema::new(fields)),
    }
}

/// The hidden column is there for the queries that name it, so that `*` means what is in the file.
fn names_row_column(sql: &str) -> bool {
    // What cannot be tokenised is refused by the parser.
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    tokens.iter().any(|token| match token {
        Token::Word(word) => word.value.eq_ignore_ascii_case(ROW_COLUMN),
        _ => false,
    })
}

fn refuse_statements(query: &QuerySpec, statement: &Statement) -> Result<(), Error> {
    match statement {
        Statement::Statement(inner) => match inner.as_ref() {
            ast::Statement::Query(_) => Ok(()),
            other => Err(not_a_select(query, &first_word(&other.to_string()))),
        },
        other => Err(not_a_select(query, &first_word(&other.to_string()))),
    }
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or("nothing").to_uppercase()
}

fn not_a_select(query: &QuerySpec, statement: &str) -> Error {
    Error::NotSelect { query: query.name.clone(), statement: statement.to_string() }
}

fn bind_params(
    query: &QuerySpec,
    plan: LogicalPlan,
    diagnose: &Diagnose<'_>,
    statement: &Statement,
) -> Result<LogicalPlan, Error> {
    let invalid = |error| diagnose.planning(error, statement);
    let needed = plan.get_parameter_names().map_err(invalid)?;
    let mut values: Vec<(String, ScalarValue)> = vec![];
    for placeholder in needed {
        let name = placeholder.trim_start_matches('$');
        let Some((_, value)) = query.params.iter().find(|(known, _)| known == name) else {
            return Err(Error::MissingParam { query: query.name.clone(), name: name.to_string() });
        };
        values.push((name.to_string(), scalar(value)));
    }
    if values.is_empty() {
        return Ok(plan);
    }
    plan.with_param_values(ParamValues::from(values)).map_err(invalid)
}

fn refuse_volatile(query: &QuerySpec, plan: &LogicalPlan) -> Result<(), Error> {
    let mut found = None;
    let walked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if part.is_volatile_node() {
                    found = Some(function_name(part));
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    debug_assert!(walked.is_ok(), "the walk's closures never fail");
    match found {
        Some(function) => Err(Error::Volatile { query: query.name.clone(), function }),
        None => Ok(()),
    }
}

fn function_name(expression: &Expr) -> String {
    match expression {
        Expr::ScalarFunction(call) => format!("{}()", call.name()),
        other => other.to_string(),
    }
}
