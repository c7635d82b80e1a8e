//! A piece into a batch: the rows that fit, and a report of each that does not.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::datatypes::{FieldRef, Fields, SchemaRef};
use arrow::error::ArrowError;

use super::builder::{Builder, Misfit, take_object};
use super::cursor::Cursor;
use super::cutter::Piece;
use super::records::{Record, Records};
use super::untaken::{AllUntaken, Names, Untaken};
use crate::convert::converted;
use crate::reject::{Reject, RejectReason};
use crate::source::Parsed;

/// What is needed of a file's records.
#[derive(Debug)]
pub struct Needed {
    pub path: Arc<Path>,
    /// The needed columns under their names in the file, as they are parsed: not quite as the table has them.
    pub fields: Fields,
    /// Of all columns of the table, which of them are needed.
    pub names: Arc<Names>,
    /// The columns of the table, and the position if there is one.
    pub schema: SchemaRef,
    /// Which of the columns are handed on, if not all: a row is judged by them all.
    pub picked: Option<Vec<usize>>,
    pub keep_raw: bool,
    /// Names that are no columns, of the whole table.
    pub untaken: Arc<AllUntaken>,
}

pub fn parse(
    piece: &Piece,
    needs: &Needed,
    chunk: u64,
    bytes: usize,
) -> Result<Parsed, ArrowError> {
    let mut rows = Rows::new(needs);
    let is_utf8 = simdutf8::basic::from_utf8(&piece.bytes).is_ok();
    let mut records = Records::of_whole(&piece.bytes, piece.first_line, piece.layout);
    // What is wrong between records has ended the read already.
    while let Ok(Some(record)) = records.next() {
        rows.take(record, is_utf8);
    }
    rows.finish(chunk, bytes)
}

struct Rows<'a> {
    needs: &'a Needed,
    columns: Vec<Builder>,
    /// Of each row that fits, its place among all.
    places: Vec<u64>,
    seen: u64,
    rejects: Vec<Reject>,
    untaken: Untaken,
}

impl<'a> Rows<'a> {
    fn new(needs: &'a Needed) -> Rows<'a> {
        let column = |field: &FieldRef| Builder::new(field.name(), field.data_type());
        let columns = needs.fields.iter().map(column).collect();
        let untaken = Untaken::default();
        Rows { needs, columns, places: vec![], seen: 0, rejects: vec![], untaken }
    }

    fn take(&mut self, record: Record<'_>, is_utf8: bool) {
        let taken = match is_utf8 || simdutf8::basic::from_utf8(record.bytes).is_ok() {
            true => self.take_object(record),
            false => Err(Misfit::Wrong("it is not valid UTF-8")),
        };
        self.untaken.end_row(record.line, taken.is_ok());
        match taken {
            Ok(()) => self.places.push(self.seen),
            Err(misfit) => self.reject(record, misfit),
        }
        self.seen += 1;
    }

    fn take_object(&mut self, record: Record<'_>) -> Result<(), Misfit> {
        let mut cursor = Cursor::new(record.bytes);
        if cursor.peek() != Some(b'{') {
            return Err(Misfit::Wrong("it does not begin with a brace"));
        }
        let Rows { needs, columns, places, untaken, .. } = self;
        take_object(&mut cursor, &needs.names, columns, places.len(), untaken)?;
        match cursor.peek() {
            None => Ok(()),
            Some(_) => Err(Misfit::Wrong("more comes after its end")),
        }
    }

    fn reject(&mut self, record: Record<'_>, misfit: Misfit) {
        let rows = self.places.len();
        let (column, reason) = match misfit {
            Misfit::Wrong(wrong) => (None, RejectReason::NotAnObject(wrong)),
            Misfit::NotOfType { ty, value, column } => {
                let name = self.needs.schema.field(column).name().clone();
                (Some(name), RejectReason::not_of_type(ty, &value))
            }
        };
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.rejects.push(Reject {
            file: Arc::clone(&self.needs.path),
            line: record.line,
            column,
            reason,
            raw: self.needs.keep_raw.then(|| record.bytes.to_vec()),
        });
    }

    fn finish(self, chunk: u64, bytes: usize) -> Result<Parsed, ArrowError> {
        self.needs.untaken.add(chunk, &self.needs.path, self.untaken);
        let schema = &self.needs.schema;
        let rows = self.places.len();
        let mut arrays: Vec<ArrayRef> = vec![];
        for (field, column) in schema.fields().iter().zip(self.columns) {
            arrays.push(converted(&column.finish()?, field.data_type())?);
        }
        if schema.fields().len() > arrays.len() {
            let place = self.places.iter().map(|place| chunk << 32 | place);
            arrays.push(Arc::new(UInt64Array::from_iter_values(place)));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let mut batch = RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?;
        if let Some(picked) = &self.needs.picked {
            let position = self.needs.fields.len()..batch.num_columns();
            let places: Vec<usize> = picked.iter().copied().chain(position).collect();
            batch = batch.project(&places)?;
        }
        Ok(Parsed { batch, bytes, rejects: self.rejects })
    }
}
