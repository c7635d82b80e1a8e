//! `caudal cancel`: an end to sessions of a cluster.

use caudal::SessionId;

use crate::Done;
use crate::answering::with_waiting_told;
use crate::args::CancelArgs;
use crate::session::{cluster, runtime};

pub fn run(args: CancelArgs) -> Done {
    let cluster = cluster(&args.cluster)?;
    let runtime = runtime(1)?;
    for session in args.sessions.into_iter().map(SessionId) {
        runtime.block_on(with_waiting_told(&cluster, false, cluster.cancel(&session)))?;
        eprintln!("cancelled {session}");
    }
    Ok(())
}
