//! A file whose bytes come in their order only: decompressed, or from a pipe.

use std::fmt;
use std::io::{self, Cursor, ErrorKind, Read};

/// Bytes in their order.
pub type Input = Box<dyn Read + Send>;

/// The bytes after a file's header.
pub struct Body {
    input: Input,
    /// Read to learn whether anything comes after a block.
    ahead: Option<u8>,
}

/// A part of a file that has been read.
#[derive(Debug, PartialEq, Eq)]
pub struct Filled {
    pub len: usize,
    pub is_last: bool,
}

impl Body {
    /// `begun` has been read already.
    pub fn new(begun: Vec<u8>, rest: Input) -> Body {
        Body { input: Box::new(Cursor::new(begun).chain(rest)), ahead: None }
    }

    /// Reads as much as there is room for, or all that is left.
    pub fn fill(&mut self, buffer: &mut [u8]) -> io::Result<Filled> {
        let mut len = 0;
        if let (Some(byte), [first, ..]) = (self.ahead.take(), &mut *buffer) {
            *first = byte;
            len = 1;
        }
        while len < buffer.len() {
            match read(&mut self.input, &mut buffer[len..])? {
                0 => return Ok(Filled { len, is_last: true }),
                more => len += more,
            }
        }
        let mut next = [0];
        let is_last = read(&mut self.input, &mut next)? == 0;
        self.ahead = (!is_last).then_some(next[0]);
        Ok(Filled { len, is_last })
    }
}

fn read(input: &mut Input, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_knows_whether_it_is_the_last() {
        let mut body = Body::new(b"abc".to_vec(), Box::new(&b"defg"[..]));
        let mut buffer = [0; 5];
        assert_eq!(body.fill(&mut buffer).unwrap(), Filled { len: 5, is_last: false });
        assert_eq!(&buffer, b"abcde");
        assert_eq!(body.fill(&mut buffer[..2]).unwrap(), Filled { len: 2, is_last: true });
        assert_eq!(&buffer[..2], b"fg");
        let mut empty = Body::new(vec![], Box::new(io::empty()));
        assert_eq!(empty.fill(&mut buffer).unwrap(), Filled { len: 0, is_last: true });
    }
}
