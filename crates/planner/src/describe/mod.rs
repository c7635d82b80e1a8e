//! A session's stages for people: in words, and as graphs.

mod graph;
mod words;

use std::fmt::Write;

use caudal_core::StageId;
use caudal_protocol::calls::TableNeeds;
use datafusion::physical_plan::displayable;

use crate::session::SessionPlan;
use crate::stage::{Output, Placement, Stage};

pub use graph::{dot, mermaid};

/// Every stage in words: what it reads, what it does, where its rows go.
pub fn text(plan: &SessionPlan) -> String {
    render(plan, words::tree)
}

/// Every stage as the operators that run it.
pub fn operators(plan: &SessionPlan) -> String {
    render(plan, |stage| displayable(stage.plan.as_ref()).indent(false).to_string())
}

fn render(plan: &SessionPlan, body: impl Fn(&Stage) -> String) -> String {
    let mut text = String::new();
    let queries: Vec<_> = plan.queries.iter().map(|query| query.name.as_str()).collect();
    let _ = writeln!(
        text,
        "{} in {} stages over {} shards, plan {:032x}\n",
        queries.join(", "),
        plan.stages.len(),
        plan.shards,
        plan.fingerprint
    );
    for (query, error) in plan.queries.iter().filter_map(|q| Some((q, q.answer.as_ref().err()?))) {
        let _ = writeln!(text, "query {}: refused ({error})", query.name);
    }
    for TableNeeds { name, needed, schema, .. } in plan.tables.iter().map(|table| &table.needs) {
        let columns: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        let _ = match (needed, columns.is_empty()) {
            (false, _) => writeln!(text, "table {name}: not needed, not sent"),
            (true, true) => writeln!(text, "table {name}: only its rows are counted"),
            (true, false) => writeln!(text, "table {name}: sends {}", columns.join(", ")),
        };
    }
    for stage in &plan.stages {
        let _ = writeln!(text, "\n{}  {}", stage.id, headline(plan, stage));
        for line in body(stage).lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// `map reviews, then by hash of app_id to s4 (q3, q5)`
fn headline(plan: &SessionPlan, stage: &Stage) -> String {
    let names: Vec<_> =
        stage.queries.iter().map(|query| plan.query(*query).name.as_str()).collect();
    format!("{}, then {} ({})", place(plan, stage), destination(plan, stage), names.join(", "))
}

fn place(plan: &SessionPlan, stage: &Stage) -> String {
    match &stage.placement {
        Placement::Map { tables } => {
            let names: Vec<_> =
                tables.iter().map(|table| plan.table(*table).needs.name.as_str()).collect();
            format!("map {}", names.join(", "))
        }
        Placement::EveryShard => "every shard".to_string(),
        Placement::OneShard(shard) => format!("shard {shard}"),
    }
}

fn destination(plan: &SessionPlan, stage: &Stage) -> String {
    match &stage.output {
        Output::Result(query) => {
            let early = if stage.early.is_some() { ", rows as soon as they are known" } else { "" };
            format!("answer {}{early}", plan.query(*query).name)
        }
        Output::Shards { distribution, .. } => {
            let readers: Vec<_> =
                readers(plan, stage.id).map(|stage| stage.id.to_string()).collect();
            format!("{} for {}", words::plain(&distribution.to_string()), readers.join(", "))
        }
    }
}

fn readers(plan: &SessionPlan, stage: StageId) -> impl Iterator<Item = &Stage> {
    plan.stages.iter().filter(move |reader| reader.inputs.contains(&stage))
}
