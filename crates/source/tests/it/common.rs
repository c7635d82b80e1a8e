//! Files in a folder of their own, and all that is read of them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, thread};

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use caudal_source::{Codec, Error, Options, Parsed, Reject, Table, TableSource};
use tempfile::TempDir;

/// A row's values as text; `None` is NULL.
pub type Row = Vec<Option<String>>;

pub const CODECS: [Codec; 5] = [Codec::Gzip, Codec::Zstd, Codec::Bzip2, Codec::Xz, Codec::Lz4];

pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

/// Content of a table, in the order of its chunks.
#[derive(Debug)]
pub struct Content {
    pub batch: RecordBatch,
    pub rejects: Vec<Reject>,
    pub bytes: usize,
    pub chunks: Vec<u64>,
}

impl Content {
    pub fn rows(&self) -> Vec<Row> {
        rows(&self.batch)
    }

    pub fn reject_lines(&self) -> Vec<String> {
        let file = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let line = |reject: &Reject| {
            let column = reject.column.as_deref().unwrap_or("-");
            format!("{}:{} {column}: {}", file(&reject.file), reject.line, reject.reason)
        };
        self.rejects.iter().map(line).collect()
    }
}

pub fn rows(batch: &RecordBatch) -> Vec<Row> {
    let options = FormatOptions::default();
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| (column, ArrayFormatter::try_new(column, &options).unwrap()))
        .collect();
    let value = |(column, format): &(&Arc<dyn arrow::array::Array>, ArrayFormatter<'_>), row| {
        column.is_valid(row).then(|| format.value(row).to_string())
    };
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| value(column, row)).collect())
        .collect()
}

pub fn small_chunks() -> Options {
    Options { chunk_bytes: 1 << 12, ..Options::default() }
}

pub fn guessed(files: &[PathBuf]) -> Result<Table, Error> {
    Table::guessed("t", files)
}

/// All columns of a table, read by two threads.
pub fn read(table: &Table, options: Options) -> Result<Content, Error> {
    let needed = (0..table.schema().fields().len()).collect();
    read_source(table.open(needed, options)?.as_ref())
}

pub fn read_files(files: &[PathBuf]) -> Result<Content, Error> {
    read(&guessed(files)?, small_chunks())
}

pub fn read_source(source: &dyn TableSource) -> Result<Content, Error> {
    let work = || {
        let mut chunks = vec![];
        while let Some(chunk) = source.next_chunk()? {
            chunks.push((chunk.number(), chunk.parse()?));
        }
        Ok::<_, Error>(chunks)
    };
    let parts: Vec<Result<Vec<(u64, Parsed)>, Error>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all = BTreeMap::new();
    for part in parts {
        for (number, parsed) in part? {
            assert!(all.insert(number, parsed).is_none(), "two chunks {number}");
        }
    }
    let schema = source.schema();
    let batches: Vec<_> = all.values().map(|parsed| parsed.batch.clone()).collect();
    for batch in &batches {
        assert_eq!(batch.schema(), schema);
    }
    let chunks = all.keys().copied().collect();
    let bytes = all.values().map(|parsed| parsed.bytes).sum();
    let rejects = all.into_values().flat_map(|parsed| parsed.rejects).collect();
    Ok(Content { batch: concat_batches(&schema, &batches).unwrap(), rejects, bytes, chunks })
}

pub fn compress(codec: Codec, content: &[u8]) -> Vec<u8> {
    match codec {
        Codec::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::new(6));
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Zstd => {
            // As the command zstd does: with a checksum.
            let mut encoder = zstd::Encoder::new(vec![], 3).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::new(6));
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Xz => {
            let options = lzma_rust2::XzOptions::default();
            let mut encoder = lzma_rust2::XzWriter::new(vec![], options).unwrap();
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Lz4 => {
            // As the command lz4 does: a checksum of it all.
            let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
            let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, vec![]);
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
    }
}

/// So many rows of CSV, with quotes and newlines in them.
pub fn csv(rows: usize) -> String {
    let row =
        |n: usize| format!("{n},\"text, {}\n{}\",{}\n", n * 7, "x".repeat(n % 50), n as f64 / 4.0);
    std::iter::once("id,text,price\n".to_string()).chain((0..rows).map(row)).collect()
}
