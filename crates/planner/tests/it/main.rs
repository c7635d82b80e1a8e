//! The planner through its public interface: SQL in, stages out.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod chains;
mod fingerprint;
mod function_bounds;
mod function_growth;
mod functions;
mod identity;
mod mistakes;
mod names;
mod needed_rows;
mod refusals;
mod stages;

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use caudal_core::ParamValue;
use caudal_planner::{Error, QuerySpec, SessionPlan, SessionSpec, TableSpec};

/// Tables `t` and `u`, each with an integer key, a number, a text and a date.
pub fn spec(sql: &[&str]) -> SessionSpec {
    let schema = Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int64, true),
        Field::new("n", DataType::Int64, true),
        Field::new("s", DataType::Utf8View, true),
        Field::new("d", DataType::Date32, true),
    ]));
    let table = |name: &str| TableSpec { name: name.to_string(), schema: schema.clone() };
    let query = |(index, sql): (usize, &&str)| QuerySpec {
        name: format!("q{}", index + 1),
        sql: sql.to_string(),
        params: vec![("least".to_string(), ParamValue::Int(3))],
    };
    SessionSpec {
        tables: vec![table("t"), table("u")],
        queries: sql.iter().enumerate().map(query).collect(),
        shards: 4,
        started: "2024-05-06T07:08:09Z".parse().unwrap(),
    }
}

pub async fn plan(sql: &[&str]) -> Result<SessionPlan, Error> {
    caudal_planner::plan(&spec(sql)).await
}
