//! NULLs of a column, at no cost for the rows that are none.

use arrow::array::NullBufferBuilder;
use arrow::buffer::NullBuffer;

pub struct Nulls {
    bits: NullBufferBuilder,
    /// Rows after those in `bits`, none of them NULL.
    valid_run: usize,
}

impl Nulls {
    pub fn new() -> Nulls {
        Nulls { bits: NullBufferBuilder::new(0), valid_run: 0 }
    }

    #[inline(always)]
    pub fn append(&mut self, is_valid: bool) {
        if is_valid {
            self.valid_run += 1;
        } else {
            self.append_null();
        }
    }

    #[inline(never)]
    fn append_null(&mut self) {
        self.bits.append_n_non_nulls(std::mem::take(&mut self.valid_run));
        self.bits.append_null();
    }

    /// `None` if there is no NULL.
    pub fn finish(mut self) -> Option<NullBuffer> {
        self.bits.append_n_non_nulls(self.valid_run);
        self.bits.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_where_they_were_appended() {
        let mut nulls = Nulls::new();
        let rows = [true, true, false, false, true, false, true];
        rows.iter().for_each(|is_valid| nulls.append(*is_valid));
        let nulls = nulls.finish().unwrap();
        assert_eq!(nulls.iter().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn a_column_without_nulls_has_no_bits() {
        let mut nulls = Nulls::new();
        nulls.append(true);
        assert!(nulls.finish().is_none());
    }
}
