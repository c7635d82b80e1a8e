//! Order in which sessions are planned. Pure: requests and completions go in, who has a planner comes out.
//!
//! Planners are few and a planning may be slow. So of those who wait the one goes first whose owner has the fewest
//! plannings under way; among equals, who came first. Where owners are told apart, none of them has all planners.

use std::collections::{BTreeMap, VecDeque};

/// A planning that waits or is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

#[derive(Clone, Copy, Debug)]
pub struct TurnBounds {
    /// Plannings at once.
    pub at_once: usize,
    /// Those of one owner.
    pub at_once_of_owner: usize,
    pub waiting: usize,
    pub waiting_of_owner: usize,
}

#[derive(Debug)]
pub struct Turns {
    bounds: TurnBounds,
    /// Under way, with their owners.
    planning: BTreeMap<Ticket, String>,
    /// In the order in which they came.
    waiting: VecDeque<(Ticket, String)>,
    tickets: u64,
}

impl Turns {
    pub fn new(bounds: TurnBounds) -> Self {
        Self { bounds, planning: BTreeMap::new(), waiting: VecDeque::new(), tickets: 0 }
    }

    /// One more to be planned; none where too many wait already.
    pub fn ask(&mut self, owner: &str) -> Option<Ticket> {
        let of_owner = self.waiting.iter().filter(|(_, other)| other == owner).count();
        if self.waiting.len() >= self.bounds.waiting || of_owner >= self.bounds.waiting_of_owner {
            return None;
        }
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        self.waiting.push_back((ticket, owner.to_string()));
        self.grant();
        Some(ticket)
    }

    pub fn is_turn_of(&self, ticket: Ticket) -> bool {
        self.planning.contains_key(&ticket)
    }

    /// It is planned, or does not wait any more.
    pub fn leave(&mut self, ticket: Ticket) {
        self.planning.remove(&ticket);
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
        self.grant();
    }

    fn grant(&mut self) {
        while self.planning.len() < self.bounds.at_once {
            let Some((ticket, owner)) = self.next().and_then(|at| self.waiting.remove(at)) else {
                return;
            };
            self.planning.insert(ticket, owner);
        }
    }

    fn next(&self) -> Option<usize> {
        let under_way = |owner: &str| self.planning.values().filter(|one| *one == owner).count();
        let waiting = self.waiting.iter().map(|(_, owner)| under_way(owner)).enumerate();
        let may = waiting.filter(|(_, under_way)| *under_way < self.bounds.at_once_of_owner);
        may.min_by_key(|(at, under_way)| (*under_way, *at)).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(at_once_of_owner: usize) -> Turns {
        let bounds = TurnBounds { at_once: 2, at_once_of_owner, waiting: 4, waiting_of_owner: 3 };
        Turns::new(bounds)
    }

    #[test]
    fn who_comes_first_goes_first() {
        let mut turns = turns(2);
        let [a, b, c, d] = [(); 4].map(|()| turns.ask("one").unwrap());
        assert!(turns.is_turn_of(a) && turns.is_turn_of(b));
        assert!(!turns.is_turn_of(c) && !turns.is_turn_of(d));
        turns.leave(b);
        assert!(turns.is_turn_of(c) && !turns.is_turn_of(d) && !turns.is_turn_of(b));
    }

    #[test]
    fn no_owner_has_all_planners() {
        let mut turns = turns(1);
        let [slow, next] = [(); 2].map(|()| turns.ask("slow").unwrap());
        assert!(turns.is_turn_of(slow) && !turns.is_turn_of(next));
        let other = turns.ask("other").unwrap();
        assert!(turns.is_turn_of(other), "a planner was left for it");
        turns.leave(other);
        assert!(!turns.is_turn_of(next), "it is left for the next one, too");
        turns.leave(slow);
        assert!(turns.is_turn_of(next));
    }

    #[test]
    fn of_those_who_wait_the_one_with_fewest_goes_first() {
        let mut turns = turns(2);
        let [first, second, third] = [(); 3].map(|()| turns.ask("greedy").unwrap());
        let other = turns.ask("other").unwrap();
        turns.leave(first);
        assert!(turns.is_turn_of(other) && !turns.is_turn_of(third));
        turns.leave(second);
        assert!(turns.is_turn_of(third));
    }

    #[test]
    fn only_so_many_wait_and_who_gives_up_makes_room() {
        let mut turns = turns(1);
        let [_, first, _, _] = [(); 4].map(|()| turns.ask("one").unwrap());
        assert_eq!(turns.ask("one"), None, "three of an owner");
        for owner in ["two", "three"] {
            turns.ask(owner).unwrap();
        }
        assert_eq!(turns.ask("four"), None, "four of all: three of one, and that of three");
        turns.leave(first);
        assert!(turns.ask("four").is_some());
    }

    /// In any sequence of arrivals and departures no bound is exceeded, no place is left idle, and all get their turn.
    #[test]
    fn at_random_bounds_hold_and_nobody_starves() {
        fastrand::seed(7);
        for _ in 0..200 {
            let mut turns = turns(fastrand::usize(1..=2));
            let mut open = vec![];
            for _ in 0..100 {
                let owner = ["one", "two", "three"][fastrand::usize(..3)];
                match fastrand::bool() {
                    true => open.extend(turns.ask(owner)),
                    false if !open.is_empty() => {
                        turns.leave(open.swap_remove(fastrand::usize(..open.len())));
                    }
                    false => {}
                }
                assert!(turns.planning.len() <= 2 && turns.waiting.len() <= 4);
                for owner in ["one", "two", "three"] {
                    let under_way = turns.planning.values().filter(|one| *one == owner).count();
                    assert!(under_way <= turns.bounds.at_once_of_owner);
                }
                assert!(turns.planning.len() == 2 || turns.next().is_none());
            }
            while let Some(ticket) = turns.planning.keys().next().copied() {
                turns.leave(ticket);
            }
            assert!(turns.waiting.is_empty());
        }
    }
}
