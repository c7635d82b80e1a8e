//! When which nodes of a kind could be used, and for how long none could. Facts in, gaps out.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

/// The reason why a node could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    Dead,
    Frozen,
    NoBroker,
    NoStore,
    /// It can read from the store.
    NoWrites,
}

impl Why {
    pub fn words(self) -> &'static str {
        match self {
            Why::Dead => "dead",
            Why::Frozen => "frozen",
            Why::NoBroker => "without broker",
            Why::NoStore => "without store",
            Why::NoWrites => "without a store that takes something",
        }
    }
}

/// The lives of all nodes of a kind. A node that is started again has another one.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    lives: Vec<Life>,
}

#[derive(Clone, Debug)]
struct Life {
    name: String,
    from: Duration,
    /// None as long as it lives.
    until: Option<Duration>,
    away: Vec<(Range<Duration>, Why)>,
}

/// A time in which no node could be used, and all that kept them from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub time: Range<Duration>,
    pub why: BTreeSet<Why>,
}

impl Gap {
    pub fn length(&self) -> Duration {
        self.time.end - self.time.start
    }
}

impl Timeline {
    pub fn starts(&mut self, name: &str, at: Duration) {
        self.lives.push(Life { name: name.to_string(), from: at, until: None, away: vec![] });
    }

    pub fn ends(&mut self, name: &str, at: Duration) {
        if let Some(life) = self.living(name) {
            life.until = Some(at);
        }
    }

    /// The one of this name that lives now cannot be used for a while.
    pub fn is_away(&mut self, name: &str, time: Range<Duration>, why: Why) {
        if let Some(life) = self.living(name) {
            life.away.push((time, why));
        }
    }

    fn living(&mut self, name: &str) -> Option<&mut Life> {
        self.lives.iter_mut().rev().find(|life| life.name == name && life.until.is_none())
    }

    /// How many nodes there were, each counted once however often it was started.
    pub fn nodes(&self) -> usize {
        self.lives.iter().map(|life| &life.name).collect::<BTreeSet<_>>().len()
    }

    /// The times within which no node could be used. That one could for less than a moment is of no use to anybody.
    pub fn gaps(&self, within: Range<Duration>, moment: Duration) -> Vec<Gap> {
        let stretches = self.lives.iter().flat_map(|life| life.usable(&within, |_| true));
        let mut usable: Vec<_> =
            stretches.filter(|stretch| stretch.end - stretch.start >= moment).collect();
        usable.sort_by_key(|stretch| stretch.start);
        let mut gaps = vec![];
        let mut at = within.start;
        for stretch in usable {
            if stretch.start > at {
                gaps.push(self.gap(at..stretch.start));
            }
            at = at.max(stretch.end);
        }
        if within.end > at {
            gaps.push(self.gap(at..within.end));
        }
        gaps
    }

    /// The longest time in all for which one node lived and could see what is in the store.
    pub fn watched(&self, within: &Range<Duration>) -> Duration {
        let blinds = |why| matches!(why, Why::Frozen | Why::NoStore);
        let watched = self.lives.iter().map(|life| {
            life.usable(within, blinds).iter().map(|stretch| stretch.end - stretch.start).sum()
        });
        watched.max().unwrap_or_default()
    }

    /// The longest of them.
    pub fn longest_gap(&self, within: Range<Duration>, moment: Duration) -> Option<Gap> {
        self.gaps(within, moment).into_iter().max_by_key(Gap::length)
    }

    fn gap(&self, time: Range<Duration>) -> Gap {
        let overlaps = |other: &Range<Duration>| other.start < time.end && time.start < other.end;
        let mut why: BTreeSet<Why> = self
            .lives
            .iter()
            .filter(|life| overlaps(&life.time()))
            .flat_map(|life| life.away.iter().filter(|(away, _)| overlaps(away)))
            .map(|(_, why)| *why)
            .collect();
        let is_dead = |life: &Life| life.until.is_some_and(|until| until < time.end);
        if why.is_empty() || self.lives.iter().any(is_dead) {
            why.insert(Why::Dead);
        }
        Gap { time, why }
    }
}

impl Life {
    fn time(&self) -> Range<Duration> {
        self.from..self.until.unwrap_or(Duration::MAX)
    }

    /// The stretches of it that nothing of these reasons takes away.
    fn usable(
        &self,
        within: &Range<Duration>,
        counts: impl Fn(Why) -> bool,
    ) -> Vec<Range<Duration>> {
        let end = self.time().end.min(within.end);
        let mut at = self.from.max(within.start);
        let away = self.away.iter().filter(|(_, why)| counts(*why));
        let mut away: Vec<_> = away.map(|(time, _)| time.clone()).collect();
        away.sort_by_key(|time| time.start);
        let mut usable = vec![];
        for time in away {
            if at < time.start.min(end) {
                usable.push(at..time.start.min(end));
            }
            at = at.max(time.end);
        }
        if at < end {
            usable.push(at..end);
        }
        usable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn gaps(timeline: &Timeline, within: Range<u64>, moment: u64) -> Vec<(u64, u64)> {
        let gaps = timeline.gaps(s(within.start)..s(within.end), s(moment));
        gaps.iter().map(|gap| (gap.time.start.as_secs(), gap.time.end.as_secs())).collect()
    }

    #[test]
    fn as_long_as_one_can_be_used_there_is_no_gap() {
        let mut timeline = Timeline::default();
        timeline.starts("a", s(0));
        timeline.starts("b", s(0));
        timeline.is_away("a", s(10)..s(30), Why::Frozen);
        timeline.is_away("b", s(40)..s(90), Why::NoStore);
        assert_eq!(gaps(&timeline, 0..100, 5), []);
        timeline.is_away("b", s(25)..s(35), Why::NoBroker);
        assert_eq!(gaps(&timeline, 0..100, 5), [(25, 30)]);
        let gap = timeline.longest_gap(s(0)..s(100), s(5)).unwrap();
        assert_eq!(gap.length(), s(5));
        assert_eq!(gap.why, BTreeSet::from([Why::Frozen, Why::NoBroker]));
    }

    #[test]
    fn a_node_that_is_started_again_is_not_cut_off_any_more() {
        let mut timeline = Timeline::default();
        timeline.starts("a", s(0));
        timeline.is_away("a", s(10)..s(90), Why::NoStore);
        timeline.ends("a", s(20));
        assert_eq!(gaps(&timeline, 0..100, 5), [(10, 100)]);
        timeline.starts("a", s(40));
        assert_eq!(gaps(&timeline, 0..100, 5), [(10, 40)]);
        let gap = timeline.longest_gap(s(0)..s(100), s(5)).unwrap();
        assert_eq!(gap.why, BTreeSet::from([Why::Dead, Why::NoStore]));
    }

    #[test]
    fn who_cannot_write_or_send_may_watch() {
        let mut timeline = Timeline::default();
        timeline.starts("a", s(0));
        timeline.is_away("a", s(10)..s(50), Why::NoBroker);
        timeline.is_away("a", s(40)..s(60), Why::NoWrites);
        assert_eq!(timeline.watched(&(s(0)..s(100))), s(100));
        timeline.is_away("a", s(20)..s(45), Why::NoStore);
        timeline.is_away("a", s(90)..s(95), Why::Frozen);
        assert_eq!(timeline.watched(&(s(10)..s(100))), s(60));
    }

    #[test]
    fn a_moment_is_of_no_use() {
        let mut timeline = Timeline::default();
        timeline.starts("a", s(0));
        timeline.is_away("a", s(10)..s(50), Why::Frozen);
        timeline.is_away("a", s(53)..s(80), Why::Frozen);
        assert_eq!(gaps(&timeline, 0..100, 5), [(10, 80)]);
        assert_eq!(gaps(&timeline, 0..100, 3), [(10, 50), (53, 80)]);
        assert_eq!(gaps(&timeline, 8..82, 5), [(8, 82)], "nor is one at the beginning or the end");
    }

    #[test]
    fn where_nobody_ever_was_it_is_one_gap() {
        assert_eq!(gaps(&Timeline::default(), 3..9, 1), [(3, 9)]);
    }

    /// Second by second, as slowly as it can be said.
    #[test]
    fn gaps_are_those_seconds_in_which_nobody_could_be_used() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let mut timeline = Timeline::default();
            let mut usable = [false; 60];
            for name in ["a", "b", "c"] {
                let mut at = rng.usize(0..10);
                while at < 60 {
                    let end = at + rng.usize(1..40);
                    timeline.starts(name, s(at as u64));
                    let mut life = [false; 60];
                    life[at..end.min(60)].fill(true);
                    for _ in 0..rng.usize(..4) {
                        let from = rng.usize(at..end);
                        let until = from + rng.usize(1..20);
                        timeline.is_away(name, s(from as u64)..s(until as u64), Why::Frozen);
                        life[from.min(60)..until.min(60)].fill(false);
                    }
                    if end < 60 {
                        timeline.ends(name, s(end as u64));
                    }
                    usable.iter_mut().zip(life).for_each(|(usable, life)| *usable |= life);
                    at = end + rng.usize(0..10);
                }
            }
            let mut found = [true; 60];
            for gap in timeline.gaps(s(0)..s(60), s(1)) {
                let (from, until) = (gap.time.start.as_secs(), gap.time.end.as_secs());
                found[from as usize..until as usize].fill(false);
            }
            assert_eq!(found, usable);
        }
    }
}
