//! A session's plan in one number, the same in every process.
//!
//! It is made of all there is to [tell](crate::identity) stages apart: their bytes, and a text. DataFusion's own
//! display leaves out the types of literals and columns (`1` may be a number or a text), so they are added.

use std::any::Any;
use std::fmt::{self, Write};
use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use xxhash_rust::xxh3::Xxh3;

use crate::cut::CutStage;

/// A complete description of a plan, one operator a line.
pub fn text_of(plan: &Arc<dyn ExecutionPlan>) -> String {
    let mut text = String::new();
    write_node(plan, 0, &mut text).expect("writing to a string cannot fail");
    text
}

/// The fingerprint of a session that is divided over so many shards.
pub fn fingerprint_of(shards: usize, stages: &[CutStage]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&shards.to_le_bytes());
    for stage in stages {
        let destination = match stage.distribution {
            Some(_) => None,
            // In the identity of any other stage it is part of the plan.
            None => Some(stage.queries[0]),
        };
        hash.update(format!("{destination:?}").as_bytes());
        for part in stage.identity.digest() {
            hash.update(&part.len().to_le_bytes());
            hash.update(part);
        }
    }
    hash.digest128()
}

fn write_node(plan: &Arc<dyn ExecutionPlan>, depth: usize, text: &mut String) -> fmt::Result {
    write!(text, "{:depth$}{} ", "", Line(plan.as_ref()))?;
    for field in plan.schema().fields() {
        write!(text, "|{} {:?} {}", field.name(), field.data_type(), field.is_nullable())?;
    }
    // The walk itself cannot fail: its closure never does.
    let _ = plan.apply_expressions(&mut |expression| {
        write_literals(expression, text);
        Ok(TreeNodeRecursion::Continue)
    });
    text.push('\n');
    for child in plan.children() {
        write_node(child, depth + 1, text)?;
    }
    Ok(())
}

fn write_literals(expression: &Arc<dyn PhysicalExpr>, text: &mut String) {
    let _ = expression.apply(|node| {
        if let Some(literal) = (node.as_ref() as &dyn Any).downcast_ref::<Literal>() {
            let _ = write!(text, "|{:?}", literal.value());
        }
        Ok(TreeNodeRecursion::Continue)
    });
}

/// One operator, without its inputs.
pub struct Line<'a>(pub &'a dyn ExecutionPlan);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_as(DisplayFormatType::Verbose, f)
    }
}
