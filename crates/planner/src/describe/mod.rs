//! A session's stages for people: in words, and as graphs.

mod graph;
mod words;

use std::fmt::Write;

use caudal_core::StageId;
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
    for table in &plan.tables {
        let columns: Vec<_> = table.schema.fields().iter().map(|f| f.name().as_str()).collect();
        let _ = match (table.stages.is_empty(), columns.is_empty()) {
            (true, _) => writeln!(text, "table {}: not needed, not sent", table.name),
            (false, true) => writeln!(text, "table {}: only its rows are counted", table.name),
            (false, false) => writeln!(text, "table {}: sends {}", table.name, columns.join(", ")),
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
                tables.iter().map(|table| plan.table(*table).name.as_str()).collect();
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
