//! The column that orders rows as they are in their files: `chunk number << 32 | row in chunk`, unsigned.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

use crate::error::Error;

/// Columns, and after them the position if it has a name.
pub fn with_position(columns: impl Into<Fields>, position: Option<&str>) -> SchemaRef {
    let columns: Fields = columns.into();
    let position = position.map(|name| Arc::new(Field::new(name, DataType::UInt64, false)));
    Arc::new(Schema::new(columns.iter().cloned().chain(position).collect::<Fields>()))
}

/// Of all rows of a chunk, fitting or not.
pub fn positions(chunk: u64, rows: usize) -> ArrayRef {
    let first = chunk << 32;
    Arc::new(UInt64Array::from_iter_values(first..first + rows as u64))
}

/// Numbers for the chunks of several lanes, whoever reads which of them when: each lane has a range of its own.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    bits_of_chunk: u32,
}

/// So many bits a chunk's number has in a position.
const BITS: u32 = 32;

impl Numbers {
    pub fn of(lanes: usize) -> Numbers {
        let bits_of_lane = usize::BITS - lanes.saturating_sub(1).leading_zeros();
        Numbers { bits_of_chunk: BITS.saturating_sub(bits_of_lane) }
    }

    pub fn number(self, lane: usize, chunk: u64) -> Result<u64, Error> {
        if chunk >> self.bits_of_chunk != 0 || lane as u64 >> (BITS - self.bits_of_chunk) != 0 {
            return Err(Error::TooManyChunks);
        }
        Ok((lane as u64) << self.bits_of_chunk | chunk)
    }

    /// The position of the first of so many rows of a lane, where it does not depend on chunks: all up to the next lane's are for
    /// its rows.
    pub fn first_position(self, lane: usize, rows: usize) -> Result<u64, Error> {
        // The position of its last row has to be one of its own.
        let chunks = (rows as u64).saturating_sub(1) >> BITS;
        Ok((self.number(lane, chunks)? - chunks) << BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_along_the_lanes() {
        for lanes in [0, 1, 2, 3, 4, 5, 1000, 1 << 20] {
            let numbers = Numbers::of(lanes);
            let last = lanes.max(1) - 1;
            let number = |lane, chunk| numbers.number(lane, chunk).unwrap();
            assert!(number(last, 0) >= last as u64);
            assert!(number(last, 7) < 1 << 32, "{lanes}");
            if last > 0 {
                assert!(number(last - 1, 1000) < number(last, 0));
            }
        }
        assert_eq!(Numbers::of(1).number(0, u64::from(u32::MAX)).unwrap(), u64::from(u32::MAX));
        assert!(Numbers::of(1).number(0, 1 << 32).is_err());
        assert!(Numbers::of(2).number(0, 1 << 31).is_err());
        assert!(Numbers::of(2).number(2, 0).is_err());
    }
}
