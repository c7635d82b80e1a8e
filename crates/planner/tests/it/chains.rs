//! Long chains of operators are planned in about the time that their length asks for.

use std::thread;
use std::time::{Duration, Instant};

use caudal_core::limits;

use crate::plan;

/// Time that a chain takes, on a stack as large as where queries are planned.
fn planned_in(term: &'static str) -> Duration {
    let thread = thread::Builder::new().stack_size(limits::PLANNING_STACK_BYTES);
    let planned = thread.spawn(move || {
        let sql = format!("SELECT {} AS x FROM t", vec![term; 600].join(" + "));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let start = Instant::now();
        runtime.block_on(plan(&[&sql])).unwrap();
        start.elapsed()
    });
    planned.unwrap().join().unwrap()
}

/// Integers are checked, floats are not: it once took a hundred times as long.
#[test]
fn chains_of_integers_are_planned_about_as_fast_as_those_of_floats() {
    let floats = planned_in("1.5");
    for term in ["1", "k"] {
        let integers = planned_in(term);
        assert!(integers < 5 * floats, "{term}: {integers:?}, floats {floats:?}");
    }
}
