//! A chunk into a batch: the rows that fit, and a report of each that does not.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use memchr::memchr_iter;
use simdutf8::basic::from_utf8;

use crate::chunk::Chunk;
use crate::columns::{ColumnBuilder, Misfit, Misfits, Rows};
use crate::dialect::Dialect;
use crate::field::without_cr;
use crate::index::{Index, Stretch, Unfinished};
use crate::reject::{Reject, RejectReason};
use crate::spec::{Column, Options, Type};

/// Content of a chunk.
#[derive(Debug)]
pub struct Parsed {
    /// The chunk's number.
    pub number: u64,
    pub batch: RecordBatch,
    /// Bytes of the file that were read for it. Over all chunks that is the table's
    /// [`total_bytes`](crate::Reader::total_bytes), less the files that have nothing but a header.
    pub bytes: usize,
    /// In the order of the file.
    pub rejects: Vec<Reject>,
}

/// Columns that a batch is made of.
pub struct Wanted<'a> {
    /// Those that are parsed.
    pub columns: &'a [Column],
    /// Which of them are in the batch, if not all.
    pub picked: Option<&'a [usize]>,
    /// Those in the batch, and the position if any.
    pub schema: &'a SchemaRef,
}

/// Parses the chunk into the wanted columns.
pub fn parse(chunk: Chunk, wanted: &Wanted<'_>, dialect: &Dialect, options: &Options) -> Parsed {
    let Wanted { columns, picked, schema } = *wanted;
    let mut parser = Parser::new(&chunk, columns, dialect);
    let mut index = Index::new(&chunk.bytes, dialect.syntax());
    while let Some(stretch) = index.next_stretch() {
        parser.add(stretch);
    }
    if let Some(unfinished) = index.unfinished() {
        parser.add_unfinished(unfinished);
    }
    let Parser { builders, rows, mut unfit, .. } = parser;
    unfit.sort_by_key(|unfit| unfit.begin);

    let mut arrays: Vec<ArrayRef> =
        builders.into_iter().map(|builder| builder.finish(&chunk.bytes)).collect();
    if let Some(picked) = picked {
        arrays = picked.iter().map(|column| arrays[*column].clone()).collect();
    }
    if options.position.is_some() {
        arrays.push(positions(chunk.number, rows));
    }
    let batch = RecordBatch::try_new_with_options(
        schema.clone(),
        arrays,
        &RecordBatchOptions::new().with_row_count(Some(rows)),
    )
    .expect("the schema was made from the same columns, and each has a value a row");
    Parsed {
        number: chunk.number,
        batch: without_unfit(batch, &unfit),
        bytes: chunk.consumed_bytes,
        rejects: rejects(unfit, &chunk, columns, options.keep_raw_rejects),
    }
}

struct Parser<'a> {
    chunk: &'a Chunk,
    dialect: &'a Dialect,
    has_text: bool,
    builders: Vec<ColumnBuilder>,
    /// Rows in the builders.
    rows: usize,
    /// Every record so far that does not fit.
    unfit: Vec<Unfit>,
    /// Scratch for one stretch: the records with the right number of fields, and the values among them
    /// that do not fit.
    records: Vec<u32>,
    misfits: Vec<Misfit>,
}

/// A record that does not fit.
struct Unfit {
    begin: usize,
    /// After its newline.
    end: usize,
    /// Its row in the builders, if it has one.
    row: Option<usize>,
    column: Option<usize>,
    reason: RejectReason,
}

impl<'a> Parser<'a> {
    fn new(chunk: &'a Chunk, columns: &[Column], dialect: &'a Dialect) -> Parser<'a> {
        let builder = |(place, column): (&usize, &Column)| ColumnBuilder::new(*place, column.ty);
        Parser {
            chunk,
            dialect,
            has_text: columns.iter().any(|column| column.ty == Type::Text),
            builders: chunk.layout.places.iter().zip(columns).map(builder).collect(),
            rows: 0,
            unfit: Vec::new(),
            records: Vec::new(),
            misfits: Vec::new(),
        }
    }

    fn add(&mut self, stretch: Stretch<'_>) {
        self.take_records(stretch);
        self.reserve(stretch);
        let rows = Rows {
            stretch,
            records: &self.records,
            fields: self.chunk.layout.fields,
            formats: &self.dialect.formats,
            is_utf8: self.has_text
                && stretch.syntax.keeps_utf8()
                && from_utf8(stretch.span()).is_ok(),
        };
        for (column, builder) in self.builders.iter_mut().enumerate() {
            builder.extend(&rows, &mut Misfits { column, found: &mut self.misfits });
        }
        self.take_misfits(stretch);
        self.rows += self.records.len();
    }

    /// Takes the records that have as many fields as they should.
    fn take_records(&mut self, stretch: Stretch<'_>) {
        let expected = self.chunk.layout.fields;
        self.records.clear();
        self.records.reserve(stretch.len());
        for (first, fields) in stretch.records() {
            if stretch.is_blank(first, fields) {
                continue;
            }
            if fields == expected {
                self.records.push(first);
                continue;
            }
            self.unfit.push(Unfit {
                begin: stretch.starts[first as usize] as usize,
                end: stretch.starts[first as usize + fields] as usize,
                row: None,
                column: None,
                reason: RejectReason::FieldCount { expected, found: fields },
            });
        }
    }

    /// Makes room for the whole chunk, judging by its first stretch.
    fn reserve(&mut self, first: Stretch<'_>) {
        if self.rows == 0 {
            let stretches = self.chunk.bytes.len() as f64 / first.span().len() as f64;
            let rows = (self.records.len() as f64 * stretches * 1.05) as usize;
            self.builders.iter_mut().for_each(|builder| builder.reserve(rows));
        }
    }

    /// Notes the values that did not fit, one a record: that of the first column.
    fn take_misfits(&mut self, stretch: Stretch<'_>) {
        self.misfits.sort_by_key(|misfit| (misfit.row, misfit.column));
        self.misfits.dedup_by_key(|misfit| misfit.row);
        for misfit in self.misfits.drain(..) {
            let first = self.records[misfit.row] as usize;
            self.unfit.push(Unfit {
                begin: stretch.starts[first] as usize,
                end: stretch.starts[first + self.chunk.layout.fields] as usize,
                row: Some(self.rows + misfit.row),
                column: Some(misfit.column),
                reason: misfit.reason,
            });
        }
    }

    fn add_unfinished(&mut self, unfinished: Unfinished) {
        let Unfinished { record_at, field_at, is_quoted } = unfinished;
        let opened_line = self.chunk.first_line + newlines(&self.chunk.bytes[..field_at]);
        self.unfit.push(Unfit {
            begin: record_at,
            end: self.chunk.bytes.len(),
            row: None,
            column: None,
            reason: match is_quoted {
                true => RejectReason::UnclosedQuote { opened_line },
                false => RejectReason::DanglingEscape,
            },
        });
    }
}

/// Counts the rows that have the right number of fields, fitting or not, so that a row's position does
/// not depend on which columns are read.
fn positions(chunk_number: u64, rows: usize) -> ArrayRef {
    let first = chunk_number << 32;
    Arc::new(UInt64Array::from_iter_values(first..first + rows as u64))
}

fn without_unfit(batch: RecordBatch, unfit: &[Unfit]) -> RecordBatch {
    if unfit.iter().all(|unfit| unfit.row.is_none()) {
        return batch;
    }
    let mut fits = vec![true; batch.num_rows()];
    for row in unfit.iter().filter_map(|unfit| unfit.row) {
        fits[row] = false;
    }
    let fits = BooleanArray::new(BooleanBuffer::from(fits), None);
    filter_record_batch(&batch, &fits).expect("the filter is as long as the batch")
}

/// `unfit` in the order of the file, so that lines are counted in one pass.
fn rejects(unfit: Vec<Unfit>, chunk: &Chunk, columns: &[Column], keep_raw: bool) -> Vec<Reject> {
    let mut line = chunk.first_line;
    let mut counted_bytes = 0;
    let reject = |unfit: Unfit| {
        line += newlines(&chunk.bytes[counted_bytes..unfit.begin]);
        counted_bytes = unfit.begin;
        Reject {
            file: chunk.layout.path.clone(),
            line,
            column: unfit.column.map(|column| columns[column].name.clone()),
            reason: unfit.reason,
            raw: keep_raw.then(|| without_newline(&chunk.bytes[unfit.begin..unfit.end]).to_vec()),
        }
    };
    unfit.into_iter().map(reject).collect()
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

fn without_newline(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\n").map_or(record, without_cr)
}
