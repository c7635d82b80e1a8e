//! The words that carry sentiment: TextBlob's English lexicon, embedded as `lexicon.txt`.

use std::sync::LazyLock;

use hashbrown::HashMap;

/// One row a word: `word polarity intensity [adverb]`, comments begin with `#`.
const LEXICON_TEXT: &str = include_str!("lexicon.txt");

/// Entry of a word in the lexicon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    /// From -1 (bad) to 1 (good).
    pub polarity: f64,
    /// Factor by which an adverb multiplies the polarity of the next known word.
    pub intensity: f64,
    /// Whether the word modifies the known word that follows it ("very good").
    pub is_adverb: bool,
}

/// The entry of a word, in any case.
///
/// The word must be one that lowercases byte by byte: for others the caller lowercases first.
pub(super) fn entry(word: &str) -> Option<&'static Entry> {
    static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(LEXICON_TEXT));
    LEXICON.entry(word)
}

/// The longest word of the lexicon fits; `parse` asserts it.
const WORD_BYTES_MAX: usize = 24;

struct Lexicon {
    entries: HashMap<&'static [u8], Entry>,
}

impl Lexicon {
    /// Panics on a malformed row: the text is part of the program, so that any test finds it.
    fn parse(text: &'static str) -> Self {
        let rows = text.lines().filter(|row| !row.starts_with('#'));
        let entries = rows.map(|row| parse_row(row).expect("lexicon.txt is well formed"));
        Self { entries: entries.collect() }
    }

    fn entry(&self, word: &str) -> Option<&Entry> {
        // Lowercased on the stack: most words of a text are looked up in vain, none should cost more.
        let mut lowercase = [0; WORD_BYTES_MAX];
        let lowercase = lowercase.get_mut(..word.len())?;
        lowercase.copy_from_slice(word.as_bytes());
        lowercase.make_ascii_lowercase();
        self.entries.get(&*lowercase)
    }
}

fn parse_row(row: &'static str) -> Option<(&'static [u8], Entry)> {
    let mut fields = row.split(' ');
    let word = fields.next().filter(|word| word.len() <= WORD_BYTES_MAX)?;
    let polarity = fields.next()?.parse().ok()?;
    let intensity = fields.next()?.parse().ok()?;
    let is_adverb = fields.next() == Some("adverb");
    Some((word.as_bytes(), Entry { polarity, intensity, is_adverb }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_words_in_any_case() {
        let very = Entry { polarity: 0.2, intensity: 1.3, is_adverb: true };
        assert_eq!(entry("very"), Some(&very));
        assert_eq!(entry("VeRY"), Some(&very));
        assert!(!entry("good").expect("known").is_adverb);
    }

    #[test]
    fn unknown_empty_and_overlong_words_have_no_entry() {
        for word in ["", "caudal", "verys", &"good".repeat(100)] {
            assert_eq!(entry(word), None, "{word}");
        }
    }

    #[test]
    fn every_value_is_in_range() {
        let lexicon = Lexicon::parse(LEXICON_TEXT);
        assert!(lexicon.entries.len() > 2_800);
        for (word, entry) in &lexicon.entries {
            assert!((-1.0..=1.0).contains(&entry.polarity), "{word:?}");
            assert!(entry.intensity > 0.0, "{word:?}");
        }
    }
}
