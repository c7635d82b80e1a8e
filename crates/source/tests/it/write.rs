//! Batches as files.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

/// In every format that holds every type, and so many rows together at most.
pub fn all(batch: &RecordBatch, rows: usize) -> HashMap<String, Vec<u8>> {
    let mut all = HashMap::from([
        ("arrow file".to_string(), ipc_file(batch, rows)),
        ("arrow stream".to_string(), ipc_stream(batch, rows)),
    ]);
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        all.insert(format!("arrow stream, {compression:?}"), stream_with(batch, rows, options));
    }
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        let properties = WriterProperties::builder().set_compression(compression);
        all.insert(
            format!("parquet, {compression:?}"),
            parquet_with(batch, rows, properties.build()),
        );
    }
    let plain = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_writer_version(WriterVersion::PARQUET_2_0);
    all.insert("parquet 2".to_string(), parquet_with(batch, rows, plain.build()));
    all
}

fn parts(batch: &RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> {
    (0..batch.num_rows())
        .step_by(rows)
        .map(move |at| batch.slice(at, rows.min(batch.num_rows() - at)))
}

pub fn parquet(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    parquet_with(batch, rows, WriterProperties::default())
}

pub fn parquet_with(batch: &RecordBatch, rows: usize, properties: WriterProperties) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(vec![], batch.schema(), Some(properties)).unwrap();
    for part in parts(batch, rows) {
        writer.write(&part).unwrap();
        writer.flush().unwrap();
    }
    writer.into_inner().unwrap()
}

pub fn ipc_file(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut writer = FileWriter::try_new(vec![], &batch.schema()).unwrap();
    parts(batch, rows).for_each(|part| writer.write(&part).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub fn ipc_stream(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    stream_with(batch, rows, IpcWriteOptions::default())
}

fn stream_with(batch: &RecordBatch, rows: usize, options: IpcWriteOptions) -> Vec<u8> {
    let mut writer = StreamWriter::try_new_with_options(vec![], &batch.schema(), options).unwrap();
    parts(batch, rows).for_each(|part| writer.write(&part).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// As an object a line; nulls are left out.
pub fn json_lines(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow::json::LineDelimitedWriter::new(vec![]);
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner()
}
