//! Files that are somewhere on the net: objects of stores (`s3://`, `gs://`, `az://`), and what `https://` gives.
//!
//! Whoever reads a table does so from threads of its own, and waits; what talks to the net is asynchronous. So this crate has
//! a small runtime of its own for it, and only for it: connections live in the runtime that made them, and whoever calls
//! may have none, or have several, or be a task of one that must not wait for itself. It has few threads, for they
//! only pass bytes on; what is under way is bounded by those who ask (`blocks`), not by the number of threads.
//!
//! 1. `address` says what a text names, `store` makes the client for it, `list` finds the objects that a pattern means;
//! 2. an `object` is what was found when it was opened: every later answer has to be of that very one;
//! 3. `fetch` gets a range of its bytes, again if need be, and `whole` all of them where no ranges can be had;
//! 4. `blocks` asks ahead and keeps what is still to be read, for whoever reads at any place, or from the beginning on.

mod address;
mod blocks;
mod failure;
mod fetch;
mod list;
mod object;
mod store;
mod whole;

use std::sync::OnceLock;
use std::sync::mpsc::channel;

use caudal_core::limits;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

pub use self::address::{Address, is_address};
pub use self::blocks::Blocks;
pub use self::failure::Failure;
pub use self::list::files_at;
pub use self::object::Object;
pub use self::whole::Whole;

/// What a future comes to, waited for on the calling thread.
fn wait<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = channel();
    // Nobody may wait for it any more.
    let told = async move { drop(sender.send(work.await)) };
    spawn(told)?;
    receiver.recv().unwrap_or_else(|_| Err(Failure::Unreadable("its request died".into())))
}

/// Starts something that nobody waits for here.
fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<AbortHandle, Failure> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(limits::REMOTE_THREADS).thread_name("remote").enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    match runtime {
        Ok(runtime) => Ok(runtime.spawn(work).abort_handle()),
        Err(why) => Err(Failure::Unreadable(why.clone())),
    }
}
