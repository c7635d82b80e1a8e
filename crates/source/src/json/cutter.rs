//! What comes, as pieces of whole records.

use std::io::{self, Read};

use caudal_csv::Input;
use memchr::{memchr_iter, memrchr};

use super::cursor::Wrong;
use super::records::{Layout, Phase, Records};

/// Whole records of a file.
#[derive(Debug)]
pub struct Piece {
    pub bytes: Vec<u8>,
    /// The physical line of the first byte, counted from 1.
    pub first_line: u64,
    pub layout: Layout,
}

/// A file's bytes in their order.
pub struct Cutter {
    input: Input,
    layout: Layout,
    block_bytes: usize,
    record_bytes_max: usize,
    /// What no piece has taken.
    tail: Vec<u8>,
    /// The physical line of its first byte.
    line: u64,
    is_at_end: bool,
}

/// Why there is no next piece.
#[derive(Debug)]
pub enum Cut {
    Read(io::Error),
    /// A record that begins on this line and does not end.
    TooLong(u64),
    /// Something that is no record, after which nothing can be told.
    Wrong(u64, Wrong),
}

impl Cutter {
    pub fn new(
        input: Input,
        layout: Layout,
        block_bytes: usize,
        record_bytes_max: usize,
    ) -> Cutter {
        let tail = vec![];
        Cutter { input, layout, block_bytes, record_bytes_max, tail, line: 1, is_at_end: false }
    }

    pub fn next(&mut self) -> Result<Option<Piece>, Cut> {
        while !self.is_at_end {
            self.read_block().map_err(Cut::Read)?;
            let (end, next_layout) = self.end_of_records()?;
            if end > 0 {
                return Ok(Some(self.piece(end, next_layout)));
            }
            if self.tail.len() > self.record_bytes_max {
                return Err(Cut::TooLong(self.line));
            }
        }
        let is_whole = self.tail.trim_ascii().is_empty()
            && matches!(self.layout, Layout::Lines | Layout::Values | Layout::Array(Phase::IsOver));
        if is_whole { Ok(None) } else { Err(Cut::Wrong(self.line, "it ends too early")) }
    }

    fn read_block(&mut self) -> io::Result<()> {
        let block = (&mut self.input).take(self.block_bytes as u64).read_to_end(&mut self.tail)?;
        self.is_at_end = block < self.block_bytes;
        Ok(())
    }

    /// Where the last whole record in the tail ends, and how what follows is arranged.
    fn end_of_records(&self) -> Result<(usize, Layout), Cut> {
        if self.layout == Layout::Lines {
            let last_line_end = || memrchr(b'\n', &self.tail).map_or(0, |at| at + 1);
            let end = if self.is_at_end { self.tail.len() } else { last_line_end() };
            return Ok((end, Layout::Lines));
        }
        let mut records = Records::new(&self.tail, self.line, self.layout);
        loop {
            match records.next() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok((records.end(), records.layout())),
                Err(wrong) => return Err(Cut::Wrong(self.line, wrong)),
            }
        }
    }

    fn piece(&mut self, end: usize, next_layout: Layout) -> Piece {
        let rest = self.tail.split_off(end);
        let bytes = std::mem::replace(&mut self.tail, rest);
        let (first_line, layout) = (self.line, self.layout);
        self.line += memchr_iter(b'\n', &bytes).count() as u64;
        self.layout = next_layout;
        Piece { bytes, first_line, layout }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(
        text: &str,
        layout: Layout,
        block_bytes: usize,
    ) -> Result<Vec<(u64, String)>, String> {
        let input = Box::new(io::Cursor::new(text.to_string().into_bytes()));
        let mut cutter = Cutter::new(input, layout, block_bytes, 50);
        let mut all = vec![];
        while let Some(piece) = cutter.next().map_err(|cut| format!("{cut:?}"))? {
            let mut records = Records::of_whole(&piece.bytes, piece.first_line, piece.layout);
            while let Some(record) = records.next().unwrap() {
                all.push((record.line, String::from_utf8_lossy(record.bytes).into_owned()));
            }
        }
        Ok(all)
    }

    #[test]
    fn blocks_of_any_size_give_the_same_records() {
        let array = Layout::Array(Phase::Begins);
        for (text, layout) in [
            ("{\"a\":1}\n\n{\"b\":\"x y\"}\r\nno\n{\"last\":1}", Layout::Lines),
            ("{\n \"a\": [1,\n {}]\n}{\"b\":\"}\"}\n\n{}\n", Layout::Values),
            ("\n[ {\"a\":1},\n{\"b\":\"],[\"}\n,{}\n]\n", array),
            ("[]", array),
            // Words, which are wrong and may not be lost.
            ("{\"a\":1} 90 x\n{\"b\":2} ", Layout::Values),
            ("[{\"a\":1}, 90 ,x]", array),
        ] {
            let whole = records(text, layout, 1000).unwrap();
            for block_bytes in 1..text.len() {
                assert_eq!(records(text, layout, block_bytes).unwrap(), whole, "{block_bytes}");
            }
        }
    }

    #[test]
    fn what_ends_too_early_is_told() {
        for block_bytes in 1..12 {
            for text in ["[{\"a\":1},", "[{\"a\":1}", "[{\"a\":1},{", "["] {
                let read = records(text, Layout::Array(Phase::Begins), block_bytes);
                assert_eq!(read.unwrap_err(), "Wrong(1, \"it ends too early\")", "{text}");
            }
        }
        assert!(records("{\"a\"\n:1}{", Layout::Values, 4).is_err());
        let long = format!("{{\"a\":\"{}", "x".repeat(100));
        assert_eq!(records(&long, Layout::Values, 4).unwrap_err(), "TooLong(1)");
        assert_eq!(records(&format!("{{}}\n{long}"), Layout::Lines, 4).unwrap_err(), "TooLong(2)");
    }
}
