//! `caudal down`: stops a cluster on this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits::LAUNCH_MS;
use caudal_core::{SessionId, limits};
use caudal_gateway::shutdown;
use caudal_monitor::Process;
use caudal_monitor::members::{Member, Role};
use caudal_store::Store;
use rustix::process::Signal;
use tokio::time::timeout;

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
/// those that do not. Sessions end before their gateways do, so that clients are told. RabbitMQ is stopped when nobody uses it any more.
pub fn stop(cluster: &Cluster) -> Done {
    let folder = cluster.folder();
    folder.stop_launches().map_err(|error| unusable(folder.path(), &error))?;
    let is_monitor = |node: &&Member| node.role == Role::Monitor;
    let (monitors, others): (Vec<_>, Vec<_>) = cluster.members.nodes.iter().partition(is_monitor);
    leave(cluster, &monitors);
    let ended = end_sessions(cluster);
    leave(cluster, &others);
    if let Some(ended) = ended {
        ended.remove();
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

/// Sessions that have ended with their cluster.
struct Ended {
    store: Arc<dyn Store>,
    sessions: Vec<SessionId>,
}

/// Ends the cluster's sessions. None where there are none, or where the store does not answer: then the next cluster on this
/// store finds them without a client.
fn end_sessions(cluster: &Cluster) -> Option<Ended> {
    let gateways: Vec<String> = cluster.nodes(Role::Gateway).map(|it| it.name.clone()).collect();
    // A store elsewhere may have the sessions of others.
    let is_own = Path::new(&cluster.store).starts_with(cluster.folder().path());
    let gateways = (!is_own).then_some(&gateways[..]);
    let store = caudal_store::open(&cluster.store).ok()?;
    let sessions = within_time(async {
        let ended = shutdown::end_sessions(&store, gateways).await?;
        if !ended.is_empty() {
            eprintln!("ends {} sessions ...", ended.len());
            shutdown::wait_for_gateways(&store, &ended).await?;
        }
        Ok(ended)
    })?;
    (!sessions.is_empty()).then_some(Ended { store, sessions })
}

impl Ended {
    /// When no node is there any more that might write to them.
    fn remove(self) {
        within_time(shutdown::remove_ended(&self.store, &self.sessions));
    }
}

/// What is not done in time, or not at all, is told; it keeps nobody from stopping the cluster.
fn within_time<T>(doing: impl Future<Output = Result<T, caudal_gateway::Error>>) -> Option<T> {
    let runtime = crate::session::runtime(1).ok()?;
    let reason = match runtime.block_on(async { timeout(TIMEOUT, doing).await }) {
        Ok(Ok(done)) => return Some(done),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the store does not answer".to_string(),
    };
    eprintln!("sessions are left to the next cluster: {reason}");
    None
}
