//! Panics of a simulation's thread.

use std::cell::RefCell;
use std::sync::Once;

use caudal_runtime::simulated;

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// An invariant that does not hold panics in some task, whose end somebody may take for a crash.
pub fn listen_to_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match simulated::elapsed() {
            Some(_) => PANICS.with_borrow_mut(|panics| panics.push(panic.to_string())),
            None => before(panic),
        }));
    });
}

pub fn take_panics() -> Vec<String> {
    PANICS.take().into_iter().map(|panic| format!("panic: {panic}")).collect()
}
