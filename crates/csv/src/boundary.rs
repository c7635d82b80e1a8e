//! End of the last whole record of some bytes.
//!
//! This runs under the reader's lock, over every byte: it only keeps what cannot be known without the
//! bytes before (the state of the quotes, the count of lines).

use crate::masks::{BLOCK_BYTES, Block, Classify, Kernel, dispatch, padded};
use crate::quotes::Quotes;
use crate::syntax::Syntax;

/// A scan over one file, continued from one read to the next.
#[derive(Debug, Clone, Copy)]
pub struct Boundaries {
    syntax: Syntax,
    quotes: Quotes,
    newlines: u64,
}

impl Boundaries {
    pub fn at_record_start(syntax: Syntax) -> Boundaries {
        Boundaries { syntax, quotes: Quotes::at_record_start(), newlines: 0 }
    }

    /// Newlines passed so far, those inside quotes included.
    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    pub fn is_inside_quotes(&self) -> bool {
        self.quotes.is_inside()
    }

    /// Whether the last byte was escaped: if it is a newline, it ended no record.
    pub fn ends_escaped(&self) -> bool {
        self.quotes.was_escaped()
    }

    /// Passes over the next bytes of the file. Returns the offset after the last newline that ends a
    /// record, if there is one.
    pub fn pass(&mut self, bytes: &[u8]) -> Option<usize> {
        dispatch(self.syntax, Pass { state: self, bytes })
    }
}

struct Pass<'a> {
    state: &'a mut Boundaries,
    bytes: &'a [u8],
}

impl Kernel for Pass<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<C: Classify>(self, classifier: C) -> Option<usize> {
        let (blocks, rest) = self.bytes.as_chunks::<BLOCK_BYTES>();
        let mut scan = Scan { state: *self.state, last_block_at: 0, last_newlines: 0 };
        for (i, block) in blocks.iter().enumerate() {
            scan.pass_block(classifier, block, i * BLOCK_BYTES, BLOCK_BYTES);
        }
        if !rest.is_empty() {
            let block = padded(rest, scan.state.syntax);
            scan.pass_block(classifier, &block, blocks.len() * BLOCK_BYTES, rest.len());
        }
        *self.state = scan.state;
        scan.offset_after_last()
    }
}

/// State that is kept in registers during a pass.
struct Scan {
    state: Boundaries,
    /// The last block in which a record ended, and the mask of the newlines that ended one.
    last_block_at: usize,
    last_newlines: u64,
}

impl Scan {
    // Not a closure of the loop: only what is always inlined is compiled for the kernel's features.
    #[inline(always)]
    fn pass_block<C: Classify>(&mut self, classifier: C, block: &Block, at: usize, len: usize) {
        let masks = classifier.classify(block);
        let newlines = masks.newline & !self.state.quotes.advance::<C>(&masks, len);
        self.state.newlines += u64::from(masks.newline.count_ones());
        if newlines != 0 {
            self.last_block_at = at;
            self.last_newlines = newlines;
        }
    }

    fn offset_after_last(&self) -> Option<usize> {
        let from_block = BLOCK_BYTES - self.last_newlines.leading_zeros() as usize;
        (self.last_newlines != 0).then_some(self.last_block_at + from_block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn newlines_in_quotes_end_no_record() {
        let mut state = Boundaries::at_record_start(Dialect::default().syntax());
        assert_eq!(state.pass(b"a,b\nc,\"d\n"), Some(4));
        assert!(state.is_inside_quotes());
        assert_eq!(state.pass(b"\n\n"), None);
        assert_eq!(state.pass(b"\"\ne"), Some(2));
        assert_eq!(state.newlines(), 5);
    }

    #[test]
    fn a_literal_quote_hides_no_newline() {
        let mut state = Boundaries::at_record_start(Dialect::default().syntax());
        assert_eq!(state.pass(b"5\" disk,1\nx"), Some(10));
    }

    proptest! {
        #[test]
        fn cutting_the_bytes_anywhere_changes_nothing(text in r#"["a,\n]{0,300}"#, cut in 0usize..300) {
            let cut = cut.min(text.len());
            let mut whole = Boundaries::at_record_start(Dialect::default().syntax());
            let expected = whole.pass(text.as_bytes());
            let mut parts = Boundaries::at_record_start(Dialect::default().syntax());
            let first = parts.pass(&text.as_bytes()[..cut]);
            let second = parts.pass(&text.as_bytes()[cut..]);
            prop_assert_eq!(second.map(|offset| offset + cut).or(first), expected);
            prop_assert_eq!(parts.newlines(), whole.newlines());
        }
    }
}
