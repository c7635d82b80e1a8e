//! Work that Ctrl-C takes the shell away from.

use crate::error::Failed;
use crate::{interrupt, session};

/// Does what may take long on a thread of its own. Interrupted, that goes on until it is done, and nobody waits for it.
pub fn interruptible<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failed> + Send + 'static,
) -> Result<T, Failed> {
    let runtime = session::runtime(1)?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = tokio::task::spawn_blocking(work) => match done {
                Ok(done) => done,
                Err(died) => std::panic::resume_unwind(died.into_panic()),
            },
            _ = interrupt::pressed() => Err(Failed::interrupted()),
        }
    });
    runtime.shutdown_background();
    done
}

/// Waits for what others do.
pub fn wait_for<T>(answer: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    let runtime = session::runtime(1)?;
    let done = runtime.block_on(async {
        tokio::select! {
            answered = answer => answered,
            _ = interrupt::pressed() => Err(Failed::interrupted()),
        }
    });
    runtime.shutdown_background();
    done
}
