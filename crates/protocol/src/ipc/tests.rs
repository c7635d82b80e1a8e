//! Tests of rows as IPC.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use caudal_core::limits;

use super::*;

fn batch() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|_| "same")));
    RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap()
}

fn with_dictionary() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
    let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
    let columns: [(&str, ArrayRef); 2] = [("n", numbers), ("w", Arc::new(words))];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn a_stream_is_its_messages_and_they_are_a_stream_again() {
    for batch in [batch(), with_dictionary()] {
        let stream = encode_batches(std::slice::from_ref(&batch)).unwrap();
        let apart = messages(&stream).unwrap();
        let (dictionaries, rows) = encode_batch(&batch).unwrap();
        let one_by_one: Vec<_> = [encode_schema(&batch.schema())]
            .into_iter()
            .chain(dictionaries)
            .chain([rows])
            .collect();
        assert_eq!(apart.len(), one_by_one.len());
        for messages in [apart, one_by_one] {
            let again: Bytes = stream_of(messages.clone()).concat().into();
            assert_eq!(one_batch(again).unwrap(), batch);
            let mut decoder = Decoder::default();
            let rows: Vec<_> =
                messages.iter().filter_map(|message| decoder.decode(message).unwrap()).collect();
            assert_eq!(rows, std::slice::from_ref(&batch));
        }
    }
}

#[test]
fn rows_before_their_schema_are_refused() {
    let (_, rows) = encode_batch(&batch()).unwrap();
    assert!(Decoder::default().decode(&rows).is_err());
}

#[test]
fn damaged_messages_are_refused_or_read_but_do_not_panic() {
    let schema = encode_schema(&batch().schema());
    let (_, whole) = encode_batch(&batch()).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let mut refused = 0;
    for _ in 0..3000 {
        let (mut metadata, mut body) = (whole.metadata.to_vec(), whole.body.to_vec());
        let damaged = if random.bool() { &mut metadata } else { &mut body };
        let at = random.usize(..damaged.len());
        damaged[at] = random.u8(..);
        let mut decoder = Decoder::default();
        decoder.decode(&schema).unwrap();
        let damaged = IpcMessage { metadata: metadata.into(), body: body.into() };
        refused += u32::from(decoder.decode(&damaged).is_err());
    }
    assert!(refused > 500, "only {refused}");
}

#[test]
fn a_buffer_that_claims_too_much_memory_is_refused_before_it_is_allocated() {
    let honest = encode_batches(&[batch()]).unwrap();
    let claim = (8000_i64).to_le_bytes();
    let at = honest.windows(8).position(|bytes| bytes == claim).unwrap();
    let mut lying = honest.to_vec();
    lying[at..at + 8].copy_from_slice(&(1_i64 << 60).to_le_bytes());
    assert!(matches!(decode_batches(lying.into()), Err(Error::TooLarge { .. })));
}

#[test]
fn a_buffer_that_unpacks_to_far_more_than_it_says_is_refused_before_it_is_unpacked() {
    let bytes = limits::BATCH_MEMORY_BYTES_MAX + (16 << 20);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(bytes)]));
    let batch = RecordBatch::try_from_iter([("t", text)]).unwrap();
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut writer = StreamWriter::try_new_with_options(vec![], &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    let mut lying = writer.into_inner().unwrap();
    // Not the same number among the offsets: what precedes a frame.
    let frame = 0x184D_2204_u32.to_le_bytes();
    let claim = [&(bytes as i64).to_le_bytes()[..], &frame].concat();
    let at = lying.windows(claim.len()).position(|bytes| bytes == claim).unwrap();
    lying[at..at + 8].copy_from_slice(&4096_i64.to_le_bytes());
    assert!(matches!(decode_batches(lying.into()), Err(Error::TooLarge { .. })));
}

#[test]
fn memory_is_known_before_it_is_taken() {
    let batch = batch();
    let rows: usize =
        batch.columns().iter().map(|c| c.to_data().get_slice_memory_size().unwrap()).sum();
    let compressed = encode_batches(std::slice::from_ref(&batch)).unwrap();
    let mut plain = StreamWriter::try_new(vec![], &batch.schema()).unwrap();
    plain.write(&batch).unwrap();
    let plain: Bytes = plain.into_inner().unwrap().into();
    assert!(compressed.len() < plain.len() * 3 / 4, "{} and {}", compressed.len(), plain.len());
    for stream in [compressed, plain] {
        let told = shape(&stream).unwrap().memory_bytes as usize;
        assert!((rows..rows + 1000).contains(&told), "{told} for {rows}");
    }
}

#[test]
fn damaged_rows_are_refused_or_read_but_do_not_panic() {
    let whole = encode_batches(&[batch()]).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut damaged = whole.to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..damaged.len());
            damaged[at] = random.u8(..);
        }
        refused += u32::from(decode_batches(damaged.into()).is_err());
    }
    assert!(refused > 1000, "only {refused}");
}
