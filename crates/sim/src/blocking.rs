//! Blocking calls (of spilled rows to disk) in a simulation: they run only while every task waits, one after the other.
//!
//! They are done by a thread of the runtime's own, of which there has to be one. It is kept by a *keeper*, a call that
//! waits; when no task can run the keeper is let go, what stands behind it is done, and the next keeper is at its end.

use std::cell::RefCell;
use std::sync::mpsc::{Sender, channel};

use tokio::runtime::Handle;

thread_local! {
    /// Dropped, it lets the keeper go.
    static KEEPER: RefCell<Option<Sender<()>>> = const { RefCell::new(None) };
}

/// Has all done that waits to be done. The first call only puts the first keeper to its place.
#[allow(clippy::disallowed_methods, reason = "this is about tokio's own thread")]
pub fn let_pass() {
    let (is_here, arrived) = channel();
    let (next, let_go) = channel::<()>();
    Handle::current().spawn_blocking(move || {
        // Nobody is left to be told when the simulation has ended.
        let _ = is_here.send(());
        let _ = let_go.recv();
    });
    drop(KEEPER.replace(Some(next)));
    let _ = arrived.recv();
}

/// Nobody is kept any more.
pub fn open() {
    drop(KEEPER.take());
}
