//! Texts that have a language, a mood and a length.

use crate::random::{Rng, per_mille, pick};
use crate::words::{
    ADJECTIVES, BAD, BAD_REMARKS, DEGREES, FOREIGN, GOOD, GOOD_REMARKS, NEUTRAL_REMARKS, NOUNS,
    PLACES, Phrases, SUBJECTS,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Good,
    Bad,
    Mixed,
}

/// Language of a text's words.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    English,
    Foreign(&'static Phrases),
}

impl Language {
    pub(crate) fn foreign(rng: &mut Rng) -> Self {
        Self::Foreign(&FOREIGN[rng.usize(..FOREIGN.len())])
    }
}

/// Appends sentences until there are about `length` bytes of them. Some quote, some break the line.
pub(crate) fn push_prose(
    out: &mut String,
    rng: &mut Rng,
    language: Language,
    mood: Mood,
    length: usize,
) {
    let end = out.len() + length;
    loop {
        match language {
            Language::English => push_english(out, rng, mood),
            Language::Foreign(phrases) => push_foreign(out, rng, phrases, mood),
        }
        if out.len() >= end {
            return;
        }
        out.push_str(match rng.u32(..64) {
            0 => ".\n",
            1..4 => "... ",
            4..10 => "! ",
            10..30 => ", and ",
            _ => ". ",
        });
    }
}

fn push_english(out: &mut String, rng: &mut Rng, mood: Mood) {
    let opinion = match opinion(rng, mood) {
        None => return out.push_str(pick(rng, NEUTRAL_REMARKS)),
        Some(opinion) => opinion,
    };
    let (words, remarks) = match opinion {
        Mood::Bad => (BAD, BAD_REMARKS),
        _ => (GOOD, GOOD_REMARKS),
    };
    if per_mille(rng, 300) {
        return out.push_str(pick(rng, remarks));
    }
    out.push_str(if per_mille(rng, 800) { "the " } else { "its " });
    out.push_str(pick(rng, SUBJECTS));
    out.push_str(" is ");
    let word = pick(rng, words);
    match per_mille(rng, 20) {
        true => {
            out.push_str("what they call \"");
            out.push_str(word);
            out.push('"');
        }
        false => {
            out.push_str(pick(rng, DEGREES));
            out.push_str(word);
        }
    }
}

fn push_foreign(out: &mut String, rng: &mut Rng, phrases: &Phrases, mood: Mood) {
    out.push_str(match opinion(rng, mood) {
        None => pick(rng, phrases.neutral),
        Some(Mood::Bad) => pick(rng, phrases.bad),
        Some(_) => pick(rng, phrases.good),
    });
}

/// Mood of the next sentence, if it has any: mostly that of the whole text.
fn opinion(rng: &mut Rng, mood: Mood) -> Option<Mood> {
    let roll = rng.u32(..100);
    match mood {
        _ if roll < 35 => None,
        Mood::Good if roll < 90 => Some(Mood::Good),
        Mood::Bad if roll < 90 => Some(Mood::Bad),
        Mood::Mixed if roll < 68 => Some(Mood::Good),
        Mood::Good => Some(Mood::Bad),
        Mood::Bad => Some(Mood::Good),
        Mood::Mixed => Some(Mood::Bad),
    }
}

const COMBINATIONS: u64 = (4 * ADJECTIVES.len() * NOUNS.len() * PLACES.len()) as u64;

/// Without a factor in common with [`COMBINATIONS`]: neighbours get titles that are not alike.
const SCATTER: u64 = 370_373;

/// Appends the title of number `number`; different numbers have different titles.
pub(crate) fn push_title(out: &mut String, number: u64) {
    let volume = number / COMBINATIONS;
    let mut rest = number % COMBINATIONS * SCATTER % COMBINATIONS;
    let mut digit = |base: usize| {
        let digit = (rest % base as u64) as usize;
        rest /= base as u64;
        digit
    };
    let adjective = ADJECTIVES[digit(ADJECTIVES.len())];
    let noun = NOUNS[digit(NOUNS.len())];
    let place = PLACES[digit(PLACES.len())];
    let parts = match digit(4) {
        0 => ["The ", adjective, " ", noun, " of ", place],
        1 => [adjective, " ", noun, ", ", place, ""],
        2 => [place, ": The ", adjective, " ", noun, ""],
        _ => ["A ", adjective, " ", noun, " in ", place],
    };
    parts.into_iter().for_each(|part| out.push_str(part));
    if volume > 0 {
        out.push_str(", Volume ");
        out.push_str(itoa::Buffer::new().format(volume + 1));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::random::Stream;

    #[test]
    fn titles_are_unique_beyond_all_combinations() {
        let titles = |numbers: std::ops::Range<u64>| {
            numbers.map(|number| {
                let mut title = String::new();
                push_title(&mut title, number);
                title
            })
        };
        let count = COMBINATIONS + 5000;
        assert_eq!(titles(0..count).collect::<HashSet<_>>().len() as u64, count);
    }

    #[test]
    fn a_text_has_about_its_length_and_its_mood() {
        let mut rng = Stream::new(1, "test").rng(0);
        let mut text = String::new();
        push_prose(&mut text, &mut rng, Language::English, Mood::Bad, 5000);
        assert!((5000..5200).contains(&text.len()));
        let count = |words: &[&str]| -> usize {
            words.iter().map(|word| text.matches(&format!(" {word}")).count()).sum()
        };
        assert!(count(BAD) > 3 * count(GOOD));
    }
}
