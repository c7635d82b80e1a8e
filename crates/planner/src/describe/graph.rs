//! Stages as a graph: Mermaid for Markdown pages, DOT for Graphviz.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;

use super::{place, words};
use crate::optional_sides::ForgetConstantsExec;
use crate::session::SessionPlan;
use crate::stage::{Output, Placement, Stage};

pub fn mermaid(plan: &SessionPlan) -> String {
    let mut text = "flowchart LR\n".to_string();
    for (index, table) in plan.tables.iter().enumerate().filter(|(_, t)| t.needs.needed) {
        let _ = writeln!(text, "  t{index}[(\"{}\")]", table.needs.name);
    }
    for stage in &plan.stages {
        let label = label(plan, stage).join("<br/>").replace('"', "'");
        let _ = writeln!(text, "  {}[\"{label}\"]", stage.id);
    }
    for edge in edges(plan) {
        let _ = match edge.label.is_empty() {
            true => writeln!(text, "  {} --> {}", edge.from, edge.to),
            false => {
                writeln!(
                    text,
                    "  {} -->|\"{}\"| {}",
                    edge.from,
                    edge.label.replace('"', "'"),
                    edge.to
                )
            }
        };
    }
    for (index, query) in plan.queries.iter().enumerate() {
        let _ = writeln!(text, "  a{index}([\"{}\"])", query.name);
    }
    text
}

pub fn dot(plan: &SessionPlan) -> String {
    let mut text =
        "digraph caudal {\n  rankdir=LR;\n  node [shape=box, fontname=Helvetica];\n".to_string();
    for (index, table) in plan.tables.iter().enumerate().filter(|(_, t)| t.needs.needed) {
        let _ = writeln!(text, "  t{index} [shape=cylinder, label={:?}];", table.needs.name);
    }
    for stage in &plan.stages {
        let _ = writeln!(text, "  {} [label={:?}];", stage.id, label(plan, stage).join("\n"));
    }
    for (index, query) in plan.queries.iter().enumerate() {
        let _ = writeln!(text, "  a{index} [shape=ellipse, label={:?}];", query.name);
    }
    for edge in edges(plan) {
        let _ = writeln!(text, "  {} -> {} [label={:?}];", edge.from, edge.to, edge.label);
    }
    text.push_str("}\n");
    text
}

struct Edge {
    from: String,
    to: String,
    label: String,
}

fn edges(plan: &SessionPlan) -> Vec<Edge> {
    let mut edges = vec![];
    for stage in &plan.stages {
        let to = stage.id.to_string();
        if let Placement::Map { tables } = &stage.placement {
            let from = tables.iter().map(|table| format!("t{}", table.0));
            edges.extend(from.map(|from| Edge { from, to: to.clone(), label: String::new() }));
        }
        for input in &stage.inputs {
            let label = match &plan.stage(*input).output {
                Output::Shards { distribution, .. } => words::plain(&distribution.to_string()),
                Output::Result(_) => String::new(),
            };
            edges.push(Edge { from: input.to_string(), to: to.clone(), label });
        }
        if let Output::Result(query) = stage.output {
            let label = if stage.early.is_some() { "as known".into() } else { String::new() };
            edges.push(Edge { from: to, to: format!("a{}", query.0), label });
        }
    }
    edges
}

/// Label of a stage: its steps, in the order in which it takes them.
fn label(plan: &SessionPlan, stage: &Stage) -> Vec<String> {
    let mut steps = vec![];
    collect(&stage.plan, &mut steps);
    steps.retain(|step| step != "read" && step != "take");
    steps.dedup();
    let mut label = vec![format!("{} {}", stage.id, place(plan, stage))];
    label.extend(steps);
    label
}

fn collect(plan: &Arc<dyn ExecutionPlan>, steps: &mut Vec<String>) {
    for child in plan.children() {
        collect(child, steps);
    }
    if ForgetConstantsExec::below(plan).is_none() {
        steps.push(words::name(plan));
    }
}
