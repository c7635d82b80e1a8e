//! Restarts of the dead by the leader: one revival at a time for each, a backoff that grows after each one
//! in vain, and after so many of those no more.

use std::collections::BTreeMap;

use caudal_core::limits::{
    LAUNCH_MS, REVIVAL_BACKOFF_MS_MAX, REVIVAL_BACKOFF_MS_MIN, REVIVALS_MAX, STABLE_MS, START_MS,
};
use caudal_runtime::Backoff;

use crate::NodeId;
use crate::detect::Verdict;
use crate::launch::Outcome;

#[derive(Default)]
pub struct Reviver {
    supervised: BTreeMap<NodeId, Supervision>,
}

#[derive(Default)]
struct Supervision {
    state: State,
    /// Revivals since the node was last up for long.
    revivals: u32,
    /// Launches in a row of which nothing came, since somebody runs.
    left_alone: u32,
    up_since_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Fine,
    /// The launcher is at work.
    Launching {
        until_ms: u64,
    },
    /// It has been started; it has to answer by then.
    Starting {
        until_ms: u64,
    },
    /// Another try is not due before.
    Pausing {
        until_ms: u64,
    },
    GivenUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Launch,
    /// The last word: nothing more will be tried until the node answers by itself.
    GiveUp {
        revivals: u32,
    },
}

impl Reviver {
    /// Forgets all nodes: a monitor that does not lead revives nobody, and one that leads anew begins anew.
    pub fn forget(&mut self) {
        self.supervised.clear();
    }

    /// The next step for a node.
    pub fn step(&mut self, node: NodeId, verdict: Verdict, now_ms: u64) -> Option<Step> {
        let supervision = self.supervised.entry(node).or_default();
        match verdict {
            Verdict::Unknown => None,
            Verdict::Up => {
                supervision.is_up(now_ms);
                None
            }
            Verdict::Down => supervision.is_down(now_ms),
        }
    }

    /// A launch is over, whether it worked or not.
    pub fn launched(&mut self, node: NodeId, outcome: &Outcome, now_ms: u64) {
        let Some(supervision) = self.supervised.get_mut(&node) else { return };
        if let State::Launching { .. } = supervision.state {
            supervision.state = match outcome {
                Outcome::Started => State::Starting { until_ms: now_ms + START_MS },
                Outcome::LeftAlone => supervision.ask_again(now_ms),
                Outcome::Failed { .. } => supervision.pause(now_ms),
            };
        }
    }

    pub fn given_up(&self) -> impl Iterator<Item = NodeId> {
        let supervised = self.supervised.iter();
        supervised
            .filter(|(_, supervision)| supervision.state == State::GivenUp)
            .map(|(node, _)| *node)
    }
}

impl Supervision {
    fn is_up(&mut self, now_ms: u64) {
        self.left_alone = 0;
        let since_ms = *self.up_since_ms.get_or_insert(now_ms);
        // A launch that is under way ends by itself.
        if !matches!(self.state, State::Launching { until_ms } if now_ms < until_ms) {
            self.state = State::Fine;
        }
        if now_ms >= since_ms + STABLE_MS {
            self.revivals = 0;
        }
    }

    fn is_down(&mut self, now_ms: u64) -> Option<Step> {
        self.up_since_ms = None;
        match self.state {
            State::Fine if self.revivals == 0 => return self.launch(now_ms),
            State::Fine => self.state = self.pause(now_ms),
            State::Launching { until_ms } | State::Starting { until_ms } if now_ms >= until_ms => {
                self.state = self.pause(now_ms);
            }
            State::Pausing { until_ms } if now_ms >= until_ms => return self.launch(now_ms),
            State::Launching { .. } | State::Starting { .. } => {}
            State::Pausing { .. } | State::GivenUp => {}
        }
        None
    }

    fn launch(&mut self, now_ms: u64) -> Option<Step> {
        if self.revivals == REVIVALS_MAX {
            self.state = State::GivenUp;
            return Some(Step::GiveUp { revivals: self.revivals });
        }
        self.revivals += 1;
        self.state = State::Launching { until_ms: now_ms + LAUNCH_MS };
        Some(Step::Launch)
    }

    /// Nothing was done, so nothing was in vain: it is asked for again, soon at first, as long as it takes.
    /// Perhaps the monitor that was asked had not missed it yet; perhaps it is cut off, and will be for hours.
    fn ask_again(&mut self, now_ms: u64) -> State {
        self.revivals -= 1;
        let pause_ms = Backoff::new(REVIVAL_BACKOFF_MS_MIN, START_MS).most_ms(self.left_alone);
        self.left_alone += 1;
        State::Pausing { until_ms: now_ms + pause_ms }
    }

    fn pause(&self, now_ms: u64) -> State {
        let backoff = Backoff::new(REVIVAL_BACKOFF_MS_MIN, REVIVAL_BACKOFF_MS_MAX);
        let pause_ms = backoff.most_ms(self.revivals.saturating_sub(1));
        State::Pausing { until_ms: now_ms + pause_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(1);

    #[test]
    fn at_most_one_revival_is_under_way() {
        let mut reviver = Reviver::default();
        assert_eq!(reviver.step(NODE, Verdict::Down, 0), Some(Step::Launch));
        for now_ms in 0..LAUNCH_MS {
            assert_eq!(reviver.step(NODE, Verdict::Down, now_ms), None);
        }
    }

    #[test]
    fn pauses_grow_up_to_a_bound_and_then_it_is_given_up() {
        let mut reviver = Reviver::default();
        let (mut launches, mut last_word) = (vec![], None);
        for now_ms in 0..2_000_000 {
            match reviver.step(NODE, Verdict::Down, now_ms) {
                Some(Step::Launch) => {
                    launches.push(now_ms);
                    reviver.launched(NODE, &Outcome::Failed { reason: String::new() }, now_ms);
                }
                Some(Step::GiveUp { revivals }) => {
                    assert!(last_word.replace(revivals).is_none(), "said twice");
                }
                None => {}
            }
        }
        assert_eq!(launches.len(), REVIVALS_MAX as usize);
        assert_eq!(last_word, Some(REVIVALS_MAX));
        let pauses: Vec<_> = launches.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(pauses.is_sorted() && pauses[0] >= REVIVAL_BACKOFF_MS_MIN, "{pauses:?}");
        assert!(pauses.iter().all(|pause| *pause <= REVIVAL_BACKOFF_MS_MAX + 2), "{pauses:?}");
        assert_eq!(reviver.given_up().collect::<Vec<_>>(), [NODE]);
        reviver.step(NODE, Verdict::Up, 2_000_000);
        assert_eq!(reviver.given_up().count(), 0, "it answers");
    }

    #[test]
    fn one_that_was_up_for_long_is_brought_back_at_once() {
        let mut reviver = Reviver::default();
        assert_eq!(reviver.step(NODE, Verdict::Down, 0), Some(Step::Launch));
        reviver.launched(NODE, &Outcome::Started, 10);
        reviver.step(NODE, Verdict::Up, 100);
        assert_eq!(reviver.step(NODE, Verdict::Down, 200), None, "it died at once: a pause");
        assert_eq!(
            reviver.step(NODE, Verdict::Down, 200 + REVIVAL_BACKOFF_MS_MIN),
            Some(Step::Launch)
        );
        reviver.launched(NODE, &Outcome::Started, 1000);
        reviver.step(NODE, Verdict::Up, 2000);
        reviver.step(NODE, Verdict::Up, 2000 + STABLE_MS);
        assert_eq!(reviver.step(NODE, Verdict::Down, 8000), Some(Step::Launch));
    }

    #[test]
    fn a_monitor_that_was_asked_too_early_is_asked_again_soon() {
        let mut reviver = Reviver::default();
        assert_eq!(reviver.step(NODE, Verdict::Down, 0), Some(Step::Launch));
        reviver.launched(NODE, &Outcome::LeftAlone, 10);
        assert_eq!(
            reviver.step(NODE, Verdict::Down, 10 + REVIVAL_BACKOFF_MS_MIN),
            Some(Step::Launch)
        );
    }

    /// It is cut off, perhaps for hours, and may die meanwhile.
    #[test]
    fn one_that_is_left_alone_is_never_given_up() {
        let mut reviver = Reviver::default();
        let mut launches = 0;
        for now_ms in (0..10_000_000).step_by(50) {
            match reviver.step(NODE, Verdict::Down, now_ms) {
                Some(Step::Launch) => {
                    launches += 1;
                    reviver.launched(NODE, &Outcome::LeftAlone, now_ms);
                }
                Some(Step::GiveUp { .. }) => panic!("given up"),
                None => {}
            }
        }
        assert!(launches > 10 * REVIVALS_MAX && launches < 10_000, "{launches}");
    }

    #[test]
    fn a_late_answer_of_a_launcher_is_none() {
        let mut reviver = Reviver::default();
        reviver.launched(NODE, &Outcome::Started, 0);
        assert_eq!(reviver.step(NODE, Verdict::Down, 0), Some(Step::Launch));
        reviver.forget();
        reviver.launched(NODE, &Outcome::Started, 10);
        assert_eq!(reviver.step(NODE, Verdict::Down, 20), Some(Step::Launch));
    }
}
