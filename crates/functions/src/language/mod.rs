//! The language of a text, among 21: by its script, and within Latin and Cyrillic by its n-grams.
//!
//! Made for millions of short reviews: a few microseconds a text, no allocation, nothing to load but
//! a table of 1.3 MB in the binary. `docs/adr/003-language-detector.md` has the measurements against
//! lingua, whatlang and whichlang.

mod ngrams;
mod script;

use caudal_core::limits;
use ngrams::WORD_END;
use script::{SCRIPTS, Script, script_of};

/// The languages written in Latin letters, in the order of the model's weights.
pub const LATIN: [&str; 15] =
    ["cs", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "pl", "pt", "ro", "sv", "tr"];

/// The languages written in Cyrillic letters, in the order of the model's weights.
pub const CYRILLIC: [&str; 2] = ["ru", "uk"];

/// The ISO 639-1 code of the language of a text; nothing where it has no letters to tell by.
pub fn detect(text: &str) -> Option<&'static str> {
    let sample = Sample::of(text);
    match sample.script()? {
        Script::Latin => best(&LATIN, &sample),
        Script::Cyrillic => best(&CYRILLIC, &sample),
        Script::Hangul => Some("ko"),
        Script::Thai => Some("th"),
        // Japanese mixes in Han, Chinese no kana.
        Script::Han | Script::Kana if sample.weight(Script::Kana) > 0 => Some("ja"),
        Script::Han | Script::Kana => Some("zh"),
        Script::Other => None,
    }
}

/// The language that the n-grams speak for most; nothing if they speak for two alike.
fn best(languages: &[&'static str], sample: &Sample) -> Option<&'static str> {
    let scores = ngrams::scores(sample.letters());
    let highest = *scores[..languages.len()].iter().max()?;
    let mut winners = languages.iter().zip(scores).filter(|(_, score)| *score == highest);
    let (winner, _) = winners.next()?;
    winners.next().is_none().then_some(*winner)
}

/// The first letters of a text, lowercase, with [`WORD_END`] between words.
struct Sample {
    letters: [char; limits::LANGUAGE_LETTERS_MAX],
    length: usize,
    /// The letters of each script, counted in bytes of UTF-8: a Han character tells more than a
    /// Latin letter, and weighs three times as much.
    weights: [usize; SCRIPTS],
}

impl Sample {
    fn of(text: &str) -> Self {
        let mut sample = Self {
            letters: [WORD_END; limits::LANGUAGE_LETTERS_MAX],
            length: 0,
            weights: [0; SCRIPTS],
        };
        for c in text.chars() {
            if sample.length == limits::LANGUAGE_LETTERS_MAX {
                break;
            }
            if let Some(script) = script_of(c) {
                sample.weights[script as usize] += c.len_utf8();
                sample.push(lowercase(c));
            } else {
                sample.push(WORD_END);
            }
        }
        sample
    }

    /// Runs are cut: no language writes a letter thrice, while reviewers write "baaaaad", and one
    /// blank ends a word as well as ten.
    fn push(&mut self, letter: char) {
        let run_max = if letter == WORD_END { 1 } else { 2 };
        let is_run = self.letters().ends_with(&[letter; 2][..run_max]);
        if !is_run {
            self.letters[self.length] = letter;
            self.length += 1;
        }
    }

    fn letters(&self) -> &[char] {
        &self.letters[..self.length]
    }

    fn weight(&self, script: Script) -> usize {
        self.weights[script as usize]
    }

    /// The script of most of the text; nothing where it has no letters.
    fn script(&self) -> Option<Script> {
        use Script::{Cyrillic, Han, Hangul, Kana, Latin, Other, Thai};
        let weight = |script: &Script| match script {
            Han | Kana => self.weight(Han) + self.weight(Kana),
            script => self.weight(*script),
        };
        let scripts = [Latin, Cyrillic, Hangul, Han, Thai, Other];
        scripts.into_iter().max_by_key(weight).filter(|script| weight(script) > 0)
    }
}

/// One letter for one: of the few that lowercase to more, the first does.
fn lowercase(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_all_languages() {
        let sentences = [
            ("cs", "Dnes večer půjdeme do kina, protože venku hodně prší."),
            ("da", "Jeg har købt en ny cykel, og den kører rigtig godt."),
            ("de", "Das Spiel macht leider nach einer Stunde keinen Spaß mehr."),
            ("en", "The game crashes every time I try to load my save."),
            ("es", "No vale la pena comprarlo, está lleno de errores."),
            ("fi", "Tämä peli on aivan liian vaikea minulle."),
            ("fr", "Je ne comprends pas pourquoi ce jeu est si cher."),
            ("hu", "Nagyon szép a grafika, de a történet unalmas."),
            ("it", "Questo gioco è bellissimo, lo consiglio a tutti."),
            ("ja", "このゲームはとても面白いです。"),
            ("ko", "이 게임은 정말 재미있어요."),
            ("nl", "Het spel is veel te duur voor wat je krijgt."),
            ("pl", "Gra jest świetna, ale wymaga mocnego komputera."),
            ("pt", "O jogo não funciona no meu computador."),
            ("ro", "Jocul acesta este foarte frumos și merită banii."),
            ("ru", "Игра вылетает каждые пять минут."),
            ("sv", "Spelet är roligt men alldeles för kort."),
            ("th", "เกมนี้สนุกมาก"),
            ("tr", "Oyun çok güzel ama sunucular berbat."),
            ("uk", "Гра чудова, але українська локалізація відсутня."),
            ("zh", "这个游戏非常好玩。"),
        ];
        for (language, sentence) in sentences {
            assert_eq!(detect(sentence), Some(language), "{sentence}");
        }
    }

    #[test]
    fn short_english_in_any_dress() {
        for text in [
            "NOT WORTH THE MONEY",
            "great game!!! 10/10",
            "[b]Awful[/b] controls",
            "don't buy this",
        ] {
            assert_eq!(detect(text), Some("en"), "{text}");
        }
    }

    #[test]
    fn without_letters_there_is_no_language() {
        for text in ["", "  ", "10/10", "!!! :) 💀", "\u{0}", "____"] {
            assert_eq!(detect(text), None, "{text:?}");
        }
    }

    #[test]
    fn scripts_of_other_languages_are_undecided() {
        assert_eq!(detect("Το παιχνίδι είναι πολύ καλό"), None);
    }

    #[test]
    fn the_script_of_most_of_the_text_decides() {
        assert_eq!(detect("这个游戏 very good 不错不错"), Some("zh"));
        assert_eq!(
            detect("The developers of 三国志 never answered my questions about it"),
            Some("en")
        );
    }

    #[test]
    fn runs_of_a_letter_do_not_drown_the_rest() {
        assert_eq!(detect("this game is sooooooooooooooooo baaaaaaaaaaaaaaaaaaaaaad"), Some("en"));
        assert_eq!(Sample::of("aaaa  b").letters(), ['a', 'a', WORD_END, 'b']);
    }

    #[test]
    fn long_texts_are_sampled() {
        let text = "The game is good. ".repeat(10_000);
        assert_eq!(Sample::of(&text).length, limits::LANGUAGE_LETTERS_MAX);
        assert_eq!(detect(&text), Some("en"));
    }
}
