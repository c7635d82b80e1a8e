//! `caudal up`: a whole cluster on this machine.

use std::io::{IsTerminal, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use caudal_broker::rabbitmq::private::{Lifetime, PrivateRabbit};
use caudal_core::Coded;

use crate::Done;
use crate::cluster::args::UpArgs;
use crate::cluster::nodes::stop_signal;
use crate::cluster::process::Process;
use crate::cluster::state::{Cluster, Node, PrivateBroker, Role, make_folder};
use crate::commands::{down, status};
use crate::error::Failed;

/// How long nodes have to be ready.
const READY: Duration = Duration::from_secs(30);
/// How often a cluster in the foreground is looked at.
const LOOK: Duration = Duration::from_millis(500);

pub fn run(args: UpArgs) -> Done {
    let stop = stop_signal();
    let folder = make_folder(&args.place.dir)?;
    refuse_second(&folder)?;
    let runtime = crate::local::runtime(1)?;
    let rabbit = match &args.broker {
        Some(_) => None,
        None => {
            eprintln!("starting a private RabbitMQ ...");
            let lifetime = if args.detach { Lifetime::Detached } else { Lifetime::Ours };
            let started = runtime.block_on(PrivateRabbit::start(&folder.join("broker"), lifetime));
            Some(started.map_err(|error| {
                Failed::usage(error.code(), &error)
                    .hint("or name a broker with --broker".to_string())
            })?)
        }
    };
    let mut cluster = Cluster {
        broker: args.broker.clone().or(rabbit.as_ref().map(PrivateRabbit::url)).unwrap_or_default(),
        store: args.store.clone().unwrap_or_else(|| folder.join("store").display().to_string()),
        rabbitmq: rabbit.as_ref().map(|_| PrivateBroker { folder: folder.join("broker") }),
        nodes: vec![],
    };
    let started =
        start_nodes(&mut cluster, &args, &folder).and_then(|()| wait_ready(&cluster, &folder));
    if let Err(failed) = started {
        down::stop(&cluster);
        return Err(failed);
    }
    eprintln!("ready: {} workers, {} gateways", args.workers, args.gateways);
    eprintln!("  caudal run steam --data ./steam --gateway {}", cluster.gateways());
    if args.detach {
        return Ok(());
    }
    watch(&cluster, &stop);
    eprintln!("stopping ...");
    down::stop(&cluster);
    if let Some(mut rabbit) = rabbit {
        runtime.block_on(rabbit.stop());
    }
    Cluster::remove(&folder)
}

fn refuse_second(folder: &Path) -> Done {
    match Cluster::load(folder)? {
        Some(cluster) if cluster.nodes.iter().any(|node| node.process.is_alive()) => {
            let message = format!("a cluster is running in {} already", folder.display());
            Err(Failed::usage("CDL-6022", message)
                .hint("caudal down stops it; --dir names another folder".to_string()))
        }
        _ => Ok(()),
    }
}

fn start_nodes(cluster: &mut Cluster, args: &UpArgs, folder: &Path) -> Done {
    for number in 0..args.gateways {
        let port = u32::from(args.port) + number;
        let listen = format!("127.0.0.1:{port}");
        let mut arguments = node_arguments(cluster, "gateway", number);
        arguments.extend(["--listen".into(), listen.clone()]);
        arguments.extend(["--sessions".into(), args.sessions.to_string()]);
        arguments.extend(["--grace".into(), args.grace.to_string()]);
        arguments.extend(["--shards".into(), args.workers.clamp(2, 64).to_string()]);
        if let Some(tokens) = &args.tokens {
            arguments.extend(["--tokens".into(), tokens.display().to_string()]);
        }
        start(cluster, Role::Gateway, arguments, Some(listen), folder)?;
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = args.threads.unwrap_or((cores as u32 / args.workers).max(1));
    for number in 0..args.workers {
        let mut arguments = node_arguments(cluster, "worker", number);
        arguments.extend(["--threads".into(), threads.to_string()]);
        start(cluster, Role::Worker, arguments, None, folder)?;
    }
    Ok(())
}

fn node_arguments(cluster: &Cluster, role: &str, number: u32) -> Vec<String> {
    let name = format!("{role}-{}", number + 1);
    let arguments = [role, "--name", &name, "--broker", &cluster.broker, "--store", &cluster.store];
    arguments.into_iter().map(String::from).collect()
}

/// Starts a node and writes it down at once: whatever happens next, `caudal down` will find it.
fn start(
    cluster: &mut Cluster,
    role: Role,
    arguments: Vec<String>,
    listen: Option<String>,
    folder: &Path,
) -> Done {
    let name = arguments[2].clone();
    let cannot = |error| Failed::usage("CDL-6023", format!("cannot start {name}: {error}"));
    let program = std::env::current_exe().map_err(cannot)?;
    let log = folder.join("logs").join(format!("{name}.log"));
    let process = Process::start(Command::new(program).args(&arguments), &log).map_err(cannot)?;
    cluster.nodes.push(Node { name, role, arguments, listen, process });
    cluster.save(folder)
}

fn wait_ready(cluster: &Cluster, folder: &Path) -> Done {
    let deadline = Instant::now() + READY;
    for node in &cluster.nodes {
        while !is_ready(node) {
            if !node.process.is_alive() || Instant::now() > deadline {
                let log = folder.join("logs").join(format!("{}.log", node.name));
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                let last: Vec<&str> = said.lines().rev().take(3).collect();
                let message = format!("{} did not start", node.name);
                let last: String =
                    last.into_iter().rev().map(|line| format!("\n  {line}")).collect();
                return Err(Failed::usage("CDL-6023", format!("{message}; it said last:{last}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

fn is_ready(node: &Node) -> bool {
    match &node.listen {
        Some(address) => TcpStream::connect(address).is_ok(),
        None => node.process.is_alive(),
    }
}

/// A live table on a terminal; elsewhere a line whenever a node is lost.
fn watch(cluster: &Cluster, stop: &caudal_runtime::Level) {
    let live = std::io::stderr().is_terminal();
    let mut lost: Vec<&str> = vec![];
    let mut shown_lines = 0;
    while stop.get() == 0 {
        if live {
            let table = status::table(cluster);
            let mut out = std::io::stderr().lock();
            if shown_lines > 0 {
                let _ = write!(out, "\x1b[{shown_lines}A\x1b[J");
            }
            let _ = writeln!(out, "{table}\nCtrl-C stops the cluster.");
            shown_lines = table.lines().count() + 1;
        }
        for node in cluster.nodes.iter().filter(|node| !node.process.is_alive()) {
            if !lost.contains(&node.name.as_str()) {
                lost.push(&node.name);
                if !live {
                    eprintln!("{} is gone; its log is in logs/{}.log", node.name, node.name);
                }
            }
        }
        std::thread::sleep(LOOK);
    }
}
