//! The places of a gateway for connections: a bound on all, one for each address, and few for strangers.
//!
//! Who has not shown a token yet is a stranger. When a place is needed, the oldest stranger goes: a client that is let in does so
//! within moments of connecting, and whoever only sits there makes room for the next. So nobody can close a gateway by
//! connecting to it, and from one address not even by showing tokens.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use caudal_core::limits;
use futures::task::AtomicWaker;

use crate::quota::Share;

/// Numbers of places.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub connections_max: usize,
    /// Of these, for one address.
    pub per_address_max: usize,
    /// And of these, for strangers.
    pub strangers_per_address_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: limits::GATEWAY_CONNECTIONS_MAX,
            per_address_max: limits::GATEWAY_ADDRESS_CONNECTIONS_MAX,
            strangers_per_address_max: limits::GATEWAY_STRANGER_CONNECTIONS_MAX,
        }
    }
}

#[derive(Debug)]
pub struct Places {
    bounds: Bounds,
    taken: Mutex<Taken>,
}

/// Connections that have a place, by arrival.
#[derive(Debug, Default)]
struct Taken {
    next: u64,
    guests: BTreeMap<u64, Arc<Guest>>,
}

/// A connection that has a place.
#[derive(Debug)]
pub struct Guest {
    address: IpAddr,
    is_let_in: AtomicBool,
    /// What it takes of its owner's connections.
    share: OnceLock<Share>,
    is_sent_away: AtomicBool,
    /// Of the task that serves it.
    waker: AtomicWaker,
}

/// A place, free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    pub guest: Arc<Guest>,
    number: u64,
    places: Arc<Places>,
}

impl Places {
    pub fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { bounds, taken: Mutex::default() })
    }

    /// A place for a new connection from an address; `None` if it can have none.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut taken = self.taken();
        if !taken.make_room(address, self.bounds) {
            return None;
        }
        let guest = Arc::new(Guest {
            address,
            is_let_in: AtomicBool::new(false),
            share: OnceLock::new(),
            is_sent_away: AtomicBool::new(false),
            waker: AtomicWaker::new(),
        });
        let number = taken.next;
        taken.next += 1;
        taken.guests.insert(number, Arc::clone(&guest));
        Some(Place { guest, number, places: Arc::clone(self) })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // It is never left half changed.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn make_room(&mut self, address: IpAddr, bounds: Bounds) -> bool {
        let from_there = || self.guests.values().filter(|guest| guest.address == address);
        let strangers = from_there().filter(|guest| !guest.is_let_in()).count();
        if strangers >= bounds.strangers_per_address_max
            || from_there().count() >= bounds.per_address_max
        {
            return self.send_away_oldest(|guest| guest.address == address);
        }
        self.guests.len() < bounds.connections_max || self.send_away_oldest(|_| true)
    }

    /// Whether there was a stranger to be sent away.
    fn send_away_oldest(&mut self, is_eligible: impl Fn(&Guest) -> bool) -> bool {
        let mut guests = self.guests.iter();
        let oldest = guests.find(|(_, guest)| !guest.is_let_in() && is_eligible(guest));
        let Some(number) = oldest.map(|(number, _)| *number) else { return false };
        if let Some(guest) = self.guests.remove(&number) {
            guest.is_sent_away.store(true, Ordering::Release);
            guest.waker.wake();
        }
        true
    }
}

impl Guest {
    /// It has shown a token that is accepted, and may stay.
    pub fn let_in(&self, share: Option<Share>) {
        if let Some(share) = share {
            // Two calls at the same time: one share is enough.
            let _ = self.share.set(share);
        }
        self.is_let_in.store(true, Ordering::Release);
    }

    pub fn is_let_in(&self) -> bool {
        self.is_let_in.load(Ordering::Acquire)
    }

    /// Whether its place was needed. If it is needed later, the task is woken.
    pub fn is_sent_away(&self, waker: &Waker) -> bool {
        self.waker.register(waker);
        self.is_sent_away.load(Ordering::Acquire)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().guests.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn places() -> Arc<Places> {
        Places::new(Bounds { connections_max: 6, per_address_max: 4, strangers_per_address_max: 2 })
    }

    fn is_gone(place: &Place) -> bool {
        place.guest.is_sent_away(Waker::noop())
    }

    #[test]
    fn the_oldest_stranger_of_an_address_makes_room_for_the_next() {
        let places = places();
        let strangers: Vec<_> = (0..5).map(|_| places.take(HERE).unwrap()).collect();
        let gone: Vec<_> = strangers.iter().map(is_gone).collect();
        assert_eq!(gone, [true, true, true, false, false]);
    }

    #[test]
    fn one_address_does_not_take_the_places_of_another() {
        let places = places();
        let known: Vec<_> = (0..4)
            .map(|_| {
                let place = places.take(HERE).unwrap();
                place.guest.let_in(None);
                place
            })
            .collect();
        assert!(places.take(HERE).is_none(), "it has its share");
        let other = places.take(THERE).unwrap();
        assert!(!known.iter().any(is_gone) && !is_gone(&other));
        drop(known);
        assert!(places.take(HERE).is_some(), "places come back");
    }

    #[test]
    fn when_all_places_are_taken_the_oldest_stranger_of_all_goes() {
        let places = places();
        let address = |last| IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, last));
        let known = places.take(address(1)).unwrap();
        known.guest.let_in(None);
        let others: Vec<_> = (2..7).map(|last| places.take(address(last)).unwrap()).collect();
        let _next = places.take(address(7)).unwrap();
        assert!(!is_gone(&known), "older, and let in");
        let gone: Vec<_> = others.iter().map(is_gone).collect();
        assert_eq!(gone, [true, false, false, false, false]);
    }

    #[test]
    fn where_all_are_let_in_a_new_one_has_no_place() {
        let places = places();
        let address = |last| IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, last));
        let known: Vec<_> = (0..6).map(|last| places.take(address(last)).unwrap()).collect();
        known.iter().for_each(|place| place.guest.let_in(None));
        assert!(places.take(HERE).is_none());
        assert!(!known.iter().any(is_gone));
    }
}
