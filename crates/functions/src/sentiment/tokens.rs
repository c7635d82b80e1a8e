//! The tokenizer: a text as sentences of tokens, punctuation split from words, as TextBlob does it.
//!
//! It has quirks on purpose, since the scores depend on them: every apostrophe is a token of its own
//! (`can't` is `ca`, `n`, `'`, `t`, so that contractions never negate), periods stay with
//! abbreviations only, and quotes never belong to the sentence before them. One deviation: TextBlob
//! marks paragraphs by the word `END-OF-SENTENCE`, and so mistakes that word in a text for a mark.

/// Calls `sentence` with the tokens of each sentence of the text.
pub(super) fn for_each_sentence<'a>(text: &'a str, sentence: impl FnMut(&[&'a str])) {
    let mut sentences = Sentences { tokens: Vec::new(), is_complete: false, sink: sentence };
    let mut position = 0;
    while position < text.len() {
        position = match classify(text, position) {
            Class::Blank(bytes) => position + bytes,
            Class::ParagraphEnd(bytes) => {
                sentences.complete();
                position + bytes
            }
            Class::Quote(bytes) => {
                sentences.push(&text[position..position + bytes]);
                position + bytes
            }
            Class::Word(_) => {
                let end = chunk_end(text, position);
                split_punctuation(&text[position..end], &mut sentences);
                end
            }
        };
    }
    sentences.flush();
}

/// Class of the character at a position of the text, with its length.
enum Class {
    Blank(usize),
    /// A newline that an empty line follows.
    ParagraphEnd(usize),
    /// A quotation mark or apostrophe.
    Quote(usize),
    Word(usize),
}

fn classify(text: &str, position: usize) -> Class {
    let rest = &text.as_bytes()[position..];
    match rest[0] {
        b'\n' if rest[1..].starts_with(b"\n") || rest[1..].starts_with(b"\r\n") => {
            Class::ParagraphEnd(1)
        }
        // Python, unlike Rust, also takes the separators 0x1c to 0x1f for white space.
        b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => Class::Blank(1),
        b'\'' | b'"' => Class::Quote(1),
        0..0x80 => Class::Word(1),
        _ => classify_non_ascii(text, position),
    }
}

fn classify_non_ascii(text: &str, position: usize) -> Class {
    let c = text[position..].chars().next().expect("the position is before the end");
    match c {
        '“' | '”' | '‘' | '’' => Class::Quote(c.len_utf8()),
        c if c.is_whitespace() => Class::Blank(c.len_utf8()),
        c => Class::Word(c.len_utf8()),
    }
}

/// End of the chunk that begins at `start`: before a blank, a quote, or the `n` of `n't`.
fn chunk_end(text: &str, start: usize) -> usize {
    let mut end = start;
    while end < text.len() {
        match classify(text, end) {
            Class::Word(bytes) => end += bytes,
            Class::Quote(_)
                if end > start + 1 && text.as_bytes()[end - 1..].starts_with(b"n't") =>
            {
                return end - 1;
            }
            _ => break,
        }
    }
    end
}

/// Splits the punctuation around a chunk into tokens of one character, an ellipsis into one of three.
fn split_punctuation<'a>(chunk: &'a str, sentences: &mut Sentences<'a, impl FnMut(&[&'a str])>) {
    let bytes = chunk.as_bytes();
    let mut start = 0;
    while start < bytes.len() && is_punctuation(bytes[start]) {
        sentences.push(&chunk[start..start + 1]);
        start += 1;
    }
    let end = word_end(chunk, start);
    if end > start {
        sentences.push(&chunk[start..end]);
    }
    push_tail(&chunk[end..], sentences);
}

/// End of the word that begins at `start`, at which its trailing punctuation begins.
fn word_end(chunk: &str, start: usize) -> usize {
    let mut word = &chunk[start..];
    loop {
        word = match word.as_bytes() {
            [.., b'.', b'.', b'.'] => word.trim_end_matches('.'),
            [.., b'.'] if is_abbreviation(word) => break,
            [.., last] if *last == b'.' || is_punctuation(*last) => &word[..word.len() - 1],
            _ => break,
        }
    }
    start + word.len()
}

/// Three periods and more are one ellipsis.
fn push_tail<'a>(tail: &'a str, sentences: &mut Sentences<'a, impl FnMut(&[&'a str])>) {
    let mut rest = tail;
    while !rest.is_empty() {
        let periods = rest.bytes().take_while(|byte| *byte == b'.').count();
        let (token_bytes, taken_bytes) = if periods >= 3 { (3, periods) } else { (1, 1) };
        sentences.push(&rest[..token_bytes]);
        rest = &rest[taken_bytes..];
    }
}

/// Whether a byte is punctuation that is split from both ends of a word; the period has rules of its own.
fn is_punctuation(byte: u8) -> bool {
    b",;:!?()[]{}`@#$^&*+-|=~_".contains(&byte)
}

/// Whether the period at the end of `word` belongs to it: `U.S.`, `Mr.`, `etc.`
fn is_abbreviation(word: &str) -> bool {
    let is_letter_and_period =
        |pair: &[u8]| matches!(pair, [letter, b'.'] if letter.is_ascii_alphabetic());
    let is_consonant = |byte: &u8| b"bcdfghjklmnpqrstvwxz|".contains(byte);
    match word.as_bytes() {
        [b'A'..=b'Z', rest @ .., b'.'] if !rest.is_empty() && rest.iter().all(is_consonant) => true,
        bytes => bytes.chunks(2).all(is_letter_and_period) || ABBREVIATIONS.contains(&word),
    }
}

const ABBREVIATIONS: [&str; 23] = [
    "Med.", "Mil.", "adj.", "adv.", "al.", "cf.", "comp.", "conf.", "def.", "ed.", "esp.", "etc.",
    "ex.", "fig.", "gen.", "id.", "int.", "orig.", "pl.", "pred.", "pres.", "ref.", "vs.",
];

/// Gathers tokens into sentences. A sentence is handed on when the token that begins the next arrives.
struct Sentences<'a, Sink: FnMut(&[&'a str])> {
    tokens: Vec<&'a str>,
    /// Its last word has been seen; closing punctuation may still follow.
    is_complete: bool,
    sink: Sink,
}

impl<'a, Sink: FnMut(&[&'a str])> Sentences<'a, Sink> {
    fn push(&mut self, token: &'a str) {
        let ends_sentence = matches!(token, "..." | "." | "!" | "?");
        let may_trail = ends_sentence || matches!(token, ")" | "”" | "’");
        if self.is_complete && !may_trail {
            self.flush();
        }
        self.is_complete |= ends_sentence;
        if token == ")" && self.tokens.ends_with(&["(", "!"]) {
            self.tokens.truncate(self.tokens.len() - 2);
            self.tokens.push("(!)");
        } else {
            self.tokens.push(token);
        }
    }

    fn complete(&mut self) {
        self.is_complete = true;
    }

    fn flush(&mut self) {
        (self.sink)(&self.tokens);
        self.tokens.clear();
        self.is_complete = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens joined by blanks, sentences by ` / `.
    fn tokens(text: &str) -> String {
        let mut sentences = Vec::new();
        for_each_sentence(text, |tokens| {
            if !tokens.is_empty() {
                sentences.push(tokens.join(" "));
            }
        });
        sentences.join(" / ")
    }

    #[test]
    fn punctuation_is_split_from_both_ends_of_a_word() {
        assert_eq!(tokens("(well-read), yes!"), "( well-read ) , yes !");
        assert_eq!(tokens("$5 a+b #1?"), "$ 5 a+b # 1 ?");
        assert_eq!(tokens("--- ***"), "- - - * * *");
    }

    #[test]
    fn apostrophes_and_quotes_stand_alone() {
        assert_eq!(tokens("can't won't n't Don’t it's"), "ca n ' t wo n ' t n ' t Don ’ t it ' s");
        assert_eq!(tokens("\"a\" “b”CAN'T"), "\" a \" “ b ” CAN ' T");
        assert_eq!(tokens("n'tn't"), "n ' t n ' t");
    }

    #[test]
    fn periods_stay_with_abbreviations_only() {
        assert_eq!(tokens("Mr. U.S. etc. T. Hello. Mr.."), "Mr. U.S. etc. T. Hello . / Mr. .");
        assert_eq!(tokens("a.m., e.g.) Dy. B|. foo.bar"), "a.m. , e.g. ) Dy . / B|. foo.bar");
    }

    #[test]
    fn ellipses_are_one_token_and_swallow_more_periods() {
        assert_eq!(
            tokens("wait... what.... Mr.... .. ...x"),
            "wait ... / what ... / Mr ... . . / ...x"
        );
        assert_eq!(tokens("no!..."), "no ! ...");
    }

    #[test]
    fn sentences_end_at_marks_and_empty_lines() {
        assert_eq!(tokens("a? b! (c!) d"), "a ? / b ! / ( c ! ) / d");
        assert_eq!(tokens("a\nb\n\nc\r\n\r\nd\n \ne"), "a b / c / d e");
        assert_eq!(tokens("ab.\" c"), "ab . / \" c");
        assert_eq!(tokens("ab.” c"), "ab . ” / c");
    }

    #[test]
    fn the_sarcasm_mark_is_one_token() {
        assert_eq!(tokens("great (!) ( ! )"), "great (!) / (!)");
    }

    #[test]
    fn blanks_are_those_of_python() {
        assert_eq!(tokens(" a\u{a0}b\u{1c}c\u{3000}d\u{200b}e\t"), "a b c d\u{200b}e");
        assert_eq!(tokens(""), "");
        assert_eq!(tokens(" \n\n "), "");
    }
}
