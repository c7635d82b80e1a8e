//! `caudal monitor`: watches over the nodes of a cluster.

use caudal_monitor::folder::Folder;
use caudal_monitor::service;

use crate::Done;
use crate::cluster::args::MonitorArgs;
use crate::cluster::nodes::{start_log, stop_signal, take_place};
use crate::error::Told;
use crate::session::runtime;

pub fn run(args: MonitorArgs) -> Done {
    start_log();
    let stop = stop_signal();
    let folder = Folder::new(&args.cluster);
    let runtime = runtime(1)?;
    let responder = take_place(&folder, &args.name, &runtime)?;
    let told = async {
        stop.above(0).await;
    };
    let watched = runtime.block_on(service::run(folder, &args.name, &responder, told));
    // A launch that is under way is left to the others.
    runtime.shutdown_background();
    watched.told()
}
