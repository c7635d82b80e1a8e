//! `caudal down`: stops a cluster on this machine.

use std::time::Duration;

use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_core::Coded;
use rustix::process::Signal;

use crate::Done;
use crate::cluster::args::DownArgs;
use crate::cluster::state::Cluster;
use crate::commands::status;
use crate::error::Failed;

/// What a node has to finish what is in hand.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(args: DownArgs) -> Done {
    let cluster = status::load(&args.place)?;
    stop(&cluster);
    if let Some(broker) = &cluster.rabbitmq {
        let mut rabbit = PrivateRabbit::find(&broker.folder)
            .map_err(|error| Failed::usage(error.code(), &error))?;
        crate::local::runtime(1)?.block_on(rabbit.stop());
    }
    Cluster::remove(&args.place.dir)?;
    eprintln!("stopped {} nodes", cluster.nodes.len());
    Ok(())
}

/// Tells all nodes to leave, and kills those that do not.
pub fn stop(cluster: &Cluster) {
    for node in &cluster.nodes {
        node.process.signal(Signal::TERM);
        // A frozen one hears nothing.
        node.process.signal(Signal::CONT);
    }
    for node in &cluster.nodes {
        if !node.process.wait(PATIENCE) {
            eprintln!("{} did not leave: killed", node.name);
            node.process.signal(Signal::KILL);
            node.process.wait(PATIENCE);
        }
    }
}
