//! `caudal broker`: sees to it that a cluster's own RabbitMQ runs.
//!
//! RabbitMQ outlives its keeper: the next one finds it as it is, and goes on. A keeper that is told to leave leaves
//! it running, too; `caudal down` stops it when nobody uses it any more.

use std::time::Duration;

use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_core::limits;
use caudal_monitor::Process;
use caudal_monitor::folder::Folder;
use caudal_monitor::health::HealthResponder;
use tracing::{error, info, warn};

use crate::Done;
use crate::cluster::args::BrokerArgs;
use crate::cluster::nodes::{start_log, stop_signal, take_place};
use crate::cluster::state::broker_folder;
use crate::error::Told;
use crate::session::runtime;

/// Interval at which it is looked at.
const LOOK: Duration = Duration::from_millis(limits::RABBITMQ_WATCH_MS);
/// After a start that failed: another RabbitMQ may be about to end.
const PAUSE: Duration = Duration::from_millis(limits::RABBITMQ_RESTART_MS);

pub fn run(args: BrokerArgs) -> Done {
    start_log();
    let stop = stop_signal();
    let folder = Folder::new(&args.cluster);
    let runtime = runtime(1)?;
    let responder = take_place(&folder, &args.name, &runtime)?;
    let mut rabbit = PrivateRabbit::find(&broker_folder(&folder)).told()?;
    runtime.block_on(async {
        tokio::select! {
            biased;
            _ = stop.above(0) => info!("broker keeper stopped"),
            () = keep(&mut rabbit, &responder) => {}
        }
    });
    Ok(())
}

async fn keep(rabbit: &mut PrivateRabbit, responder: &HealthResponder) {
    loop {
        match rabbit.pid() {
            Some(pid) if is_frozen(pid) => {
                warn!(pid, "RabbitMQ is frozen: kills it");
                rabbit.kill().await;
            }
            Some(_) => responder.set_ready(rabbit.answers().await),
            None => {
                responder.set_ready(false);
                start(rabbit).await;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// As monitors say of nodes: who is stopped does not go on by itself.
fn is_frozen(pid: u32) -> bool {
    Process::of(pid).is_some_and(Process::is_frozen)
}

async fn start(rabbit: &mut PrivateRabbit) {
    match rabbit.launch().await {
        Ok(()) => info!(pid = rabbit.pid(), "RabbitMQ runs"),
        Err(error) => {
            error!(%error, "RabbitMQ does not start");
            tokio::time::sleep(PAUSE).await;
        }
    }
}
