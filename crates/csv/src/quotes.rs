//! Bytes inside quotes, found exactly, a block at a time.
//!
//! Where every quote that opens stands at the start of a field (or doubles the one before it), a byte is
//! quoted if the number of quotes up to it is odd: one prefix-xor of the block's quote mask. A quote
//! anywhere else outside quotes is a literal character and opens nothing; a block that holds one is
//! walked quote by quote. So the answer is exact for any bytes, and only such blocks pay for it.

use crate::masks::Masks;

/// State that a block takes over from the bytes before it.
#[derive(Debug, Clone, Copy)]
pub struct Quotes {
    /// All ones if the block begins inside quotes, else zero.
    inside: u64,
    /// 1 if a quote as the block's first byte opens: after a separator, or doubling a closing quote.
    opens: u64,
}

impl Quotes {
    pub fn at_record_start() -> Quotes {
        Quotes { inside: 0, opens: 1 }
    }

    pub fn is_inside(&self) -> bool {
        self.inside != 0
    }

    /// Passes over a block of which `len` bytes (1 to 64) count. Returns the mask of bytes inside quotes:
    /// from each opening quote up to, but without, its closing quote.
    #[inline(always)]
    pub fn advance(&mut self, masks: &Masks, len: usize) -> u64 {
        let separators = masks.comma | masks.newline;
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
    use crate::masks::{Classify, Portable, padded};

    /// The inside mask of `text` as a string of `.` and `^`, block by block of `block_bytes`.
    fn inside(text: &str, block_bytes: usize) -> String {
        let mut quotes = Quotes::at_record_start();
        let mut shown = String::new();
        for block in text.as_bytes().chunks(block_bytes) {
            let mask = quotes.advance(&Portable::classify(&padded(block)), block.len());
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

    proptest! {
        #[test]
        fn the_block_size_does_not_matter(text in r#"["a,\n]{0,80}"#, block_bytes in 1usize..64) {
            prop_assert_eq!(inside(&text, block_bytes), inside(&text, 1));
        }
    }
}
