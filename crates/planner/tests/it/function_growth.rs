//! Every function that is registered has its verdict in `docs/function-growth.md`, and what is called bounded there is.

use std::collections::BTreeMap;
use std::path::Path;

use caudal_functions::bounded::Bounded;
use datafusion::prelude::SessionContext;

/// The verdicts of a section, by the names of functions.
fn verdicts(section: &str) -> BTreeMap<String, String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/function-growth.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once(&format!("## {section}\n")).expect(section);
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (name, verdict) = row.split_once("` | ").unwrap();
        (name.to_string(), verdict.trim_end_matches(" |").to_string())
    })
    .collect()
}

fn assert_complete(section: &str, names: impl Iterator<Item = String>) {
    let names: std::collections::BTreeSet<_> = names.collect();
    let verdicts = verdicts(section);
    let without: Vec<_> = names.iter().filter(|name| !verdicts.contains_key(*name)).collect();
    assert!(without.is_empty(), "{section} without a verdict: {without:?}");
    let unknown: Vec<_> = verdicts.keys().filter(|name| !names.contains(*name)).collect();
    assert!(unknown.is_empty(), "{section} that there are none of: {unknown:?}");
    let kinds = ["small", "linear", "bounded", "memory", "streams", "refused"];
    for (name, verdict) in verdicts {
        let kind = verdict.split([':', ';']).next().unwrap();
        assert!(kinds.contains(&kind), "{name}: {verdict}");
    }
}

#[test]
fn every_function_has_its_verdict() {
    let session = SessionContext::new();
    caudal_functions::register(&session);
    let state = session.state();
    let scalars = state.scalar_functions().values().map(|function| function.name().to_string());
    assert_complete("Scalar functions", scalars);
    let aggregates = state.aggregate_functions().values();
    assert_complete("Aggregates", aggregates.map(|function| function.name().to_string()));
    let windows = state.window_functions().values();
    assert_complete("Window functions", windows.map(|function| function.name().to_string()));
    assert_complete("Table functions", state.table_functions().keys().cloned());
    let of_functions = state.higher_order_functions().values();
    assert_complete(
        "Functions of functions",
        of_functions.map(|function| function.name().to_string()),
    );
}

#[test]
fn what_is_called_bounded_is() {
    let session = SessionContext::new();
    caudal_functions::register(&session);
    let state = session.state();
    let verdicts = verdicts("Scalar functions");
    for function in state.scalar_functions().values() {
        let name = function.name();
        let is_bounded = function.inner().is::<Bounded>() || name == "checked_concat";
        assert_eq!(is_bounded, verdicts[name].starts_with("bounded"), "{name}");
    }
}
