//! Ports for a broker that nobody else takes between the look and the start.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

/// Below those the system gives to outgoing connections.
const PORTS: Range<u16> = 20_000..32_000;
/// The broker's, one for each of its two helpers, the lock, and a range for its command line tools.
const PORTS_EACH: u16 = 40;
/// Whoever listens on this one of a range has the range.
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
        let listen = |offset: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, first + offset)).ok();
        let lock = listen(LOCK)?;
        let free = (0..LOCK).all(|offset| listen(offset).is_some());
        free.then_some(Self { first, _lock: lock })
    }
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
        drop(reservation);
        assert!(Reservation::of(first).is_some());
    }

    #[test]
    fn a_range_in_use_is_not_reserved() {
        let used = Reservation::make().unwrap().first;
        let _broker = TcpListener::bind((Ipv4Addr::LOCALHOST, used)).unwrap();
        assert!(Reservation::of(used).is_none());
    }
}
