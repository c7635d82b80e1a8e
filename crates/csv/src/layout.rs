//! Places of the projected columns in one file.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::header::{Header, read_header};
use crate::spec::{At, Column};

/// Facts that a file's header settles for all of its records.
#[derive(Clone, Debug)]
pub struct Layout {
    pub path: Arc<Path>,
    /// Number of fields of a record.
    pub fields: usize,
    /// Of each projected column, its place in a record.
    pub places: Vec<usize>,
    /// Which of its encodings the table's has turned out to be.
    pub encoding: Encoding,
    /// Offset at which the records begin.
    pub body_at: u64,
    /// The physical line on which they do.
    pub body_line: u64,
    /// The size of the file.
    pub file_bytes: u64,
    /// When it was last written to, where that is known.
    modified: Option<SystemTime>,
}

/// Facts that a table states of each of its files.
pub struct Expected<'a> {
    pub table: &'a str,
    pub columns: &'a [Column],
    pub dialect: &'a Dialect,
    pub fields: Option<usize>,
    pub record_bytes_max: usize,
}

impl Layout {
    pub fn of_file(path: &Path, expected: &Expected<'_>) -> Result<Layout, Error> {
        let header = read_header(path, expected.dialect, expected.record_bytes_max)?;
        let metadata = fs::metadata(path).map_err(|error| Error::read(path, error))?;
        let fields = expected.fields.unwrap_or(header.names.len());
        let place = |column: &Column| expected.place(column, path, &header, fields);
        Ok(Layout {
            path: path.into(),
            fields,
            places: expected.columns.iter().map(place).collect::<Result<_, _>>()?,
            encoding: header.encoding,
            body_at: header.body_at as u64,
            body_line: header.body_line,
            file_bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// Fails if the file is not the one that it was.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let metadata = fs::metadata(&self.path).map_err(|error| Error::read(&self.path, error))?;
        match (metadata.len(), metadata.modified().ok()) == (self.file_bytes, self.modified) {
            true => Ok(()),
            false => Err(Error::Changed(self.path.to_path_buf())),
        }
    }
}

impl Expected<'_> {
    fn place(
        &self,
        column: &Column,
        file: &Path,
        header: &Header,
        fields: usize,
    ) -> Result<usize, Error> {
        let index = match &column.at {
            At::Header(name) => self.place_by_name(name, file, header)?,
            At::Index(index) => *index,
        };
        if index >= fields {
            return Err(Error::IndexBeyondFields {
                table: self.table.into(),
                file: file.into(),
                column: column.name.clone(),
                index,
                fields,
            });
        }
        Ok(index)
    }

    fn place_by_name(&self, name: &str, file: &Path, header: &Header) -> Result<usize, Error> {
        let names = header.names.iter().enumerate();
        let indexes: Vec<usize> = names.filter(|(_, at)| *at == name).map(|(i, _)| i).collect();
        match indexes[..] {
            [index] => Ok(index),
            [] => Err(Error::NoSuchColumn {
                table: self.table.into(),
                file: file.into(),
                column: name.into(),
                header: header.names.clone(),
            }),
            _ => Err(Error::DuplicateHeader {
                table: self.table.into(),
                file: file.into(),
                column: name.into(),
                indexes,
            }),
        }
    }
}
