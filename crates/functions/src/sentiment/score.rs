//! The score of a text: the mean polarity of its known words, bent by negations and intensifiers.

use super::{emoticons, lexicon};

/// Takes the words of a text one by one and keeps the mean.
///
/// The rules are TextBlob's: an adverb multiplies the known word behind it ("very good"), a negation
/// turns it round and halves it ("not good"), an exclamation mark lifts the last assessed word, and
/// small unknown words between do not break the bond ("not a good").
#[derive(Default)]
pub(super) struct Scorer {
    total: f64,
    assessed: usize,
    /// The last assessed word, which the words behind it may still change.
    last: Option<Assessment>,
    modifier: Option<Modifier>,
    is_negated: bool,
}

struct Assessment {
    polarity: f64,
    intensity: f64,
    is_negated: bool,
}

impl Assessment {
    fn new(polarity: f64, intensity: f64) -> Self {
        Self { polarity, intensity, is_negated: false }
    }
}

/// A known adverb that waits for the word it modifies.
#[derive(Clone, Copy, PartialEq)]
enum Modifier {
    /// Can be negated itself: "really not good".
    Ly,
    Other,
}

impl Scorer {
    pub(super) fn word(&mut self, word: &str) {
        match lexicon::entry(word) {
            Some(entry) => self.known_word(word, entry),
            None => self.unknown_word(word),
        }
    }

    pub(super) fn mean(mut self) -> f64 {
        self.settle_last();
        if self.assessed == 0 { 0.0 } else { self.total / self.assessed as f64 }
    }

    fn known_word(&mut self, word: &str, entry: &lexicon::Entry) {
        let mut assessment = match (self.modifier.take(), self.last.take()) {
            (Some(_), Some(modifying)) => Assessment {
                polarity: (entry.polarity * modifying.intensity).clamp(-1.0, 1.0),
                intensity: entry.intensity,
                is_negated: modifying.is_negated,
            },
            (_, previous) => {
                self.last = previous;
                self.settle_last();
                Assessment::new(entry.polarity, entry.intensity)
            }
        };
        if std::mem::take(&mut self.is_negated) {
            assessment.intensity = 1.0 / assessment.intensity;
            assessment.is_negated = true;
        }
        self.last = Some(assessment);
        self.modifier = entry.is_adverb.then(|| modifier(word));
    }

    fn unknown_word(&mut self, word: &str) {
        if is_negation(word) {
            self.is_negated = true;
        } else if has_more_chars_than(1, word.trim_matches('\'')) {
            self.is_negated = false;
        }
        if self.is_negated && self.modifier == Some(Modifier::Ly) {
            self.change_last(|last| last.is_negated = true);
            self.is_negated = false;
        } else if has_more_chars_than(2, word) {
            self.modifier = None;
        }
        match word {
            "!" => self.change_last(|last| last.polarity = (last.polarity * 1.25).clamp(-1.0, 1.0)),
            "(!)" => self.assess(Assessment::new(0.0, 1.0)),
            _ => {
                if let Some(polarity) = emoticons::polarity(word) {
                    self.assess(Assessment::new(polarity, 1.0));
                }
            }
        }
    }

    fn change_last(&mut self, change: impl FnOnce(&mut Assessment)) {
        self.last.as_mut().map(change);
    }

    fn assess(&mut self, assessment: Assessment) {
        self.settle_last();
        self.last = Some(assessment);
    }

    /// Adds the last assessment to the mean: nothing will change it any more.
    fn settle_last(&mut self) {
        if let Some(last) = self.last.take() {
            self.total += if last.is_negated { last.polarity * -0.5 } else { last.polarity };
            self.assessed += 1;
        }
    }
}

fn modifier(word: &str) -> Modifier {
    let suffix = &word.as_bytes()[word.len().saturating_sub(2)..];
    if suffix.eq_ignore_ascii_case(b"ly") { Modifier::Ly } else { Modifier::Other }
}

fn is_negation(word: &str) -> bool {
    ["no", "not", "never"].iter().any(|negation| negation.eq_ignore_ascii_case(word))
}

/// Counted in lowercase, which is longer for a few letters.
fn has_more_chars_than(count: usize, word: &str) -> bool {
    if word.is_ascii() {
        word.len() > count
    } else {
        word.chars().flat_map(char::to_lowercase).nth(count).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(words: &str) -> f64 {
        let mut scorer = Scorer::default();
        words.split(' ').for_each(|word| scorer.word(word));
        scorer.mean()
    }

    #[track_caller]
    fn assert_mean(words: &str, expected: f64) {
        let mean = mean(words);
        assert!((mean - expected).abs() < 1e-12, "{words}: {mean}, not {expected}");
    }

    #[test]
    fn the_mean_is_over_known_words() {
        assert_mean("good", 0.7);
        assert_mean("good bad", 0.0);
        assert_mean("the thing", 0.0);
        assert_mean("a good thing", 0.7);
    }

    #[test]
    fn adverbs_modify_the_next_known_word() {
        assert_mean("very good", 0.7 * 1.3);
        assert_mean("very as good", 0.7 * 1.3);
        assert_mean("very awful", -1.0);
        assert_mean("very thing good", (0.2 + 0.7) / 2.0);
    }

    #[test]
    fn negations_turn_round_and_halve() {
        assert_mean("not good", -0.35);
        assert_mean("NOT a good", -0.35);
        assert_mean("not the good", 0.7);
        assert_mean("not very good", 0.7 / 1.3 * -0.5);
        assert_mean("really not good", -0.35);
    }

    #[test]
    fn exclamation_marks_lift_the_last_assessed_word() {
        assert_mean("good !", 0.875);
        assert_mean("good ! !", 1.0);
        assert_mean("!", 0.0);
    }

    #[test]
    fn sarcasm_marks_and_emoticons_are_assessed() {
        assert_mean("good (!)", 0.35);
        assert_mean("good :(", (0.7 - 0.75) / 2.0);
    }
}
