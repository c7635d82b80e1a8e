//! `caudal planner`: plans for the gateway that started it, on standard input and output.
//!
//! What it may take it bounds itself, before it has read anything that somebody else has written.

use std::io;

use caudal_core::{codes, limits};
use caudal_gateway::planning::child;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::Done;
use crate::cluster::nodes::start_log;
use crate::error::Failed;

pub fn run() -> Done {
    start_log();
    let bounded = bound(Resource::As, limits::PLANNER_MEMORY_BYTES_MAX)
        // A tenant's rows and texts are not for a dump.
        .and_then(|()| bound(Resource::Core, 0));
    bounded.and_then(|()| child::run(io::stdin().lock(), io::stdout())).map_err(|error| {
        Failed::new(codes::PLANNER_CANNOT_START, format!("cannot plan for the gateway: {error}"))
    })
}

fn bound(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}
