//! Number of seeds that a randomised test tries.

use std::ops::Range;

/// The seeds of a run: as many as usual; `CAUDAL_SEEDS=5000` that many, `CAUDAL_SEEDS=10%` a tenth of the usual,
/// `CAUDAL_SEED=17` that one.
pub struct Seeds {
    usual: u64,
    range: Range<u64>,
}

impl Seeds {
    pub fn of(usual: u64) -> Self {
        let setting = |name| std::env::var(name).ok();
        Self { usual, range: chosen(usual, setting("CAUDAL_SEED"), setting("CAUDAL_SEEDS")) }
    }

    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Whether they are as many as usual: then what is rare has to have happened.
    pub fn suffice(&self) -> bool {
        self.range.end - self.range.start >= self.usual
    }
}

fn chosen(usual: u64, seed: Option<String>, seeds: Option<String>) -> Range<u64> {
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("no number: {text}"));
    match (seed, seeds) {
        (Some(seed), _) => number(&seed)..number(&seed) + 1,
        (None, None) => 0..usual,
        (None, Some(seeds)) => match seeds.strip_suffix('%') {
            Some(percent) => 0..(usual * number(percent)).div_ceil(100),
            None => 0..number(&seeds),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Seeds;

    #[test]
    fn one_some_a_part_or_the_usual() {
        let chosen = |seed: &str, seeds: &str| {
            let setting = |text: &str| (!text.is_empty()).then(|| text.to_string());
            super::chosen(25, setting(seed), setting(seeds))
        };
        assert_eq!(chosen("", ""), 0..25);
        assert_eq!(chosen("17", "5000"), 17..18);
        assert_eq!(chosen("", "5000"), 0..5000);
        assert_eq!(chosen("", "10%"), 0..3);
        assert!(Seeds { usual: 25, range: 0..25 }.suffice());
        assert!(!Seeds { usual: 25, range: 0..3 }.suffice());
    }
}
