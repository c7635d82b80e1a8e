//! Ports for a broker that nobody else takes between the look and the start.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

/// Below those the system gives to outgoing connections.
const PORTS: Range<u16> = 20_000..32_000;
/// The broker's, one for each of its two helpers, the lock, and a range for its command line tools.
const PORTS_EACH: u16 = 40;
/// The process that listens on this one of a range has the range.
const LOCK: u16 = 3;

/// A range of ports, ours until it is dropped or the process ends.
#[derive(Debug)]
pub struct Reservation {
    pub first: u16,
    _lock: TcpListener,
}

impl Reservation {
    pub fn make() -> Option<Self> {
        let mut candidates: Vec<u16> = PORTS.step_by(PORTS_EACH.into()).collect();
        fastrand::shuffle(&mut candidates);
        candidates.into_iter().find_map(Self::of)
    }

    fn of(first: u16) -> Option<Self> {
        let reservation = Self::again(first)?;
        (0..LOCK).all(|offset| listen(first + offset).is_some()).then_some(reservation)
    }

    /// A range that was reserved before, whether its broker runs or not; none where somebody has it.
    pub fn again(first: u16) -> Option<Self> {
        Some(Self { first, _lock: listen(first.checked_add(LOCK)?)? })
    }
}

fn listen(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_reserved_once() {
        let reservation = Reservation::make().unwrap();
        assert!(PORTS.contains(&reservation.first));
        assert!(Reservation::of(reservation.first).is_none());
        let first = reservation.first;
        assert!(Reservation::again(first).is_none());
        drop(reservation);
        assert!(Reservation::again(first).is_some());
        assert!(Reservation::of(first).is_some());
    }

    #[test]
    fn a_range_in_use_is_not_reserved() {
        let used = Reservation::make().unwrap().first;
        let _broker = TcpListener::bind((Ipv4Addr::LOCALHOST, used)).unwrap();
        assert!(Reservation::of(used).is_none());
    }
}
