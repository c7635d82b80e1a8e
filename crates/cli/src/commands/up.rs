//! `caudal up`: a whole cluster on this machine.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use caudal_broker::rabbitmq::private::{self, PrivateRabbit};
use caudal_core::{Failure, codes, limits};
use caudal_monitor::launch::{Outcome, launch};
use caudal_monitor::members::{Member, Role};
use caudal_runtime::Level;

use crate::Done;
use crate::cluster::args::UpArgs;
use crate::cluster::members::plan;
use crate::cluster::nodes::stop_signal;
use crate::cluster::state::{Cluster, broker_folder, make_folder};
use crate::commands::down;
use crate::commands::status::Status;
use crate::error::{Failed, Told};

/// Time that nodes have to be ready.
const READY: Duration = Duration::from_secs(limits::UP_SECONDS_MAX);
/// RabbitMQ takes 5 to 11 s on an idle machine.
const BROKER_READY: Duration = Duration::from_secs(limits::UP_BROKER_SECONDS_MAX);
/// Interval at which a cluster in the foreground is looked at.
const LOOK: Duration = Duration::from_millis(limits::UP_LOOK_MS);

pub fn run(args: UpArgs) -> Done {
    let stop = stop_signal();
    let folder = make_folder(&args.place.dir)?;
    refuse_second(folder.path())?;
    folder.prepare().told()?;
    let broker = match &args.broker {
        Some(url) => url.clone(),
        None => PrivateRabbit::prepare(&broker_folder(&folder)).map_err(no_rabbit)?.url(),
    };
    let own_store = || folder.path().join("store").display().to_string();
    let store = args.store.clone().unwrap_or_else(own_store);
    let mut cluster = Cluster::new(broker, store, &folder);
    cluster.members.nodes = plan(&cluster, &args)?;
    // Before anything is started: whatever happens next, `caudal down` will find it.
    cluster.save()?;
    if let Err(failed) = start(&cluster) {
        down::stop(&cluster)?;
        return Err(failed);
    }
    let UpArgs { workers, gateways, monitors, .. } = args;
    let (workers, gateways) = (counted(workers, "worker"), counted(gateways, "gateway"));
    eprintln!("ready: {workers}, {gateways}, {}", counted(monitors, "monitor"));
    eprintln!("  caudal run steam --data ./steam --gateway {}", cluster.gateways());
    if args.detach {
        return Ok(());
    }
    watch(&cluster, &stop)?;
    eprintln!("stopping ...");
    down::stop(&cluster)
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn no_rabbit(error: private::Error) -> Failed {
    Failed::all(vec![Failure::of(&error)]).hint("or name a broker with --broker".to_string())
}

fn refuse_second(path: &Path) -> Done {
    match Cluster::load(path)? {
        Some(cluster) if cluster.is_running() => {
            let message = format!("a cluster is running in {} already", path.display());
            Err(Failed::new(codes::CLUSTER_RUNNING, message)
                .hint("caudal down stops it; --dir names another folder".to_string()))
        }
        _ => Ok(()),
    }
}

/// The monitors last: what does not start at all is an error here, and not brought back again and again.
fn start(cluster: &Cluster) -> Done {
    let others = &[Role::Gateway, Role::Worker][..];
    let steps = [(&[Role::Broker][..], BROKER_READY), (others, READY), (&[Role::Monitor], READY)];
    for (roles, timeout) in steps {
        let nodes: Vec<&Member> = roles.iter().flat_map(|role| cluster.nodes(*role)).collect();
        if nodes.iter().any(|node| node.role == Role::Broker) {
            eprintln!("starting a private RabbitMQ ...");
        }
        for node in &nodes {
            if let Outcome::Failed { reason } = launch(&cluster.folder(), node, None) {
                let message = format!("cannot start {}: {reason}", node.name);
                return Err(Failed::new(codes::NODE_DID_NOT_START, message));
            }
        }
        wait_ready(cluster, &nodes, timeout)?;
    }
    Ok(())
}

fn wait_ready(cluster: &Cluster, nodes: &[&Member], timeout: Duration) -> Done {
    let is_led = nodes.iter().any(|node| node.role == Role::Monitor);
    let deadline = Instant::now() + timeout;
    loop {
        let status = Status::of(cluster, nodes)?;
        let behind = status.nodes.iter().find(|node| node.state != "up");
        match behind {
            None if status.leader.is_some() || !is_led => return Ok(()),
            Some(node) if node.process.is_none() || Instant::now() > deadline => {
                return Err(did_not_start(cluster, &node.member));
            }
            None if Instant::now() > deadline => {
                return Err(Failed::new(codes::NODE_DID_NOT_START, "the monitors find no leader"));
            }
            _ => std::thread::sleep(Duration::from_millis(limits::UP_POLL_MS)),
        }
    }
}

fn did_not_start(cluster: &Cluster, node: &Member) -> Failed {
    let said = std::fs::read_to_string(cluster.folder().log(&node.name)).unwrap_or_default();
    let lines: Vec<&str> = said.lines().collect();
    let last = &lines[lines.len().saturating_sub(limits::UP_LOG_LINES_MAX)..];
    let last: String = last.iter().map(|line| format!("\n  {line}")).collect();
    Failed::new(
        codes::NODE_DID_NOT_START,
        format!("{} did not start; it said last:{last}", node.name),
    )
}

/// A live table on a terminal; elsewhere a line whenever a node is lost or back.
fn watch(cluster: &Cluster, stop: &Level) -> Done {
    let live = std::io::stderr().is_terminal();
    let mut states: BTreeMap<String, (&str, u32)> = BTreeMap::new();
    let mut shown_lines = 0;
    while stop.get() == 0 {
        let status = Status::of_all(cluster)?;
        if live {
            let table = status.table(cluster);
            let mut out = std::io::stderr().lock();
            if shown_lines > 0 {
                let _ = write!(out, "\x1b[{shown_lines}A\x1b[J");
            }
            let _ = writeln!(out, "{table}\nCtrl-C stops the cluster.");
            shown_lines = table.lines().count() + 1;
        }
        for node in &status.nodes {
            let (name, now) = (&node.member.name, (node.state, node.restarts));
            let before = states.insert(name.clone(), now).unwrap_or(("up", 0));
            if !live && before != now {
                match now {
                    ("up", restarts) => eprintln!("{name} is up; {restarts} restarts so far"),
                    (state, _) => eprintln!("{name} is {state}; its log is in logs/{name}.log"),
                }
            }
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
