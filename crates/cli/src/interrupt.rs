//! Ctrl-C: ends whatever is going on at once, and leaves no partial results.
//!
//! The signal is awaited on a thread of its own: all others may be busy computing.

use std::sync::{LazyLock, Mutex, PoisonError};
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
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Where we cannot listen, the signal ends the process, as it does any other.
        let Ok(runtime) = runtime else { return };
        if runtime.block_on(asked_to_end()).is_err() {
            return;
        }
        PRESSED.send_replace(true);
        let timeout = *CANCEL_TIMEOUT.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::sleep(timeout + GRACE);
        Failed::interrupted().tell();
        std::process::exit(Exit::Interrupted.code().into());
    });
}

/// Ctrl-C, or the SIGTERM of `timeout` and the like.
async fn asked_to_end() -> std::io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = term.recv() => Ok(()),
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
