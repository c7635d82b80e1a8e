//! Tables in a temporary directory, read whole.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::PathBuf;
use std::{fs, thread};

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use caudal_csv::{At, Column, Error, Options, Parsed, Reader, Reject, Type};
use tempfile::TempDir;

/// A row's values as text; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// Line, column and reason of a reject.
pub type RejectLine<'a> = (u64, Option<&'a str>, String);

/// Content of a whole table, in the order of its files.
#[derive(Debug)]
pub struct Content {
    pub rows: Vec<Row>,
    pub rejects: Vec<Reject>,
    pub consumed_bytes: usize,
}

impl Content {
    pub fn reject_lines(&self) -> Vec<RejectLine<'_>> {
        let rejects = self.rejects.iter();
        rejects.map(|r| (r.line, r.column.as_deref(), r.reason.to_string())).collect()
    }
}

pub struct Table {
    pub dir: TempDir,
    pub spec: caudal_csv::Table,
    pub options: Options,
    pub threads: usize,
}

impl Table {
    /// A table of one file.
    pub fn new(content: impl AsRef<[u8]>) -> Table {
        let table = Table {
            dir: tempfile::tempdir().unwrap(),
            spec: caudal_csv::Table {
                name: "t".into(),
                files: vec![],
                columns: vec![],
                fields: None,
                dialect: caudal_csv::Dialect::default(),
            },
            options: Options::default(),
            threads: 1,
        };
        table.file(content)
    }

    /// Adds a file.
    pub fn file(mut self, content: impl AsRef<[u8]>) -> Table {
        let path = self.path(self.spec.files.len());
        fs::write(&path, content).unwrap();
        self.spec.files.push(path);
        self
    }

    pub fn path(&self, file: usize) -> PathBuf {
        self.dir.path().join(format!("{file}.csv"))
    }

    /// Adds a column by the name in the header.
    pub fn column(mut self, name: &str, ty: Type) -> Table {
        self.spec.columns.push(Column { name: name.into(), at: At::Header(name.into()), ty });
        self
    }

    /// Adds a column by its index.
    pub fn column_at(mut self, index: usize, ty: Type) -> Table {
        self.spec.columns.push(Column { name: format!("c{index}"), at: At::Index(index), ty });
        self
    }

    pub fn options(mut self, options: Options) -> Table {
        self.options = options;
        self
    }

    pub fn open(&self) -> Result<Reader, Error> {
        let projection = (0..self.spec.columns.len()).collect();
        Reader::open(self.spec.clone(), projection, self.options.clone())
    }

    pub fn read(&self) -> Content {
        self.try_read().unwrap()
    }

    pub fn try_read(&self) -> Result<Content, Error> {
        read_all(&self.open()?, self.threads).map(content)
    }
}

/// All chunks, parsed on some threads, in order.
pub fn read_all(reader: &Reader, threads: usize) -> Result<Vec<Parsed>, Error> {
    let work = || {
        let mut parsed = Vec::new();
        while let Some(chunk) = reader.next_chunk()? {
            parsed.push(reader.parse(chunk)?);
        }
        Ok(parsed)
    };
    let mut all = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let parts: Vec<Result<Vec<Parsed>, Error>> =
            workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        parts.into_iter().collect::<Result<Vec<_>, _>>()
    })?
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    all.sort_by_key(|parsed| parsed.number);
    assert!(all.iter().enumerate().all(|(i, parsed)| parsed.number == i as u64));
    Ok(all)
}

fn content(parsed: Vec<Parsed>) -> Content {
    Content {
        rows: parsed.iter().flat_map(|parsed| rows(&parsed.batch)).collect(),
        consumed_bytes: parsed.iter().map(|parsed| parsed.bytes).sum(),
        rejects: parsed.into_iter().flat_map(|parsed| parsed.rejects).collect(),
    }
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let format = FormatOptions::default();
    let columns: Vec<_> =
        batch.columns().iter().map(|c| (c, ArrayFormatter::try_new(c, &format).unwrap())).collect();
    let row =
        |i| columns.iter().map(|(c, f)| c.is_valid(i).then(|| f.value(i).to_string())).collect();
    (0..batch.num_rows()).map(row).collect()
}

/// `Some` for text, `None` for the empty one.
pub fn row<const N: usize>(values: [&str; N]) -> Row {
    values.iter().map(|value| (!value.is_empty()).then(|| value.to_string())).collect()
}
