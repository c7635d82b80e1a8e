//! The scripts that tell languages apart.

/// The script of a letter. `Other` are all scripts of languages that are not detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Hangul,
    Kana,
    Han,
    Thai,
    Other,
}

pub(super) const SCRIPTS: usize = Script::Other as usize + 1;

/// The script of a letter, nothing for what is no letter.
pub(super) fn script_of(c: char) -> Option<Script> {
    match c {
        'a'..='z' | 'A'..='Z' => Some(Script::Latin),
        '\0'..='\u{7f}' => None,
        // Beyond ASCII the blocks do: what they hold besides letters does not matter for counting.
        '\u{e00}'..='\u{e7f}' => Some(Script::Thai),
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' => {
            Some(Script::Kana)
        }
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' => {
            Some(Script::Hangul)
        }
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{2ebef}' => {
            Some(Script::Han)
        }
        c if !c.is_alphabetic() => None,
        '\u{80}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Some(Script::Latin),
        '\u{400}'..='\u{52f}' => Some(Script::Cyrillic),
        _ => Some(Script::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_script_of_their_block() {
        let expected = [
            ('a', Script::Latin),
            ('Ž', Script::Latin),
            ('ß', Script::Latin),
            ('ж', Script::Cyrillic),
            ('ї', Script::Cyrillic),
            ('한', Script::Hangul),
            ('ご', Script::Kana),
            ('ゲ', Script::Kana),
            ('语', Script::Han),
            ('ไ', Script::Thai),
            ('λ', Script::Other),
            ('ש', Script::Other),
        ];
        for (c, script) in expected {
            assert_eq!(script_of(c), Some(script), "{c}");
        }
    }

    #[test]
    fn digits_signs_and_emoji_are_no_letters() {
        for c in ['1', ' ', '\n', '!', '×', '💀', '，', '’'] {
            assert_eq!(script_of(c), None, "{c}");
        }
    }
}
