//! The bytes that mean something in a file, as whoever looks at bytes needs them.

use crate::dialect::Dialect;

/// Which bytes divide a file. Small and copied: all who look at bytes have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    pub delimiter: u8,
    quote: u8,
    has_quotes: bool,
    pub escape: Option<u8>,
    pub comment: Option<u8>,
    /// A byte that means nothing, to fill blocks with.
    pub filler: u8,
}

impl Syntax {
    pub fn new(dialect: &Dialect) -> Syntax {
        let Dialect { delimiter, quote, escape, comment, .. } = *dialect;
        let taken = [Some(delimiter), quote, escape, comment, Some(b'\n')];
        let is_free = |byte: &u8| !taken.contains(&Some(*byte));
        Syntax {
            delimiter,
            quote: quote.unwrap_or_default(),
            has_quotes: quote.is_some(),
            escape,
            comment,
            filler: (0..=5).find(is_free).expect("five bytes are taken, of six"),
        }
    }

    pub fn quote(&self) -> Option<u8> {
        self.has_quotes.then_some(self.quote)
    }

    /// Whether there is nothing but delimiters, quotes and newlines to look for.
    pub fn is_plain(&self) -> bool {
        self.escape.is_none() && self.comment.is_none()
    }

    /// Whether text that is valid UTF-8 is valid between its delimiters, too.
    pub fn keeps_utf8(&self) -> bool {
        self.delimiter.is_ascii()
    }

    /// Whether a field begins with a quote.
    #[inline(always)]
    pub fn is_quoted(&self, raw: &[u8]) -> bool {
        raw.first().is_some_and(|byte| *byte == self.quote) && self.has_quotes
    }

    /// Whether a field is not what it stands for, byte by byte.
    #[inline(always)]
    pub fn is_encoded(&self, raw: &[u8]) -> bool {
        self.is_quoted(raw) || self.escape.is_some_and(|escape| raw.contains(&escape))
    }

    /// Whether a line of one field is a comment.
    #[inline(always)]
    pub fn is_comment(&self, raw: &[u8]) -> bool {
        self.comment.is_some() && raw.first().copied() == self.comment
    }
}
