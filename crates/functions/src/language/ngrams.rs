//! The n-gram model: how much each run of one to five letters speaks for each language of its script.
//!
//! `ngrams.bin` is a table of rows, each the key of an n-gram and a weight for every language of its
//! script (see `ADR 003` for where it comes from). The table is closed under prefixes, so that the
//! search from a letter ends at the first n-gram that is not in it.

use std::sync::LazyLock;

/// The longest n-gram of the table.
pub const NGRAM_LETTERS_MAX: usize = 5;

/// Number of languages that a script can have: as many as fit a 128-bit register of weights.
pub const LANES: usize = 16;

/// The weight of an n-gram for each language of the script, 0 being neutral.
pub type Weights = [i8; LANES];

pub type Scores = [i32; LANES];

/// Ends a word in a sequence of letters: n-grams do not reach across it.
pub const WORD_END: char = '\0';

/// The evidence of all n-grams in `letters` (lowercase, words ended by [`WORD_END`]).
pub fn scores(letters: &[char]) -> Scores {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_bytes!("ngrams.bin")));
    let table = &*TABLE;
    let mut scores = [0; LANES];
    for start in 0..letters.len() {
        let mut key = Key::EMPTY;
        for &letter in letters[start..].iter().take(NGRAM_LETTERS_MAX) {
            key = key.with(letter);
            let Some(weights) = table.weights(key) else { break };
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += i32::from(*weight);
            }
        }
    }
    scores
}

/// The hash of an n-gram, which stands for it: an n-gram that is not in the table is taken for one
/// that is about once in 60,000 times, which no text notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    pub const EMPTY: Self = Self(0);

    #[must_use]
    pub fn with(self, letter: char) -> Self {
        Self((self.0.rotate_left(5) ^ u64::from(letter)).wrapping_mul(0x517c_c1b7_2722_0a95))
    }

    /// Key that the table stores: the best mixed bits of the hash, never 0, which marks a free slot.
    pub fn stored(self) -> u32 {
        ((self.0 >> 32) as u32).max(1)
    }
}

/// A row of `ngrams.bin`: the stored key, little endian, and the weights.
pub const ROW_BYTES: usize = size_of::<u32>() + LANES;

/// A hash table with linear probing, at most half full. The keys are apart from the weights because
/// most searches end with a key that is not there.
struct Table {
    keys: Vec<u32>,
    weights: Vec<Weights>,
    /// Turns a stored key into its slot: the highest bits.
    shift: u32,
}

impl Table {
    fn read(rows: &[u8]) -> Self {
        let slots = (rows.len() / ROW_BYTES * 2).next_power_of_two().max(2);
        let mut table = Self {
            keys: vec![0; slots],
            weights: vec![[0; LANES]; slots],
            shift: 32 - slots.ilog2(),
        };
        for row in rows.chunks_exact(ROW_BYTES) {
            let (key, weights) = row.split_at(size_of::<u32>());
            let key =
                u32::from_le_bytes(key.try_into().expect("a row begins with four bytes of key"));
            let slot = table.slot(key);
            table.keys[slot] = key;
            table.weights[slot] = std::array::from_fn(|lane| i8::from_le_bytes([weights[lane]]));
        }
        table
    }

    fn weights(&self, key: Key) -> Option<&Weights> {
        let key = key.stored();
        let slot = self.slot(key);
        (self.keys[slot] == key).then(|| &self.weights[slot])
    }

    /// The slot of the key, or the free one where it belongs.
    fn slot(&self, key: u32) -> usize {
        let mut slot = (key >> self.shift) as usize;
        while self.keys[slot] != key && self.keys[slot] != 0 {
            slot = (slot + 1) & (self.keys.len() - 1);
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(ngram: &str) -> Key {
        ngram.chars().fold(Key::EMPTY, Key::with)
    }

    fn row(ngram: &str, weight: i8) -> Vec<u8> {
        let mut row = key(ngram).stored().to_le_bytes().to_vec();
        row.extend([weight.to_le_bytes()[0]; LANES]);
        row
    }

    #[test]
    fn a_table_finds_its_rows_and_no_others() {
        let ngrams: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        let rows: Vec<u8> =
            ngrams.iter().flat_map(|ngram| row(ngram, ngram.len() as i8 - 3)).collect();
        let table = Table::read(&rows);
        for ngram in &ngrams {
            assert_eq!(table.weights(key(ngram)), Some(&[ngram.len() as i8 - 3; LANES]), "{ngram}");
        }
        assert_eq!(table.weights(key("1000")), None);
        assert_eq!(Table::read(&[]).weights(key("a")), None);
    }

    #[test]
    fn the_key_depends_on_the_order_of_letters() {
        assert_ne!(key("ab").stored(), key("ba").stored());
        assert_ne!(key("a").stored(), key("aa").stored());
    }

    #[test]
    fn the_embedded_table_is_whole_and_has_the_short_words_of_english() {
        let rows = include_bytes!("ngrams.bin");
        assert_eq!(rows.len() % ROW_BYTES, 0);
        let table = Table::read(rows);
        assert!(table.weights(key("the")).is_some());
        assert!(table.weights(key("the\0")).is_none());
    }
}
