//! One file a command.

pub mod broker;
pub mod cancel;
pub mod chaos;
pub mod check;
pub mod clients;
pub mod demo;
pub mod down;
pub mod explain;
pub mod gateway;
pub mod generate;
pub mod monitor;
pub mod query;
pub mod run;
pub mod sessions;
pub mod status;
pub mod up;
pub mod worker;

use crate::Done;
use crate::args::{ClusterArgs, EngineArgs, InputArgs, OutputArgs};
use crate::error::Failed;
use crate::job::Job;
use crate::local;
use crate::remote;

/// Runs a job, in this process or on a cluster: answers to where they belong, everything else to
/// stderr.
fn answer(
    job: &Job,
    engine: EngineArgs,
    cluster: &ClusterArgs,
    output: &OutputArgs,
    input: &InputArgs,
) -> Done {
    if cluster.gateway.is_empty() {
        return local::answer(job, engine, output, input);
    }
    if engine.memory.is_some() {
        return Err(Failed::usage("CDL-9009", "--memory says nothing to a cluster")
            .hint("its workers have a --memory of their own".to_string()));
    }
    remote::answer(job, engine, cluster, output, input)
}
