//! Emoticons: what each is worth, and putting together those that the tokenizer took apart.
//!
//! The tokenizer splits `:)` into `:` and `)`, so neighbouring tokens of a sentence that spell an
//! emoticon are joined again. TextBlob does it with one regular expression over the sentence, which
//! also joins `: )` of the text and finds emoticons at the end of longer words (`max D` → `maxD`).

/// The emoticons with their polarity. Where two can match at the same place the first one counts.
const EMOTICONS: [(f64, &[&str]); 9] = [
    (1.00, &["<3", "♥"]),
    (1.00, &[">:D", ":-D", ":D", "=-D", "=D", "X-D", "x-D", "XD", "xD", "8-D"]),
    (0.75, &[">:P", ":-P", ":P", ":-p", ":p", ":-b", ":b", ":c)", ":o)", ":^)"]),
    (0.50, &[">:)", ":-)", ":)", "=)", "=]", ":]", ":}", ":>", ":3", "8)", "8-)"]),
    (0.25, &[">;]", ";-)", ";)", ";-]", ";]", ";D", ";^)", "*-)", "*)"]),
    (0.05, &[">:o", ":-O", ":O", ":o", ":-o", "o_O", "o.O", "°O°", "°o°"]),
    (-0.25, &[">:/", ":-/", ":/", ":\\", ">:\\", ":-.", ":-s", ":s", ":S", ":-S", ">.>"]),
    (-0.75, &[">:[", ":-(", ":(", "=(", ":-[", ":[", ":{", ":-<", ":c", ":-c", "=/"]),
    (-1.00, &[":'(", ":'''(", ";'("]),
];

/// The longest emoticon, in characters, which is no fewer bytes than any has.
const EMOTICON_CHARS_MAX: usize = 5;

/// The polarity of a word that is an emoticon in any case. Those of letters alone (`XD`) do not count.
pub(super) fn polarity(word: &str) -> Option<f64> {
    let could_be = (2..=EMOTICON_CHARS_MAX).contains(&word.len())
        && !word.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !could_be {
        return None;
    }
    let is_word = |emoticon: &&str| emoticon.eq_ignore_ascii_case(word);
    EMOTICONS
        .iter()
        .find(|(_, emoticons)| emoticons.iter().any(is_word))
        .map(|(polarity, _)| *polarity)
}

/// Number of the first tokens that make one word: more than one where an emoticon begins in the first
/// token and ends at the end of a later one. `tokens` are those left of the sentence, at least one.
pub(super) fn joined_tokens(tokens: &[&str]) -> usize {
    match tokens {
        [first, second, ..] if may_join(first, second) => leftmost_match(tokens).unwrap_or(1),
        _ => 1,
    }
}

/// Whether some emoticon has the characters on both sides of the gap next to each other. This quick
/// look spares nearly every pair of tokens the search.
fn may_join(left: &str, right: &str) -> bool {
    let last = left.as_bytes()[left.len() - 1];
    let first = right.as_bytes()[0];
    NEIGHBOURS[usize::from(last)] & neighbour_bit(first) != 0
}

/// For each byte, the set of bytes (folded to 64 bits) that some emoticon has behind it.
static NEIGHBOURS: [u64; 256] = {
    let mut neighbours = [0; 256];
    let mut group = 0;
    while group < EMOTICONS.len() {
        let emoticons = EMOTICONS[group].1;
        let mut index = 0;
        while index < emoticons.len() {
            let bytes = emoticons[index].as_bytes();
            let mut at = 1;
            while at < bytes.len() {
                neighbours[bytes[at - 1] as usize] |= neighbour_bit(bytes[at]);
                at += 1;
            }
            index += 1;
        }
        group += 1;
    }
    neighbours
};

const fn neighbour_bit(byte: u8) -> u64 {
    1 << (byte % 64)
}

/// The number of tokens that the leftmost match in the first token spans, if there is a match.
fn leftmost_match(tokens: &[&str]) -> Option<usize> {
    let (first, next) = tokens.split_first()?;
    let (earliest, _) = first.char_indices().rev().take(EMOTICON_CHARS_MAX).last()?;
    let end = &first[earliest..];
    end.char_indices().find_map(|(start, _)| {
        let mut emoticons = EMOTICONS.iter().flat_map(|(_, emoticons)| *emoticons);
        emoticons.find_map(|emoticon| tokens_spanned(emoticon, &end[start..], next))
    })
}

/// Number of tokens that `emoticon` spans, if it spells out all of `tail` and then whole tokens of `next`.
fn tokens_spanned(emoticon: &str, tail: &str, next: &[&str]) -> Option<usize> {
    let mut rest = emoticon.strip_prefix(tail)?;
    let mut spanned = 1;
    while !rest.is_empty() {
        rest = rest.strip_prefix(*next.get(spanned - 1)?)?;
        spanned += 1;
    }
    Some(spanned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polarity_of_emoticons_ignores_case() {
        assert_eq!(polarity(":)"), Some(0.5));
        assert_eq!(polarity(":d"), Some(1.0));
        assert_eq!(polarity("o.o"), Some(0.05));
        assert_eq!(polarity(":'''("), Some(-1.0));
        assert_eq!(polarity("♥"), Some(1.0));
    }

    #[test]
    fn words_of_letters_alone_and_other_signs_are_no_emoticons() {
        for word in ["xd", ":", ")", "", "!!", ":))", "(:"] {
            assert_eq!(polarity(word), None, "{word}");
        }
    }

    #[test]
    fn emoticons_taken_apart_are_joined() {
        assert_eq!(joined_tokens(&[":", ")"]), 2);
        assert_eq!(joined_tokens(&[":", "-", ")", "x"]), 3);
        assert_eq!(joined_tokens(&[":", "'", "'", "'", "("]), 5);
        assert_eq!(joined_tokens(&["°", "O°"]), 2);
    }

    #[test]
    fn an_emoticon_may_begin_inside_a_word_but_must_end_with_one() {
        assert_eq!(joined_tokens(&["max", "D"]), 2);
        assert_eq!(joined_tokens(&["18", ")"]), 2);
        assert_eq!(joined_tokens(&["x", "Ding"]), 1);
        assert_eq!(joined_tokens(&[":", ")x"]), 1);
        assert_eq!(joined_tokens(&[":"]), 1);
    }

    #[test]
    fn the_leftmost_match_counts_then_the_first_listed() {
        // ":o)" is listed before ":o".
        assert_eq!(joined_tokens(&[":", "o", ")"]), 3);
        // "o:3" is whole in its token and uses it up: "3" cannot begin another match.
        assert_eq!(joined_tokens(&["o:3", ")"]), 1);
    }

    #[test]
    fn the_longest_emoticon_is_bounded() {
        let emoticons = EMOTICONS.iter().flat_map(|(_, emoticons)| emoticons.iter());
        assert!(emoticons.clone().all(|emoticon| emoticon.len() <= EMOTICON_CHARS_MAX));
        assert_eq!(
            emoticons.map(|emoticon| emoticon.chars().count()).max(),
            Some(EMOTICON_CHARS_MAX)
        );
    }
}
