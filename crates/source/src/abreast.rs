//! Several looks at once, where each of them takes a while.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use caudal_core::limits;

use crate::error::Error;

/// What comes of each, in their order; the first error, if there is one. One after the other, unless they are far away.
pub fn abreast<I: Sync, T: Send>(
    are_far: bool,
    items: &[I],
    look: impl Fn(&I) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    if !are_far || items.len() < 2 {
        return items.iter().map(look).collect();
    }
    let found: Vec<Mutex<Option<Result<T, Error>>>> =
        items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let has_failed = |found: &Result<T, Error>| found.is_err();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(item), Some(slot)) = (items.get(at), found.get(at)) else { return };
            let looked = look(item);
            if has_failed(&looked) {
                // The others need not be looked at; those before it are.
                next.fetch_max(items.len(), Ordering::Relaxed);
            }
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(looked);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..limits::REMOTE_OPEN_REQUESTS.min(items.len()) {
            scope.spawn(work);
        }
    });
    found.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_in_their_order_or_the_first_error() {
        let items: Vec<usize> = (0..500).collect();
        for are_far in [false, true] {
            assert_eq!(abreast(are_far, &items, |at| Ok(at * 2)).unwrap().len(), 500);
            assert!(abreast(are_far, &items, |at| Ok(*at)).unwrap().is_sorted());
            let failing = |at: &usize| match at % 100 {
                70 => Err(Error::TooManyChunks),
                _ => Ok(*at),
            };
            assert!(matches!(abreast(are_far, &items, failing), Err(Error::TooManyChunks)));
        }
    }
}
