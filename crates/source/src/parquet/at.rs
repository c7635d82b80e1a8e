//! Files as the reader of Parquet wants them.

use std::io::BufReader;

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::at::{FileAt, From};
use crate::guard;

impl Length for FileAt {
    fn len(&self) -> u64 {
        self.bytes()
    }
}

impl ChunkReader for FileAt {
    type T = BufReader<guard::Kept<From>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(guard::Kept(self.from(start))))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(guard::keep(self.exactly(start, length))?)
    }
}
