//! `caudal worker`: work for the sessions of a cluster.

use std::sync::Arc;

use caudal_core::limits;
use caudal_worker::node::Node;

use crate::Done;
use crate::cluster::args::WorkerArgs;
use crate::cluster::nodes::{connect, start_log, stop_signal, take_any_place};
use crate::session::runtime;

pub fn run(args: WorkerArgs) -> Done {
    start_log();
    let stop = stop_signal();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = args.threads.map_or(cores, |threads| threads as usize);
    let runtime = runtime(threads)?;
    let responder = take_any_place(&args.node, &runtime)?;
    runtime.block_on(async {
        let (broker, store) = connect(&args.node).await?;
        let node = Node {
            name: args.node.name,
            broker,
            store,
            threads,
            memory_bytes: args.memory.unwrap_or(limits::MEMORY_BYTES_DEFAULT),
            counts: Arc::default(),
            incarnation: fastrand::u64(..),
        };
        tracing::info!(name = node.name, threads, "works");
        if let Some(responder) = &responder {
            responder.set_ready(true);
        }
        node.run(stop).await;
        tracing::info!("leaves");
        Ok(())
    })
}
