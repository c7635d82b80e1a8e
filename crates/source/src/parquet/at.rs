//! A file that is read at any place by any number of threads: without a cursor that they would share.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

#[derive(Clone, Debug)]
pub struct FileAt {
    file: Arc<File>,
    bytes: u64,
}

impl FileAt {
    pub fn new(file: File) -> io::Result<FileAt> {
        let bytes = file.metadata()?.len();
        Ok(FileAt { file: Arc::new(file), bytes })
    }
}

impl Length for FileAt {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for FileAt {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(From { file: Arc::clone(&self.file), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let is_within = start.checked_add(length as u64).is_some_and(|end| end <= self.bytes);
        // Asked before there is room made for it: lengths may be wrong.
        if !is_within {
            return Err(ParquetError::EOF(format!("there are no {length} bytes at byte {start}")));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// The bytes from a place on.
pub struct From {
    file: Arc<File>,
    offset: u64,
}

impl Read for From {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_at(into, self.offset)?;
        self.offset += bytes as u64;
        Ok(bytes)
    }
}
