//! The beginning of each file of a table, from which its columns are guessed.

use std::path::Path;

use crate::dialect::Dialect;
use crate::error::Error;
use crate::header::{Header, header_of, read_header};
use crate::kind::refuse_beginning;
use crate::sample::Sample;
use crate::spec::Options;

/// What there is of a file before it is read.
#[derive(Debug)]
pub enum Beginning {
    /// It can be read at any place.
    File,
    /// Its bytes come in their order.
    Bytes {
        /// The first of them.
        bytes: Vec<u8>,
        /// Whether there are no others.
        is_whole: bool,
    },
}

impl Beginning {
    /// Whether the header ends within these first bytes of a file.
    pub fn has_header(bytes: &[u8], file: &Path, dialect: &Dialect) -> bool {
        header_of(&mut &bytes[..], file, dialect, bytes.len()).is_ok()
    }

    /// The header, and samples of so many bytes of what follows it.
    pub(crate) fn look_at(
        self,
        file: &Path,
        dialect: &Dialect,
        sample_bytes: usize,
    ) -> Result<(Header, Vec<Sample>), Error> {
        let record_bytes_max = Options::default().record_bytes_max;
        match self {
            Beginning::File => {
                let header = read_header(file, dialect, record_bytes_max)?;
                let samples = Sample::of_file(file, &header, sample_bytes);
                Ok((header, samples.map_err(|error| Error::read(file, error))?))
            }
            Beginning::Bytes { bytes, is_whole } => {
                refuse_beginning(&bytes, file, dialect)?;
                // One that is cut is none: its last name is not what it would be, and others are missing.
                let bytes_max = if is_whole { record_bytes_max } else { bytes.len() };
                let (header, _) = header_of(&mut &bytes[..], file, dialect, bytes_max)?;
                let sample = Sample::of_beginning(&bytes, is_whole, &header, sample_bytes);
                Ok((header, vec![sample]))
            }
        }
    }
}
