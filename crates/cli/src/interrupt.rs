//! Ctrl-C: ends whatever is going on at once, and leaves no partial results.
//!
//! The signal is awaited on a thread of its own: all others may be busy computing.

use std::io;
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};
use std::time::Duration;

use caudal_core::limits;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::error::{Exit, Failed};

/// Time that a run has to remove its unfinished files.
const GRACE: Duration = Duration::from_millis(limits::INTERRUPT_FILES_MS_MAX);

/// Time that it has beside that to tell others that it ends.
static CANCEL_TIMEOUT: Mutex<Duration> = Mutex::new(Duration::ZERO);

static PRESSED: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// From here on, Ctrl-C is for [`pressed`]; whoever does not heed it is ended.
pub fn watch() {
    end_after(asked_to_end(), || {});
}

/// From here on, Ctrl-C is for [`pressed`] alone: what runs ends by it, and not the process. SIGTERM ends that, after
/// `before_end`. Returns when it listens: who changes what becomes of the signal for a while has to find it so.
pub fn watch_runs(before_end: impl FnOnce() + Send + 'static) {
    let (listens, heard) = mpsc::channel();
    end_after(told_of_each_press(listens), before_end);
    // Where nobody listens, the signal ends the process, as it does any other.
    let _ = heard.recv();
}

/// Forgets that it has been pressed: what is begun now was not meant.
pub fn forget() {
    PRESSED.send_replace(false);
}

fn end_after(
    asked: impl Future<Output = io::Result<()>> + Send + 'static,
    before_end: impl FnOnce() + Send + 'static,
) {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Where we cannot listen, the signal ends the process, as it does any other.
        let Ok(runtime) = runtime else { return };
        if runtime.block_on(asked).is_err() {
            return;
        }
        PRESSED.send_replace(true);
        let timeout = *CANCEL_TIMEOUT.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::sleep(timeout + GRACE);
        before_end();
        Failed::interrupted().tell();
        std::process::exit(Exit::Interrupted.code().into());
    });
}

/// Ctrl-C, or the SIGTERM of `timeout` and the like.
async fn asked_to_end() -> io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = term.recv() => Ok(()),
    }
}

/// Returns at SIGTERM.
async fn told_of_each_press(listens: mpsc::Sender<()>) -> io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    let mut press = signal(SignalKind::interrupt())?;
    // Whoever wanted to know may have gone on.
    let _ = listens.send(());
    loop {
        tokio::select! {
            _ = press.recv() => PRESSED.send_replace(true),
            _ = term.recv() => return Ok(()),
        };
    }
}

/// Sets the time that a command which heeds Ctrl-C has to tell others that it ends.
pub fn allow(timeout: Duration) {
    *CANCEL_TIMEOUT.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
}

/// Returns when Ctrl-C has been pressed.
pub async fn pressed() {
    let mut pressed = PRESSED.subscribe();
    pressed.wait_for(|pressed| *pressed).await.expect("the sender is never dropped");
}
