//! The tracker: which fragments have been seen, and when a source is complete.
//!
//! **Completion is coverage, not counting**: a source is complete when its end *N* is known and each
//! of the numbers `0..N` has been seen. Order, duplicates and late arrivals cannot change that.
//!
//! The tracker's invariants, used by the tests, the simulation and production alike:
//!
//! - *taken once*: [`Offer::Taken`] is answered at most once for each fragment, whatever is offered.
//! - *whole attempts*: the payloads of one [`Offer::Taken`] are all the parts of one attempt.
//! - *one end*: a source has one end; another one, or a number at or beyond it, is an [`EndConflict`].

use std::collections::{BTreeMap, HashMap};

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ids::{Attempt, FragmentId, Source};

/// A part of a fragment's attempt: `index` of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub attempt: Attempt,
    pub index: u32,
    pub count: u32,
}

/// The outcome of a part that was offered.
#[derive(Debug, PartialEq, Eq)]
pub enum Offer<P> {
    /// With this part its fragment is whole: these are the payloads of all its parts, in order.
    Taken(Vec<P>),
    /// Kept until the other parts of its attempt arrive.
    Pending,
    /// The fragment, or this very part, was seen before: drop it.
    Duplicate,
}

/// Two facts about the end of a source that cannot both be true: a defect at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndConflict {
    #[error("{source_id} was said to end after {known} fragments, and now after {claimed}")]
    TwoEnds { source_id: Source, known: u32, claimed: u32 },
    #[error("{fragment} is beyond the end of its source, which has {end} fragments")]
    BeyondEnd { fragment: FragmentId, end: u32 },
    #[error("{fragment} has part {index} of {count}")]
    NoSuchPart { fragment: FragmentId, index: u32, count: u32 },
}

/// Fragments that one consumer (a shard, a client) has seen of each of its sources. `P` is a part's payload.
#[derive(Debug)]
pub struct Tracker<P> {
    sources: HashMap<Source, Seen>,
    pending: HashMap<FragmentId, HashMap<Attempt, PendingParts<P>>>,
}

/// Fragments that have been seen of a source, in a form that can be written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenOfSource {
    pub source: Source,
    pub end: Option<u32>,
    /// First and last of each run of numbers.
    pub numbers: Vec<(u32, u32)>,
}

#[derive(Debug, Default)]
struct Seen {
    numbers: RoaringBitmap,
    end: Option<u32>,
}

#[derive(Debug)]
struct PendingParts<P> {
    count: u32,
    parts: BTreeMap<u32, P>,
}

impl<P> Default for Tracker<P> {
    fn default() -> Self {
        Self { sources: HashMap::new(), pending: HashMap::new() }
    }
}

impl<P> Tracker<P> {
    /// Takes note of a part, and says what to do with it.
    pub fn offer(
        &mut self,
        id: FragmentId,
        part: Part,
        payload: P,
    ) -> Result<Offer<P>, EndConflict> {
        if part.index >= part.count {
            return Err(EndConflict::NoSuchPart {
                fragment: id,
                index: part.index,
                count: part.count,
            });
        }
        let seen = self.sources.entry(id.source).or_default();
        if let Some(end) = seen.end.filter(|end| id.number >= *end) {
            return Err(EndConflict::BeyondEnd { fragment: id, end });
        }
        if seen.numbers.contains(id.number) {
            return Ok(Offer::Duplicate);
        }
        let taken = if part.count == 1 {
            vec![payload]
        } else {
            match self.add_pending(id, part, payload) {
                Ok(parts) => parts,
                Err(offer) => return Ok(offer),
            }
        };
        self.pending.remove(&id);
        let fresh = self.sources.entry(id.source).or_default().numbers.insert(id.number);
        assert!(fresh, "taken once: {id}");
        Ok(Offer::Taken(taken))
    }

    /// All parts of the attempt if this was the last one missing.
    fn add_pending(&mut self, id: FragmentId, part: Part, payload: P) -> Result<Vec<P>, Offer<P>> {
        let attempts = self.pending.entry(id).or_default();
        let attempt = attempts
            .entry(part.attempt)
            .or_insert_with(|| PendingParts { count: part.count, parts: BTreeMap::new() });
        if attempt.parts.contains_key(&part.index) {
            return Err(Offer::Duplicate);
        }
        attempt.parts.insert(part.index, payload);
        if attempt.parts.len() < attempt.count as usize {
            return Err(Offer::Pending);
        }
        let whole = attempts.remove(&part.attempt).expect("entered above");
        Ok(whole.parts.into_values().collect())
    }

    /// Takes note of a whole fragment that was taken by an earlier owner.
    pub fn restore_seen(&mut self, id: FragmentId) {
        let fresh = self.sources.entry(id.source).or_default().numbers.insert(id.number);
        assert!(fresh, "taken once: {id}");
        self.pending.remove(&id);
    }

    /// Fragments that have been seen of each source, in the order of the sources.
    pub fn seen(&self) -> Vec<SeenOfSource> {
        let ranges = |numbers: &RoaringBitmap| {
            let mut ranges: Vec<(u32, u32)> = vec![];
            for number in numbers {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == number => *last = number,
                    _ => ranges.push((number, number)),
                }
            }
            ranges
        };
        let seen = self.sources.iter().map(|(source, seen)| SeenOfSource {
            source: *source,
            end: seen.end,
            numbers: ranges(&seen.numbers),
        });
        let mut seen: Vec<_> = seen.collect();
        seen.sort_by_key(|seen| seen.source);
        seen
    }

    /// Parts that wait for the others of their attempt, in a fixed order.
    pub fn pending(&self) -> Vec<(FragmentId, Part, &P)> {
        let mut pending = vec![];
        for (id, attempts) in &self.pending {
            for (attempt, waiting) in attempts {
                for (index, payload) in &waiting.parts {
                    let part = Part { attempt: *attempt, index: *index, count: waiting.count };
                    pending.push((*id, part, payload));
                }
            }
        }
        pending.sort_by_key(|(id, part, _)| (*id, part.attempt, part.index));
        pending
    }

    /// Takes note of how many fragments a source has. Saying it again is fine.
    pub fn end(&mut self, source: Source, count: u32) -> Result<(), EndConflict> {
        let seen = self.sources.entry(source).or_default();
        match seen.end {
            Some(known) if known != count => {
                Err(EndConflict::TwoEnds { source_id: source, known, claimed: count })
            }
            Some(_) => Ok(()),
            None => match seen.numbers.max().filter(|highest| *highest >= count) {
                Some(number) => Err(EndConflict::BeyondEnd {
                    fragment: FragmentId { source, number },
                    end: count,
                }),
                None => {
                    seen.end = Some(count);
                    Ok(())
                }
            },
        }
    }

    /// Whether every fragment of the source has been seen.
    pub fn is_complete(&self, source: Source) -> bool {
        self.sources
            .get(&source)
            .is_some_and(|seen| seen.end.is_some_and(|end| seen.numbers.len() == u64::from(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TableId;

    const SOURCE: Source = Source::Table(TableId(0));

    fn id(number: u32) -> FragmentId {
        FragmentId { source: SOURCE, number }
    }

    fn whole(attempt: u64) -> Part {
        Part { attempt: Attempt(attempt), index: 0, count: 1 }
    }

    fn part(attempt: u64, index: u32, count: u32) -> Part {
        Part { attempt: Attempt(attempt), index, count }
    }

    #[test]
    fn a_fragment_is_taken_once_whoever_sends_it_again() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.offer(id(3), whole(1), "a"), Ok(Offer::Taken(vec!["a"])));
        assert_eq!(tracker.offer(id(3), whole(1), "a"), Ok(Offer::Duplicate));
        assert_eq!(tracker.offer(id(3), whole(2), "b"), Ok(Offer::Duplicate));
        assert_eq!(tracker.sources[&SOURCE].numbers.len(), 1);
    }

    #[test]
    fn completion_is_coverage_in_any_order() {
        let mut tracker = Tracker::default();
        for number in [2, 0, 2] {
            tracker.offer(id(number), whole(1), ()).unwrap();
        }
        tracker.end(SOURCE, 3).unwrap();
        assert!(!tracker.is_complete(SOURCE));
        tracker.offer(id(1), whole(1), ()).unwrap();
        assert!(tracker.is_complete(SOURCE));
    }

    #[test]
    fn nothing_at_all_is_complete_at_once_but_only_when_it_is_said() {
        let mut tracker = Tracker::<()>::default();
        assert!(!tracker.is_complete(SOURCE));
        tracker.end(SOURCE, 0).unwrap();
        assert!(tracker.is_complete(SOURCE));
    }

    #[test]
    fn parts_of_different_attempts_are_never_mixed() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.offer(id(0), part(1, 0, 2), "1a"), Ok(Offer::Pending));
        assert_eq!(tracker.offer(id(0), part(2, 1, 3), "2b"), Ok(Offer::Pending));
        assert_eq!(tracker.offer(id(0), part(2, 0, 3), "2a"), Ok(Offer::Pending));
        assert_eq!(tracker.offer(id(0), part(2, 1, 3), "2b"), Ok(Offer::Duplicate));
        assert_eq!(
            tracker.offer(id(0), part(2, 2, 3), "2c"),
            Ok(Offer::Taken(vec!["2a", "2b", "2c"]))
        );
        assert_eq!(tracker.offer(id(0), part(1, 1, 2), "1b"), Ok(Offer::Duplicate));
    }

    #[test]
    fn what_was_seen_can_be_written_down_and_restored() {
        let mut tracker = Tracker::default();
        for number in [0, 1, 2, 5] {
            tracker.offer(id(number), whole(1), "").unwrap();
        }
        tracker.offer(id(3), part(1, 1, 2), "3b").unwrap();
        tracker.end(SOURCE, 6).unwrap();
        let seen = tracker.seen();
        assert_eq!(seen[0].numbers, [(0, 2), (5, 5)]);

        let mut restored = Tracker::default();
        for SeenOfSource { source, end, numbers } in &seen {
            for number in numbers.iter().flat_map(|(first, last)| *first..=*last) {
                restored.restore_seen(FragmentId { source: *source, number });
            }
            end.iter().for_each(|end| restored.end(*source, *end).unwrap());
        }
        for (id, part, payload) in tracker.pending() {
            assert_eq!(restored.offer(id, part, *payload), Ok(Offer::Pending));
        }
        assert_eq!(restored.offer(id(5), whole(2), ""), Ok(Offer::Duplicate));
        assert_eq!(restored.offer(id(3), part(1, 0, 2), "3a"), Ok(Offer::Taken(vec!["3a", "3b"])));
        restored.offer(id(4), whole(9), "").unwrap();
        assert!(restored.is_complete(SOURCE));
    }

    #[test]
    fn an_end_that_contradicts_what_is_known_is_refused() {
        let mut tracker = Tracker::default();
        tracker.offer(id(4), whole(1), ()).unwrap();
        assert!(matches!(tracker.end(SOURCE, 4), Err(EndConflict::BeyondEnd { .. })));
        tracker.end(SOURCE, 5).unwrap();
        tracker.end(SOURCE, 5).unwrap();
        assert!(matches!(tracker.end(SOURCE, 6), Err(EndConflict::TwoEnds { .. })));
        assert!(matches!(tracker.offer(id(5), whole(1), ()), Err(EndConflict::BeyondEnd { .. })));
        assert!(matches!(
            tracker.offer(id(0), part(1, 2, 2), ()),
            Err(EndConflict::NoSuchPart { .. })
        ));
    }
}
