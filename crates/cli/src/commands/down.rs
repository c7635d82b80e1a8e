//! `caudal down`: stops a cluster on this machine.

use std::time::Duration;

use caudal_core::limits;
use caudal_core::limits::LAUNCH_MS;
use caudal_monitor::Process;
use caudal_monitor::members::{Member, Role};
use rustix::process::Signal;

use crate::Done;
use crate::cluster::args::DownArgs;
use crate::cluster::state::{Cluster, unusable};
use crate::commands::status;

/// Time that a node has to finish what is in hand.
const TIMEOUT: Duration = Duration::from_millis(limits::DOWN_MS_MAX);

pub fn run(args: DownArgs) -> Done {
    let cluster = status::load(&args.place)?;
    stop(&cluster)?;
    eprintln!("stopped {} nodes", cluster.members.nodes.len());
    Ok(())
}

/// Sees to it that nothing is started any more; then tells all nodes to leave, the monitors first, and kills
/// those that do not. RabbitMQ is stopped when nobody uses it any more.
pub fn stop(cluster: &Cluster) -> Done {
    let folder = cluster.folder();
    folder.stop_launches().map_err(|error| unusable(folder.path(), &error))?;
    let is_monitor = |node: &&Member| node.role == Role::Monitor;
    let (monitors, others): (Vec<_>, Vec<_>) = cluster.members.nodes.iter().partition(is_monitor);
    for nodes in [monitors, others] {
        leave(cluster, &nodes);
    }
    if let Some(mut rabbit) = cluster.rabbit()? {
        crate::session::runtime(1)?.block_on(rabbit.stop());
    }
    cluster.remove()
}

fn leave(cluster: &Cluster, nodes: &[&Member]) {
    let mut leaving: Vec<(&str, Process)> = vec![];
    for node in nodes {
        // Whoever was launching it when we came has written down what it started, once it lets go.
        let timeout = Duration::from_millis(LAUNCH_MS);
        let _lock = cluster.folder().launch_lock(&node.name, timeout);
        for process in cluster.folder().processes(&node.name) {
            process.signal(Signal::TERM);
            // A frozen one hears nothing.
            process.signal(Signal::CONT);
            leaving.push((&node.name, process));
        }
    }
    for (name, process) in leaving {
        if !process.wait(TIMEOUT) {
            eprintln!("{name} did not leave: killed");
            process.signal(Signal::KILL);
            process.wait(TIMEOUT);
        }
    }
}
