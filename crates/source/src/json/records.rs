//! The records of some bytes: lines, or values that are as long as they are.

use memchr::{memchr, memchr_iter, memchr2};

use super::cursor::Wrong;

/// Arrangement of the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One on each line: a wrong one harms no other.
    Lines,
    /// One after the other, over several lines.
    Values,
    /// In an array.
    Array(Phase),
}

/// How much of an array has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Begins,
    /// After its bracket.
    Opened,
    AfterItem,
    AfterComma,
    IsOver,
}

/// A record, and the physical line on which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub bytes: &'a [u8],
    pub line: u64,
}

/// Goes through the records of some bytes.
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    line: u64,
    layout: Layout,
    /// The last record ends where the bytes do.
    is_whole: bool,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl<'a> Records<'a> {
    pub fn new(bytes: &'a [u8], first_line: u64, layout: Layout) -> Records<'a> {
        let at = if first_line == 1 && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        Records { bytes, at, end: 0, line: first_line, layout, is_whole: false }
    }

    /// The same of bytes that end with a record: a word there has nothing after it that would end it.
    pub fn of_whole(bytes: &'a [u8], first_line: u64, layout: Layout) -> Records<'a> {
        Records { is_whole: true, ..Records::new(bytes, first_line, layout) }
    }

    /// After the last whole record.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The arrangement of what follows.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The next whole record; none at the end, and where one is not whole.
    pub fn next(&mut self) -> Result<Option<Record<'a>>, Wrong> {
        match self.layout {
            Layout::Lines => Ok(self.next_line()),
            Layout::Values => Ok(self.next_value()),
            Layout::Array(phase) => self.next_item(phase),
        }
    }

    fn next_line(&mut self) -> Option<Record<'a>> {
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            let length = memchr(b'\n', rest).unwrap_or(rest.len());
            let (bytes, line) = (rest[..length].trim_ascii(), self.line);
            self.at += (length + 1).min(rest.len());
            self.end = self.at;
            self.line += 1;
            if !bytes.is_empty() {
                return Some(Record { bytes, line });
            }
        }
        None
    }

    fn next_value(&mut self) -> Option<Record<'a>> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let length = match extent(rest) {
            None if self.is_whole && !rest.is_empty() => rest.len(),
            length => length?,
        };
        let bytes = &rest[..length];
        let record = Record { bytes, line: self.line };
        self.line += memchr_iter(b'\n', bytes).count() as u64;
        self.at += bytes.len();
        self.end = self.at;
        Some(record)
    }

    /// As strict as JSON is: where a comma is missing, something else may be missing as well.
    fn next_item(&mut self, mut phase: Phase) -> Result<Option<Record<'a>>, Wrong> {
        loop {
            self.skip_blanks();
            let Some(next) = self.bytes.get(self.at) else { return Ok(None) };
            phase = match (phase, next) {
                (Phase::Begins, b'[') => Phase::Opened,
                (Phase::Begins, _) => return Err("an array without its bracket"),
                (Phase::Opened | Phase::AfterItem, b']') => Phase::IsOver,
                (Phase::AfterItem, b',') => Phase::AfterComma,
                (Phase::AfterItem, _) => return Err("an array without a comma or its end"),
                (Phase::Opened | Phase::AfterComma, b',' | b']') => {
                    return Err("a comma too many in an array");
                }
                (Phase::Opened | Phase::AfterComma, _) => {
                    let item = self.next_value();
                    if item.is_some() {
                        self.layout = Layout::Array(Phase::AfterItem);
                    }
                    return Ok(item);
                }
                (Phase::IsOver, _) => return Err("more comes after the array"),
            };
            self.pass(phase);
        }
    }

    /// Passes over a byte that is of no record.
    fn pass(&mut self, phase: Phase) {
        self.at += 1;
        self.end = self.at;
        self.layout = Layout::Array(phase);
    }

    fn skip_blanks(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.bytes.get(self.at) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
    }
}

/// The length of the value that comes first, if all of it is there. What is within it is not looked at closely: it may be
/// wrong, and the next one right.
fn extent(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'{' | b'[' => extent_of_brackets(bytes),
        b'"' => extent_of_string(bytes),
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}');
            // Something at least: what ends nothing is a record by itself.
            bytes.iter().position(ends).map(|at| at.max(1))
        }
    }
}

fn extent_of_brackets(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, 0usize);
    loop {
        let rest = &bytes[at..];
        let next = rest.iter().position(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b'"'))?;
        at += next;
        match bytes[at] {
            b'"' => at += extent_of_string(&bytes[at..])?,
            b'{' | b'[' => {
                open += 1;
                at += 1;
            }
            _ => {
                open -= 1;
                at += 1;
                if open == 0 {
                    return Some(at);
                }
            }
        }
    }
}

fn extent_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, layout: Layout) -> (Vec<(u64, String)>, Result<usize, Wrong>) {
        let mut records = Records::new(text.as_bytes(), 1, layout);
        let mut all = vec![];
        loop {
            match records.next() {
                Ok(Some(record)) => {
                    all.push((record.line, String::from_utf8_lossy(record.bytes).into_owned()));
                }
                Ok(None) => return (all, Ok(records.end())),
                Err(wrong) => return (all, Err(wrong)),
            }
        }
    }

    fn of(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
        expected.iter().map(|(line, text)| (*line, text.to_string())).collect()
    }

    #[test]
    fn a_line_is_a_record_whatever_is_on_it() {
        let (all, end) = records("\u{feff}{\"a\":1}\r\n\n x \n{", Layout::Lines);
        assert_eq!((all, end), (of(&[(1, "{\"a\":1}"), (3, "x"), (4, "{")]), Ok(18)));
    }

    #[test]
    fn a_value_may_have_several_lines() {
        let text = "{\n\"a\": \"}\\\"\"\n}\n{}[{}] 7 {\"b\"";
        let (all, end) = records(text, Layout::Values);
        let expected = of(&[(1, "{\n\"a\": \"}\\\"\"\n}"), (4, "{}"), (4, "[{}]"), (4, "7")]);
        assert_eq!((all, end), (expected, Ok(text.len() - 5)));
    }

    #[test]
    fn an_array_has_items() {
        let array = Layout::Array(Phase::Begins);
        let (all, end) = records(" [{\"a\":1},\n {} ]\n", array);
        assert_eq!((all, end), (of(&[(1, "{\"a\":1}"), (2, "{}")]), Ok(16)));
        assert_eq!(records("[]", array), (vec![], Ok(2)));
        assert_eq!(records("[{}] {}", array).1, Err("more comes after the array"));
        assert_eq!(records("[{} {}]", array).1, Err("an array without a comma or its end"));
        for text in ["[{},]", "[{},,{}]", "[,{}]", "[,]"] {
            assert_eq!(records(text, array).1, Err("a comma too many in an array"), "{text}");
        }
        assert_eq!(records("[{\"a\":1},{\"b", array), (of(&[(1, "{\"a\":1}")]), Ok(9)));
    }
}
