//! Operators as a person would name them.

use std::any::Any;
use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};

use crate::fingerprint::Line;
use crate::leaf::{Leaf, LeafExec};
use crate::optional_sides::ForgetConstantsExec;
use crate::stage::Stage;

/// A stage's operators, the last one first, each input indented below.
pub fn tree(stage: &Stage) -> String {
    let mut lines = vec![];
    add(&stage.plan, 0, &mut lines);
    lines.join("\n")
}

fn add(node: &Arc<dyn ExecutionPlan>, depth: usize, lines: &mut Vec<String>) {
    // It does nothing to the rows.
    if let Some(below) = ForgetConstantsExec::below(node) {
        return add(below, depth, lines);
    }
    lines.push(format!("{}{}", "  ".repeat(depth), phrase(node)));
    for child in node.children() {
        add(child, depth + 1, lines);
    }
}

/// One operator in a few words: `filter review_score = 1`.
pub fn phrase(node: &Arc<dyn ExecutionPlan>) -> String {
    let (name, detail) = name_and_detail(node);
    if detail.is_empty() { name } else { format!("{name} {}", plain(&detail)) }
}

/// The operator's name alone: `partial aggregate`.
pub fn name(node: &Arc<dyn ExecutionPlan>) -> String {
    name_and_detail(node).0
}

fn name_and_detail(plan: &Arc<dyn ExecutionPlan>) -> (String, String) {
    let node = plan.as_ref() as &dyn Any;
    let named = |name: &str, detail: String| (name.to_string(), detail);
    if let Some(leaf) = LeafExec::of(plan) {
        let columns = list(plan.schema().fields().iter().map(|field| field.name().clone()));
        return match leaf {
            Leaf::Table { name, .. } if columns.is_empty() => {
                named("count the rows of", name.clone())
            }
            Leaf::Table { name, .. } => named("read", format!("{columns} of {name}")),
            Leaf::Stage(stage) => named("take", format!("{columns} from {stage}")),
        };
    }
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        return named("filter", filter.predicate().to_string());
    }
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        let columns = projection.expr().iter().map(|column| {
            let expression = plain(&column.expr.to_string());
            if expression == column.alias {
                expression
            } else {
                format!("{expression} as {}", column.alias)
            }
        });
        return named("project", list(columns));
    }
    if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        return aggregate_words(aggregate);
    }
    if let Some(sort) = node.downcast_ref::<SortExec>() {
        return match sort.fetch() {
            Some(rows) => named(&format!("top {rows}"), format!("by {}", sort.expr())),
            None => named("sort", format!("by {}", sort.expr())),
        };
    }
    if node.is::<BoundedWindowAggExec>() || node.is::<WindowAggExec>() {
        return named("window", after_colon(plan));
    }
    if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
        return limit_words(limit.skip(), limit.fetch());
    }
    if let Some(limit) = node.downcast_ref::<LocalLimitExec>() {
        return limit_words(0, Some(limit.fetch()));
    }
    join_words(plan).unwrap_or_else(|| {
        let name = plan.name().trim_end_matches("Exec").to_lowercase();
        match name.as_str() {
            "placeholderrow" => named("one row", String::new()),
            "empty" => named("no rows", String::new()),
            "datasource" => named("values", String::new()),
            "recursivequery" => named("repeat until nothing is new", String::new()),
            "worktable" => named("what the last round added", String::new()),
            _ => named(&name, after_colon(plan)),
        }
    })
}

fn aggregate_words(aggregate: &AggregateExec) -> (String, String) {
    let keys = list(aggregate.group_expr().expr().iter().map(|(_, name)| name.clone()));
    let values = list(aggregate.aggr_expr().iter().map(|value| value.name().to_string()));
    let partial = matches!(aggregate.mode(), AggregateMode::Partial | AggregateMode::PartialReduce);
    let what = match (values.is_empty(), partial) {
        (true, true) => "partial distinct",
        (true, false) => "distinct",
        (false, true) => "partial aggregate",
        (false, false) => "aggregate",
    };
    let detail = match (values.is_empty(), keys.is_empty()) {
        (true, _) => keys,
        (false, true) => values,
        (false, false) => format!("{values} by {keys}"),
    };
    (what.to_string(), detail)
}

fn join_words(plan: &Arc<dyn ExecutionPlan>) -> Option<(String, String)> {
    let node = plan.as_ref() as &dyn Any;
    let kind = |join: JoinType| {
        let name = match join {
            JoinType::Inner => "inner",
            JoinType::Left => "left",
            JoinType::Right => "right",
            JoinType::Full => "full",
            JoinType::LeftSemi => "left semi",
            JoinType::RightSemi => "right semi",
            JoinType::LeftAnti => "left anti",
            JoinType::RightAnti => "right anti",
            JoinType::LeftMark => "left mark",
            JoinType::RightMark => "right mark",
        };
        format!("{name} join")
    };
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        let on = list(join.on().iter().map(|(left, right)| format!("{left} = {right}")));
        let filter =
            join.filter().map(|f| format!(" where {}", f.expression())).unwrap_or_default();
        return Some((kind(*join.join_type()), format!("on {on}{filter}")));
    }
    if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        let on = list(join.on().iter().map(|(left, right)| format!("{left} = {right}")));
        return Some((kind(join.join_type()), format!("on {on}")));
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        let filter = join.filter().map(|f| format!("where {}", f.expression())).unwrap_or_default();
        return Some((kind(*join.join_type()), filter));
    }
    node.is::<CrossJoinExec>().then(|| ("cross join".to_string(), String::new()))
}

fn limit_words(skip: usize, fetch: Option<usize>) -> (String, String) {
    let name = match fetch {
        Some(rows) => format!("first {rows} rows"),
        None => "all rows".to_string(),
    };
    (name, if skip > 0 { format!("after {skip}") } else { String::new() })
}

fn after_colon(plan: &Arc<dyn ExecutionPlan>) -> String {
    let line = Line(plan.as_ref()).to_string();
    line.split_once(": ").map_or(String::new(), |(_, detail)| detail.trim().to_string())
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Without the positions that DataFusion adds to columns (`app_id@0` is `app_id`), and with
/// `count(*)` as it was written.
pub fn plain(text: &str) -> String {
    let text = text.replace("count(Int64(1))", "count(*)");
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('@') {
        let after = &rest[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        plain.push_str(&rest[..at]);
        if digits == 0 {
            plain.push('@');
        }
        rest = &after[digits..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn positions_go_and_addresses_stay() {
        assert_eq!(plain("app_id@0 = id@12"), "app_id = id");
        assert_eq!(plain("count(Int64(1))@1 > 3"), "count(*) > 3");
        assert_eq!(plain("mail LIKE 'a@b'"), "mail LIKE 'a@b'");
    }
}
