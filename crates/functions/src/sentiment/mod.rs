//! The sentiment of English text: the polarity that TextBlob's default analyser gives.
//!
//! TextBlob is the reference that people compare with, so this follows it quirk by quirk; its
//! lexicon is embedded. A text passes once through tokens → words → score, without an allocation a
//! word. Agreement is tested against TextBlob itself (`tests/textblob.rs`).

mod emoticons;
mod lexicon;
mod score;
mod tokens;

use score::Scorer;

/// The polarity of a text from -1 (bad) to 1 (good); 0 where no word is known.
pub fn polarity(text: &str) -> f64 {
    let mut scorer = Scorer::default();
    let mut joined = String::new();
    tokens::for_each_sentence(text, |sentence| {
        let mut rest = sentence;
        while !rest.is_empty() {
            let (word_tokens, behind) = rest.split_at(emoticons::joined_tokens(rest));
            if let [word] = word_tokens {
                scorer.word(word);
            } else {
                joined.clear();
                joined.extend(word_tokens.iter().copied());
                scorer.word(&joined);
            }
            rest = behind;
        }
    });
    scorer.mean()
}

/// Label of a polarity.
pub fn label(polarity: f64) -> &'static str {
    if polarity > 0.0 {
        "POSITIVE"
    } else if polarity < 0.0 {
        "NEGATIVE"
    } else {
        "NEUTRAL"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_sign() {
        assert_eq!(label(polarity("What a great film")), "POSITIVE");
        assert_eq!(label(polarity("A boring film")), "NEGATIVE");
        assert_eq!(label(polarity("A film")), "NEUTRAL");
        assert_eq!(label(-0.0), "NEUTRAL");
    }

    #[test]
    fn emoticons_taken_apart_are_words_again() {
        assert_eq!(polarity("film :)"), 0.5);
        assert_eq!(polarity("film : - ("), -0.75);
        // A sentence ends between them.
        assert_eq!(polarity("film: \" )"), 0.0);
    }

    #[test]
    fn any_text_is_survived() {
        for text in [
            "",
            " ",
            "\n\n",
            "'",
            ".",
            "...",
            "n't",
            "°",
            "♥",
            "\u{0}",
            "İ'",
            "(!",
            "é.é",
            "\u{1F600}!",
        ] {
            assert!((-1.0..=1.0).contains(&polarity(text)), "{text:?}");
        }
    }
}
