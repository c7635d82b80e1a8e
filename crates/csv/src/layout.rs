//! Places of the projected columns in one file.

use std::collections::HashMap;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::decoded::decoded;
use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::header::{Header, header_of, read_header};
use crate::input::{Body, Input};
use crate::kind::{HEAD_BYTES, refuse_beginning};
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
    /// The size of the file; 0, if its bytes come in their order.
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
        Layout::new(path, header, (metadata.len(), metadata.modified().ok()), expected)
    }

    /// Of a file whose bytes come in their order, and those that come after its header.
    pub fn of_input(
        path: &Path,
        mut input: Input,
        expected: &Expected<'_>,
    ) -> Result<(Layout, Body), Error> {
        let read = |error| Error::read(path, error);
        let mut head = vec![];
        (&mut input).take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(read)?;
        refuse_beginning(&head, path, expected.dialect)?;
        let input = Box::new(Cursor::new(head).chain(input));
        let mut input = decoded(input, expected.dialect.encoding).map_err(read)?;
        let dialect = Dialect { encoding: Encoding::Utf8, ..expected.dialect.clone() };
        let record_bytes_max = expected.record_bytes_max;
        let (header, mut begun) = header_of(&mut input, path, &dialect, record_bytes_max)?;
        let body = Body::new(begun.split_off(header.body_at), input);
        Ok((Layout::new(path, header, (0, None), expected)?, body))
    }

    fn new(
        path: &Path,
        header: Header,
        (file_bytes, modified): (u64, Option<SystemTime>),
        expected: &Expected<'_>,
    ) -> Result<Layout, Error> {
        let fields = expected.fields.unwrap_or(header.names.len());
        let mut named = HashMap::<&str, Vec<usize>>::new();
        for (at, name) in header.names.iter().enumerate() {
            named.entry(name).or_default().push(at);
        }
        let place = |column: &Column| expected.place(column, path, &header, &named, fields);
        Ok(Layout {
            path: path.into(),
            fields,
            places: expected.columns.iter().map(place).collect::<Result<_, _>>()?,
            encoding: header.encoding,
            body_at: header.body_at as u64,
            body_line: header.body_line,
            file_bytes,
            modified,
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
        named: &HashMap<&str, Vec<usize>>,
        fields: usize,
    ) -> Result<usize, Error> {
        let index = match &column.at {
            At::Header(name) => self.place_by_name(name, file, header, named)?,
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

    fn place_by_name(
        &self,
        name: &str,
        file: &Path,
        header: &Header,
        named: &HashMap<&str, Vec<usize>>,
    ) -> Result<usize, Error> {
        let indexes = named.get(name).cloned().unwrap_or_default();
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
