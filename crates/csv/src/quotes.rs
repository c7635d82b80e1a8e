//! Bytes inside quotes, found exactly, a block at a time.
//!
//! Where every quote that opens stands at the start of a field (or doubles the one before it), a byte is
//! quoted if the number of quotes up to it is odd: one prefix-xor of the block's quote mask. A quote
//! anywhere else outside quotes is a literal character and opens nothing; a block that holds one is
//! walked quote by quote. A block with an escape in it, or with a line that may be a comment, is walked
//! byte by byte. So the answer is exact for any bytes, and only such blocks pay for it.

use crate::masks::{Classify, Masks};

/// State that a block takes over from the bytes before it.
#[derive(Debug, Clone, Copy)]
pub struct Quotes {
    /// All ones if the block begins inside quotes, else zero.
    inside: u64,
    /// 1 if a quote as the block's first byte opens: after a separator, or doubling a closing quote.
    opens: u64,
    /// 1 if the block's first byte begins a record; kept only where there are marks, as what follows.
    begins_record: u64,
    /// The block's first byte is an ordinary character.
    is_escaped: bool,
    is_in_comment: bool,
    /// The last byte before the block was escaped.
    was_escaped: bool,
}

impl Quotes {
    pub fn at_record_start() -> Quotes {
        Quotes {
            inside: 0,
            opens: 1,
            begins_record: 1,
            is_escaped: false,
            is_in_comment: false,
            was_escaped: false,
        }
    }

    pub fn is_inside(&self) -> bool {
        self.inside != 0
    }

    /// Whether the last byte was escaped.
    pub fn was_escaped(&self) -> bool {
        self.was_escaped
    }

    /// Passes over a block of which `len` bytes (1 to 64) count. Returns the mask of bytes that separate nothing:
    /// those inside quotes (from each opening quote up to, but without, its closing quote), escaped ones, and comments.
    #[inline(always)]
    pub fn advance<C: Classify>(&mut self, masks: &Masks, len: usize) -> u64 {
        if C::MARKS && self.is_marked(masks) {
            return self.advance_over_marks(masks, len);
        }
        let hidden = self.advance_plainly(masks, len);
        if C::MARKS {
            self.begins_record = (masks.newline & !hidden) >> (len - 1) & 1;
            self.was_escaped = false;
        }
        hidden
    }

    /// Whether there may be an escape or a comment in the block.
    #[inline(always)]
    fn is_marked(&self, masks: &Masks) -> bool {
        let may_begin = masks.newline << 1 | self.begins_record;
        self.is_escaped || self.is_in_comment || masks.escape | masks.comment & may_begin != 0
    }

    #[inline(always)]
    fn advance_plainly(&mut self, masks: &Masks, len: usize) -> u64 {
        let separators = masks.delimiter | masks.newline;
        if masks.quote == 0 {
            self.opens = separators >> (len - 1) & 1;
            return self.inside;
        }
        let inside = prefix_xor(masks.quote) ^ self.inside;
        let opens_next = separators | masks.quote;
        let opening = masks.quote & inside;
        if opening & !(opens_next << 1 | self.opens) != 0 {
            return self.advance_over_strays(masks.quote, separators, len);
        }
        self.inside = (inside as i64 >> 63) as u64;
        self.opens = opens_next >> (len - 1) & 1;
        inside
    }

    /// The same for a block with a quote that opens nothing.
    #[cold]
    fn advance_over_strays(&mut self, quotes: u64, separators: u64, len: usize) -> u64 {
        let mut inside = self.inside;
        let mut opens_next = separators;
        let mut left = quotes;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let is_inside = inside >> at & 1 == 1;
            if is_inside {
                opens_next |= 1 << at;
            }
            if is_inside || (opens_next << 1 | self.opens) >> at & 1 == 1 {
                inside ^= u64::MAX << at;
            }
        }
        self.inside = (inside as i64 >> 63) as u64;
        self.opens = opens_next >> (len - 1) & 1;
        inside
    }

    /// The same, byte by byte, for a block in which every kind of byte may be: the definition of what the others find.
    #[inline(never)]
    fn advance_over_marks(&mut self, masks: &Masks, len: usize) -> u64 {
        let mut hidden = 0;
        for at in 0..len {
            let is = |mask: u64| mask >> at & 1 == 1;
            let begins_record = std::mem::take(&mut self.begins_record) == 1;
            let opens = std::mem::take(&mut self.opens) == 1;
            self.was_escaped = std::mem::take(&mut self.is_escaped);
            let is_hidden = if self.is_in_comment {
                if is(masks.newline) {
                    (self.is_in_comment, self.begins_record, self.opens) = (false, 1, 1);
                }
                !is(masks.newline)
            } else if self.was_escaped {
                true
            } else if is(masks.escape) {
                self.is_escaped = true;
                self.is_inside()
            } else if self.is_inside() {
                if is(masks.quote) {
                    (self.inside, self.opens) = (0, 1);
                }
                self.is_inside()
            } else if is(masks.comment) && begins_record {
                self.is_in_comment = true;
                true
            } else if is(masks.quote) && opens {
                self.inside = u64::MAX;
                true
            } else {
                self.begins_record = u64::from(is(masks.newline));
                self.opens = u64::from(is(masks.newline | masks.delimiter));
                false
            };
            hidden |= u64::from(is_hidden) << at;
        }
        hidden
    }
}

/// Bit `i` of the result is the parity of the bits `0..=i`.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::Dialect;
    use crate::masks::{Portable, padded};

    /// The inside mask of `text` as a string of `.` and `^`, block by block of `block_bytes`.
    fn inside(text: &str, block_bytes: usize) -> String {
        hidden::<false>(text, &Dialect::default(), block_bytes)
    }

    fn hidden<const MARKS: bool>(text: &str, dialect: &Dialect, block_bytes: usize) -> String {
        let syntax = dialect.syntax();
        let classifier = Portable::<MARKS>::of(syntax);
        let mut quotes = Quotes::at_record_start();
        let mut shown = String::new();
        for block in text.as_bytes().chunks(block_bytes) {
            let masks = classifier.classify(&padded(block, syntax));
            let mask = quotes.advance::<Portable<MARKS>>(&masks, block.len());
            shown.extend((0..block.len()).map(|i| if mask >> i & 1 == 1 { '^' } else { '.' }));
        }
        shown
    }

    #[test]
    fn a_quote_opens_only_at_the_start_of_a_field() {
        for (text, expected) in [
            (r#""a,b",c"#, "^^^^..."),
            (r#"a,"b""c",d"#, "..^^.^^..."),
            (r#"a"b,c"#, "....."),
            (r#"a""b,"c"#, ".....^^"),
            (r#""a"b"c,"d""#, "^^.....^^."),
            (r#"a"",""",b"#, "....^.^^^"),
            ("\"a\n\"\n\"b", "^^^..^^"),
        ] {
            assert_eq!(inside(text, 64), expected, "{text}");
        }
    }

    fn marked() -> Dialect {
        Dialect { escape: Some(b'\\'), comment: Some(b'#'), ..Dialect::default() }
    }

    #[test]
    fn what_is_escaped_or_in_a_comment_separates_nothing() {
        for (text, expected) in [
            (r#"a\,b,c"#, "..^..."),
            (r#""a\"b",c"#, "^^^^^..."),
            (r#""a\\",c"#, "^^^^..."),
            (r#"\"a,b"#, ".^..."),
            ("#a,\"b\nc#,\"d", "^^^^^....^^"),
            ("a\n#\n#,\n\"#,", "..^.^^.^^^"),
            ("a\\\n#,\n", "..^..."),
        ] {
            assert_eq!(hidden::<true>(text, &marked(), 64), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn plain_blocks_are_as_the_definition_has_them(text in r#"["a,\n#\\]{0,200}"#, block_bytes in 1usize..=64) {
            prop_assert_eq!(hidden::<true>(&text, &marked(), block_bytes), hidden::<true>(&text, &marked(), 1));
        }

        #[test]
        fn without_marks_both_ways_are_one(text in r#"["a,\n]{0,200}"#, block_bytes in 1usize..=64) {
            prop_assert_eq!(hidden::<true>(&text, &marked(), block_bytes), inside(&text, block_bytes));
        }

        #[test]
        fn the_block_size_does_not_matter(text in r#"["a,\n]{0,80}"#, block_bytes in 1usize..64) {
            prop_assert_eq!(inside(&text, block_bytes), inside(&text, 1));
        }
    }
}
