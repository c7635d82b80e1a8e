//! Division of a job into stages.

use std::fmt;
use std::sync::Arc;

use caudal_core::Failure;
use caudal_planner::{SessionPlan, describe};

/// A job divided into stages, for people to look at; displayed, in words.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) stages: Arc<SessionPlan>,
}

impl Plan {
    /// As a graph for Markdown pages.
    pub fn mermaid(&self) -> String {
        describe::mermaid(&self.stages)
    }

    /// As a graph for Graphviz.
    pub fn dot(&self) -> String {
        describe::dot(&self.stages)
    }

    /// DataFusion's operators in each stage.
    pub fn operators(&self) -> String {
        describe::operators(&self.stages)
    }

    /// Reasons why some of the queries cannot be answered.
    pub fn refusals(&self) -> Vec<Failure> {
        let refused = self.stages.queries.iter().filter_map(|query| query.answer.as_ref().err());
        refused.map(|error| Failure::of(error.as_ref())).collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe::text(&self.stages))
    }
}
