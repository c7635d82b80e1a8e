//! `caudal worker`: work for the sessions of a cluster.

use std::sync::Arc;
use std::time::Duration;

use caudal_core::{codes, limits};
use caudal_monitor::health::{HealthResponder, View};
use caudal_runtime::compute;
use caudal_runtime::time::{self, interval};
use caudal_worker::node::Node;
use caudal_worker::{AtWork, Memory, memory};

use crate::Done;
use crate::cluster::args::WorkerArgs;
use crate::cluster::nodes::{connect, start_log, stop_signal, take_any_place};
use crate::error::Failed;
use crate::session::runtime;

pub fn run(args: WorkerArgs) -> Done {
    start_log();
    let stop = stop_signal();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = args.threads.map_or(cores, |threads| threads as usize);
    compute::set_threads(threads);
    let runtime = runtime(limits::WORKER_IO_THREADS)?;
    let responder = take_any_place(&args.node, &runtime)?;
    let memory = memory_of(&args)?;
    runtime.block_on(async {
        let Some((broker, store)) = connect(&args.node, &stop).await? else { return Ok(()) };
        let node = Node {
            name: args.node.name,
            broker,
            store,
            threads,
            memory,
            counts: Arc::default(),
            at_work: Arc::default(),
            incarnation: fastrand::u64(..),
        };
        tracing::info!(name = node.name, threads, "worker started");
        if let Some(responder) = &responder {
            responder.set_ready(true);
        }
        let (at_work, name) = (Arc::clone(&node.at_work), node.name.clone());
        tokio::select! {
            () = node.run(stop) => {}
            () = show_work(responder, &at_work, &name) => unreachable!("it is shown for ever"),
        }
        tracing::info!("worker stopped");
        Ok(())
    })
}

/// Shows a long computation to `caudal status`.
async fn show_work(responder: Option<HealthResponder>, at_work: &AtWork, name: &str) {
    let Some(responder) = responder else { return std::future::pending().await };
    let mut ticks = interval(Duration::from_millis(limits::SESSIONS_POLL_MS));
    loop {
        ticks.tick().await;
        let work = at_work.long(name, time::now()).into_iter().next();
        let work = work.map(|work| format!("{}, for {} s", work.what, work.seconds));
        responder.show(View { work, ..View::default() });
    }
}

/// The memory of all sessions. What it spills is in the node's own folder, if it has one: its place is taken, so nobody
/// else's rows are there. In a container that may be read-only: the system's folder for temporary files does as well.
fn memory_of(args: &WorkerArgs) -> Result<Memory, Failed> {
    let bytes = args.memory.unwrap_or_else(memory::default_bytes);
    if let Some(folder) = &args.node.cluster {
        match Memory::spilling_to(bytes, folder.join("spill").join(&args.node.name)) {
            Ok(memory) => return Ok(memory),
            Err(error) => tracing::warn!(%error, "no folder to spill to, takes the system's"),
        }
    }
    Memory::new(bytes).map_err(|error| {
        Failed::new(codes::ENGINE_CANNOT_START, format!("no folder to spill to: {error}"))
    })
}
