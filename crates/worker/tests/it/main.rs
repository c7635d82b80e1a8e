//! Workers in whole sessions: whatever is delivered twice, late or by halves, and whoever dies, answers are exact.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod around;
mod early;
mod faults;
mod fence;
mod leaving;
mod long_load;
mod many_fragments;
mod memory;
mod refused;
mod reluctant;
mod results;
mod slow_store;
mod takeover;
mod timeouts;
mod workload;

// Sessions are run as the tests of the whole path run them.
#[path = "../../../caudal/tests/it/faulty_mapper.rs"]
mod faulty_mapper;
#[path = "../../../caudal/tests/it/harness.rs"]
#[allow(dead_code, reason = "what the others need")]
mod harness;
#[path = "../../../caudal/tests/it/only_needed.rs"]
mod only_needed;
#[path = "../../../caudal/tests/it/random_sql.rs"]
mod random_sql;
