//! `caudal cancel`: an end to sessions of a cluster.

use caudal_client::remote::cancel;
use caudal_core::SessionId;

use crate::args::CancelArgs;
use crate::remote::patiently;
use crate::{Done, local, remote};

pub fn run(args: CancelArgs) -> Done {
    let settings = remote::settings(&args.cluster)?;
    let runtime = local::runtime(1)?;
    for session in args.sessions {
        let cancel = cancel(&settings, SessionId(session.clone()));
        runtime.block_on(patiently(&settings, false, cancel))?;
        eprintln!("cancelled {session}");
    }
    Ok(())
}
