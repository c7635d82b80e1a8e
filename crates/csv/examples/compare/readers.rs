//! The readers, each used as its documentation says is fast.

use std::error::Error;
use std::fs::File;
use std::sync::Arc;

use arrow::csv::ReaderBuilder;
use arrow::datatypes::{DataType, Field, Schema};
use caudal_csv::{At, Column, Options, Reader, Table};
use simd_csv::ZeroCopyReader;

use crate::build::Batches;
use crate::files::Work;
use crate::sum::Sum;

pub type Read = fn(&Work) -> Result<Sum, Box<dyn Error>>;

/// Ours first: the others are compared with it.
pub const READERS: [(&str, Read); 4] =
    [("caudal-csv", ours), ("arrow-csv", arrow), ("csv", csv_crate), ("simd-csv", simd)];

const BUFFER_BYTES: usize = 1 << 20;

fn ours(work: &Work) -> Result<Sum, Box<dyn Error>> {
    let column = |&(at, ty)| Column { name: format!("c{at}"), at: At::Index(at), ty };
    let columns: Vec<Column> = work.columns.iter().map(column).collect();
    let projection = (0..columns.len()).collect();
    let spec = Table {
        name: "t".into(),
        files: vec![work.path.clone()],
        columns,
        fields: None,
        dialect: caudal_csv::Dialect::default(),
    };
    let reader = Reader::open(spec, projection, Options::default())?;
    let mut sum = Sum::default();
    while let Some(chunk) = reader.next_chunk()? {
        let parsed = reader.parse(chunk)?;
        sum.add(parsed.batch.num_rows(), parsed.batch.columns());
    }
    Ok(sum)
}

fn arrow(work: &Work) -> Result<Sum, Box<dyn Error>> {
    let field = |(at, name): (usize, &String)| {
        let wanted = work.columns.iter().find(|(place, _)| *place == at);
        Field::new(name, wanted.map_or(DataType::Utf8View, |(_, ty)| ty.data_type()), true)
    };
    let fields: Vec<Field> = work.header.iter().enumerate().map(field).collect();
    let reader = ReaderBuilder::new(Arc::new(Schema::new(fields)))
        .with_header(true)
        .with_batch_size(8192)
        .with_projection(work.columns.iter().map(|(at, _)| *at).collect());
    let file = std::io::BufReader::with_capacity(BUFFER_BYTES, File::open(&work.path)?);
    let mut sum = Sum::default();
    for batch in reader.build_buffered(file)? {
        let batch = batch?;
        sum.add(batch.num_rows(), batch.columns());
    }
    Ok(sum)
}

fn csv_crate(work: &Work) -> Result<Sum, Box<dyn Error>> {
    let mut reader =
        csv::ReaderBuilder::new().buffer_capacity(BUFFER_BYTES).from_path(&work.path)?;
    let mut batches = Batches::new(work.columns.iter().map(|(_, ty)| *ty));
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        batches.push(work.columns.iter().map(|(at, _)| &record[*at]))?;
    }
    Ok(batches.finish())
}

fn simd(work: &Work) -> Result<Sum, Box<dyn Error>> {
    let mut builder = simd_csv::ZeroCopyReaderBuilder::with_capacity(BUFFER_BYTES);
    let mut reader: ZeroCopyReader<File> =
        builder.has_headers(true).from_reader(File::open(&work.path)?);
    let mut batches = Batches::new(work.columns.iter().map(|(_, ty)| *ty));
    while let Some(record) = reader.read_byte_record()? {
        let fields = work.columns.iter().map(|(at, _)| record.unescape(*at).unwrap_or_default());
        batches.push(fields)?;
    }
    Ok(batches.finish())
}
