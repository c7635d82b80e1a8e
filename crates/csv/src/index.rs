//! Bounds of the fields and records of a chunk.
//!
//! The index is made and used in stretches of records that fit in the cache next to the bytes they
//! describe, so that converting them does not fetch them from memory again.

use crate::field::without_cr;
use crate::masks::{BLOCK_BYTES, Block, Classify, Kernel, dispatch, padded};
use crate::quotes::Quotes;
use crate::syntax::Syntax;

/// Number of bytes to index before their records are used: with the index, half of a small L2 cache.
const STRETCH_BYTES: usize = 128 << 10;

/// Walks over bytes that begin with a record, a stretch of whole records at a time.
pub struct Index<'a> {
    bytes: &'a [u8],
    syntax: Syntax,
    /// Bytes before this are indexed; a multiple of the block size, until the end is reached.
    indexed_bytes: usize,
    quotes: Quotes,
    /// Offset of each field, and one more that is where the next will begin; longer than `used`, so that
    /// a block can write its fields without growing it.
    starts: Vec<u32>,
    used: usize,
    /// For each record, the place in `starts` of the record after it.
    record_ends: Vec<u32>,
}

/// Some whole records.
#[derive(Clone, Copy)]
pub struct Stretch<'a> {
    pub bytes: &'a [u8],
    pub syntax: Syntax,
    /// Field `i` begins at `starts[i]`; its separator is the byte before `starts[i + 1]`.
    pub starts: &'a [u32],
    record_ends: &'a [u32],
}

impl<'a> Index<'a> {
    pub fn new(bytes: &'a [u8], syntax: Syntax) -> Index<'a> {
        assert!(bytes.len() < u32::MAX as usize, "offsets into a chunk are 32 bits");
        Index {
            bytes,
            syntax,
            indexed_bytes: 0,
            quotes: Quotes::at_record_start(),
            starts: vec![0; 1 + BLOCK_BYTES],
            used: 1,
            record_ends: Vec::new(),
        }
    }

    /// The next whole records, or `None` when there are no more.
    pub fn next_stretch(&mut self) -> Option<Stretch<'_>> {
        self.forget_records();
        while self.record_ends.is_empty() && self.indexed_bytes < self.bytes.len() {
            dispatch(self.syntax, Extend(self));
        }
        (!self.record_ends.is_empty()).then(|| Stretch {
            bytes: self.bytes,
            syntax: self.syntax,
            starts: &self.starts[..self.used],
            record_ends: &self.record_ends,
        })
    }

    /// After the last stretch: where the record and the field begin that the bytes end within, if they
    /// do not end with a record.
    pub fn unfinished(&self) -> Option<Unfinished> {
        let (record, field) = (self.starts[0], self.starts[self.used - 1]);
        ((record as usize) < self.bytes.len()).then_some(Unfinished {
            record_at: record as usize,
            field_at: field as usize,
            is_quoted: self.quotes.is_inside(),
        })
    }

    /// Leaves only the fields of a record that has not ended yet.
    fn forget_records(&mut self) {
        if let Some(end) = self.record_ends.last() {
            self.starts.copy_within(*end as usize..self.used, 0);
            self.used -= *end as usize;
            self.record_ends.clear();
        }
    }
}

/// Offsets of the record and the field that the bytes end within.
#[derive(Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub record_at: usize,
    pub field_at: usize,
    /// A quote is open; if not, an escape is the last byte.
    pub is_quoted: bool,
}

impl<'a> Stretch<'a> {
    /// Each record as its place in `starts` and its number of fields.
    pub fn records(&self) -> impl Iterator<Item = (u32, usize)> + use<'a> {
        let mut begin = 0;
        self.record_ends.iter().map(move |&end| {
            let record = (begin, (end - begin) as usize);
            begin = end;
            record
        })
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.record_ends.len()
    }

    /// A line without anything on it is no record, nor is a comment.
    #[inline(always)]
    pub fn is_blank(&self, first: u32, fields: usize) -> bool {
        if fields != 1 {
            return false;
        }
        let raw = self.raw_field(first as usize);
        without_cr(raw).is_empty() || self.syntax.is_comment(raw)
    }

    /// The bytes of all the records.
    pub fn span(&self) -> &'a [u8] {
        let end = self.record_ends.last().map_or(0, |&end| end as usize);
        &self.bytes[self.starts[0] as usize..self.starts[end] as usize]
    }

    /// A field with its quotes, without its separator. The last of a CRLF record keeps its CR.
    #[inline(always)]
    pub fn raw_field(&self, place: usize) -> &'a [u8] {
        &self.bytes[self.starts[place] as usize..self.starts[place + 1] as usize - 1]
    }
}

struct Extend<'i, 'a>(&'i mut Index<'a>);

impl Kernel for Extend<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Classify>(self, classifier: C) {
        let index = self.0;
        let bytes = &index.bytes[index.indexed_bytes..];
        let bytes = &bytes[..bytes.len().min(STRETCH_BYTES)];
        let (blocks, rest) = bytes.as_chunks::<BLOCK_BYTES>();
        for block in blocks {
            index.add_block(classifier, block, BLOCK_BYTES);
        }
        if !rest.is_empty() {
            index.add_block(classifier, &padded(rest, index.syntax), rest.len());
        }
    }
}

impl Index<'_> {
    #[inline(always)]
    fn add_block<C: Classify>(&mut self, classifier: C, block: &Block, len: usize) {
        let masks = classifier.classify(block);
        let outside = !self.quotes.advance::<C>(&masks, len);
        let separators = (masks.delimiter | masks.newline) & outside;
        if separators != 0 {
            self.add_records(masks.newline & outside, separators);
            self.add_fields(separators);
        }
        self.indexed_bytes += len;
    }

    #[inline(always)]
    fn add_records(&mut self, mut newlines: u64, separators: u64) {
        while newlines != 0 {
            let up_to = newlines ^ (newlines - 1);
            let fields_in_block = (separators & up_to).count_ones();
            self.record_ends.push(self.used as u32 - 1 + fields_in_block);
            newlines &= newlines - 1;
        }
    }

    #[inline(always)]
    fn add_fields(&mut self, mut separators: u64) {
        if self.starts.len() < self.used + BLOCK_BYTES {
            self.starts.resize(2 * self.starts.len(), 0);
        }
        let fields = separators.count_ones() as usize;
        let next_start = self.indexed_bytes as u32 + 1;
        let out = &mut self.starts[self.used..][..BLOCK_BYTES];
        // Always eight: a loop whose length is known beats one that stops at the right field.
        let mut written = 0;
        while written < fields {
            for start in &mut out[written..written + 8] {
                *start = next_start + separators.trailing_zeros();
                separators &= separators.wrapping_sub(1);
            }
            written += 8;
        }
        self.used += fields;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn syntax() -> Syntax {
        Dialect::default().syntax()
    }

    fn records(text: &str) -> Vec<Vec<String>> {
        let mut index = Index::new(text.as_bytes(), syntax());
        let mut records = Vec::new();
        while let Some(stretch) = index.next_stretch() {
            assert_eq!(stretch.records().count(), stretch.len());
            for (first, fields) in stretch.records() {
                let raw = |i| stretch.raw_field(first as usize + i).to_vec();
                let field = |i| String::from_utf8(raw(i)).unwrap();
                records.push((0..fields).map(field).collect());
            }
        }
        records
    }

    #[test]
    fn separators_outside_quotes_end_fields() {
        assert_eq!(
            records("a,\"b,\nc\",d\n,\n\n"),
            [vec!["a", "\"b,\nc\"", "d"], vec!["", ""], vec![""]]
        );
    }

    #[test]
    fn blocks_full_of_separators_and_stretches_of_many_blocks() {
        let text =
            ",".repeat(200) + "\n" + &"abc,def\n".repeat(50_000) + &"x".repeat(300_000) + "\ny,z\n";
        let records = records(&text);
        assert_eq!(records.len(), 50_003);
        assert_eq!(records[0], vec![""; 201]);
        assert!(records[1..50_001].iter().all(|record| *record == ["abc", "def"]));
        assert_eq!(records[50_001][0].len(), 300_000);
        assert_eq!(records[50_002], ["y", "z"]);
    }

    #[test]
    fn an_unfinished_record_says_where_its_open_field_is() {
        let mut index = Index::new(b"a,b\nc,d,\"e,\n", syntax());
        while index.next_stretch().is_some() {}
        assert_eq!(
            index.unfinished(),
            Some(Unfinished { record_at: 4, field_at: 8, is_quoted: true })
        );
        let mut index = Index::new(b"a,b\n", syntax());
        while index.next_stretch().is_some() {}
        assert_eq!(index.unfinished(), None);
    }

    #[test]
    fn the_span_of_a_stretch_is_its_whole_records() {
        let mut index = Index::new(b"a,b\nc\nd", syntax());
        assert_eq!(index.next_stretch().unwrap().span(), b"a,b\nc\n");
    }
}
