//! A file that is read at any place by any number of threads: without a cursor that they would share.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::{Buf, Bytes};

use crate::remote::Blocks;

/// Cheap to clone; what one clone has asked for is there for all.
#[derive(Clone, Debug)]
pub enum FileAt {
    Here { file: Arc<File>, bytes: u64 },
    There(Arc<Blocks>),
}

impl FileAt {
    pub fn new(file: File) -> io::Result<FileAt> {
        let bytes = file.metadata()?.len();
        Ok(FileAt::Here { file: Arc::new(file), bytes })
    }

    pub fn bytes(&self) -> u64 {
        match self {
            FileAt::Here { bytes, .. } => *bytes,
            FileAt::There(blocks) => blocks.bytes(),
        }
    }

    /// Says which ranges are going to be read, each from its beginning to its end: those of a file that is not here are asked
    /// for ahead.
    pub fn expect(&self, ranges: impl FnOnce() -> Vec<Range<u64>>) -> io::Result<()> {
        match self {
            FileAt::Here { .. } => Ok(()),
            FileAt::There(blocks) => Ok(blocks.expect(ranges())?),
        }
    }

    /// As many bytes from a place on. None beyond the end: that is asked before there is room made for them.
    pub fn exactly(&self, at: u64, len: usize) -> io::Result<Bytes> {
        let is_within = at.checked_add(len as u64).is_some_and(|end| end <= self.bytes());
        if !is_within {
            let why = format!("there are no {len} bytes at byte {at}");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        match self {
            FileAt::Here { file, .. } => {
                let mut bytes = vec![0; len];
                file.read_exact_at(&mut bytes, at)?;
                Ok(bytes.into())
            }
            FileAt::There(blocks) => Ok(blocks.exactly(at, len)?),
        }
    }

    /// The bytes from a place on.
    pub fn from(&self, at: u64) -> From {
        From { file: self.clone(), at, some: Bytes::new() }
    }
}

pub struct From {
    file: FileAt,
    at: u64,
    /// What was given of a file that is not here, and not yet read.
    some: Bytes,
}

impl Read for From {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = match &self.file {
            FileAt::Here { file, .. } => file.read_at(into, self.at)?,
            FileAt::There(blocks) => {
                if self.some.is_empty() && !into.is_empty() {
                    self.some = blocks.some(self.at)?;
                }
                let bytes = self.some.len().min(into.len());
                self.some.copy_to_slice(&mut into[..bytes]);
                bytes
            }
        };
        self.at += bytes as u64;
        Ok(bytes)
    }
}
