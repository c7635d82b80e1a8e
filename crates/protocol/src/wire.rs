//! Messages as bytes: the bodies of a broker's messages and of a journal's records.
//!
//! ```text
//! "CDL1" | length of the header, u32 LE | header, JSON | the header's batches: Arrow IPC streams
//! ```
//!
//! Rows travel as Arrow IPC streams, compressed with LZ4, each with its schema: who has a message
//! can read it. Nothing that comes in is trusted: lengths are checked before anything is allocated.

mod shape;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use bytes::Bytes;
use caudal_core::{FragmentId, Part, QueryId, Source, StageId, TableId, limits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::encoding::{self, Encodings};
use crate::message::{Failure, FragmentPart, Message, Section, TableFragment};
use crate::size::rows_bytes;

pub use self::shape::{Shape, shape};

const MAGIC: &[u8; 4] = b"CDL1";
const PREFIX_BYTES: usize = 8;

#[derive(Debug, Error)]
pub enum Error {
    #[error("it does not begin like a message of this version")]
    NotOurs,
    #[error("it ends before its header says it should")]
    Truncated,
    #[error("its header is not what it should be: {0}")]
    Header(#[from] serde_json::Error),
    #[error("its rows are not Arrow: {0}")]
    Arrow(#[from] ArrowError),
    #[error("fragment {number} of table {table}: {error}")]
    Fragment { table: TableId, number: u32, error: Box<Error> },
    #[error("its rows would take {bytes} bytes of memory; {bytes_max} are the most")]
    TooLarge { bytes: u64, bytes_max: u64 },
}

/// The header of a message, before its rows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Header {
    Table {
        table: TableId,
        number: u32,
        rows_bytes: u64,
        #[serde(default, rename = "narrow", skip_serializing_if = "Encodings::is_empty")]
        encodings: Encodings,
    },
    Part {
        id: FragmentId,
        part: Part,
        end: Option<u32>,
        sections: Vec<SectionHeader>,
    },
    End {
        source: Source,
        count: u32,
    },
    Baton,
    Failed {
        query: QueryId,
        failure: Failure,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct SectionHeader {
    stage: StageId,
    rows_bytes: u64,
}

pub fn encode(message: &Message) -> Result<Bytes, Error> {
    match message {
        Message::Table(TableFragment { table, number, batch }) => {
            let rows = encode_batches(std::slice::from_ref(batch))?;
            encode_table(*table, *number, &Encodings::default(), &[rows])
        }
        Message::Part(FragmentPart { id, part, end, sections }) => {
            let (sections, rows) = encode_sections(sections)?;
            frame(&Header::Part { id: *id, part: *part, end: *end, sections }, &rows)
        }
        Message::End { source, count } => {
            frame(&Header::End { source: *source, count: *count }, &[])
        }
        Message::Baton => frame(&Header::Baton, &[]),
        Message::Failed { query, failure } => {
            frame(&Header::Failed { query: *query, failure: failure.clone() }, &[])
        }
    }
}

pub fn decode(body: Bytes) -> Result<Message, Error> {
    let (header, mut rest) = unframe(body)?;
    Ok(match header {
        Header::Table { table, number, rows_bytes, encodings } => {
            let batch = take(&mut rest, rows_bytes).and_then(|rows| decoded(rows, &encodings));
            let of_fragment = |error| Error::Fragment { table, number, error: Box::new(error) };
            Message::Table(TableFragment { table, number, batch: batch.map_err(of_fragment)? })
        }
        Header::Part { id, part, end, sections } => {
            let sections = decode_sections(sections, &mut rest)?;
            Message::Part(FragmentPart { id, part, end, sections })
        }
        Header::End { source, count } => Message::End { source, count },
        Header::Baton => Message::Baton,
        Header::Failed { query, failure } => Message::Failed { query, failure },
    })
}

/// A fragment whose rows are an IPC stream already, with these encodings, in some pieces.
pub fn encode_table(
    table: TableId,
    number: u32,
    encodings: &Encodings,
    rows: &[Bytes],
) -> Result<Bytes, Error> {
    let rows_bytes = rows.iter().map(|piece| piece.len() as u64).sum();
    frame(&Header::Table { table, number, rows_bytes, encodings: encodings.clone() }, rows)
}

fn decoded(rows: Bytes, encodings: &Encodings) -> Result<RecordBatch, Error> {
    check_memory(shape(&rows)?.decoded_bytes(encodings))?;
    Ok(encoding::decode(one_batch(rows)?, encodings)?)
}

fn encode_sections(sections: &[Section]) -> Result<(Vec<SectionHeader>, Vec<Bytes>), Error> {
    let rows: Vec<_> = sections
        .iter()
        .map(|section| encode_batches(&section.batches))
        .collect::<Result<_, _>>()?;
    let headers = sections.iter().zip(&rows).map(|(section, rows)| SectionHeader {
        stage: section.stage,
        rows_bytes: rows.len() as u64,
    });
    Ok((headers.collect(), rows))
}

fn decode_sections(sections: Vec<SectionHeader>, rest: &mut Bytes) -> Result<Vec<Section>, Error> {
    let mut decoded = vec![];
    for SectionHeader { stage, rows_bytes } in sections {
        decoded.push(Section { stage, batches: decode_batches(take(rest, rows_bytes)?)? });
    }
    Ok(decoded)
}

/// Puts a header before some bodies.
pub fn frame(header: &impl Serialize, bodies: &[Bytes]) -> Result<Bytes, Error> {
    let header = serde_json::to_vec(header)?;
    let bodies_bytes: usize = bodies.iter().map(Bytes::len).sum();
    let mut framed = Vec::with_capacity(PREFIX_BYTES + header.len() + bodies_bytes);
    framed.extend_from_slice(MAGIC);
    let length = u32::try_from(header.len()).expect("headers are far below 4 GiB");
    framed.extend_from_slice(&length.to_le_bytes());
    framed.extend_from_slice(&header);
    for body in bodies {
        framed.extend_from_slice(body);
    }
    Ok(framed.into())
}

/// The header, and what follows it.
pub fn unframe<H: DeserializeOwned>(mut framed: Bytes) -> Result<(H, Bytes), Error> {
    if framed.get(..MAGIC.len()) != Some(MAGIC) {
        return Err(Error::NotOurs);
    }
    let length = framed.get(MAGIC.len()..PREFIX_BYTES).ok_or(Error::Truncated)?;
    let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
    let mut rest = framed.split_off(PREFIX_BYTES);
    let header = take(&mut rest, u64::from(length))?;
    Ok((serde_json::from_slice(&header)?, rest))
}

/// Splits the next `bytes` off.
pub fn take(rest: &mut Bytes, bytes: u64) -> Result<Bytes, Error> {
    let bytes = usize::try_from(bytes).map_err(|_| Error::Truncated)?;
    if bytes > rest.len() {
        return Err(Error::Truncated);
    }
    Ok(rest.split_to(bytes))
}

/// Batches of one schema as an IPC stream; nothing at all where there is no batch.
pub fn encode_batches(batches: &[RecordBatch]) -> Result<Bytes, Error> {
    let Some(first) = batches.first() else { return Ok(Bytes::new()) };
    // Nobody would decode it.
    check_memory(batches.iter().map(|batch| rows_bytes(batch) as u64).sum())?;
    let options =
        IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = StreamWriter::try_new_with_options(vec![], &first.schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?.into())
}

pub fn decode_batches(stream: Bytes) -> Result<Vec<RecordBatch>, Error> {
    check_memory(shape(&stream)?.memory_bytes)?;
    guarded(|| {
        let mut decoder = StreamDecoder::new();
        let mut buffer = Buffer::from(stream);
        let mut batches = vec![];
        while !buffer.is_empty() {
            batches.extend(decoder.decode(&mut buffer)?);
        }
        decoder.finish()?;
        Ok(batches)
    })
}

fn check_memory(bytes: u64) -> Result<(), Error> {
    let bytes_max = limits::BATCH_MEMORY_BYTES_MAX as u64;
    if bytes > bytes_max { Err(Error::TooLarge { bytes, bytes_max }) } else { Ok(()) }
}

/// Decodes what a stranger sent. Arrow panics on some of what it cannot read (a buffer beyond the
/// body, a type of no width): the stranger's mistake, not the end of this process.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Error> {
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    let panicked = |_| ArrowError::IpcError("it is damaged in a way Arrow does not check".into());
    Ok(decoded.map_err(panicked)??)
}

/// The only batch of a stream.
pub fn one_batch(stream: Bytes) -> Result<RecordBatch, Error> {
    let mut batches = decode_batches(stream)?;
    match batches.len() {
        1 => Ok(batches.remove(0)),
        count => Err(ArrowError::IpcError(format!("{count} batches instead of one")).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray, StringViewBuilder};

    use super::*;
    use caudal_core::{Attempt, ShardId};

    pub(super) fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|_| "same")));
        RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap()
    }

    fn messages() -> Vec<Message> {
        let source = Source::Shard { stage: StageId(3), shard: ShardId(1) };
        let section = |batches| Section { stage: StageId(3), batches };
        vec![
            Message::Table(TableFragment { table: TableId(1), number: 7, batch: batch() }),
            Message::Part(FragmentPart {
                id: FragmentId { source, number: 2 },
                part: Part { attempt: Attempt(u64::MAX), index: 0, count: 2 },
                end: Some(3),
                sections: vec![section(vec![batch(), batch()]), section(vec![])],
            }),
            Message::End { source: Source::Table(TableId(0)), count: 9 },
            Message::Baton,
            Message::Failed {
                query: QueryId(1),
                failure: Failure { code: "CDL-3002".into(), message: "no".into() },
            },
        ]
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for message in messages() {
            let bytes = encode(&message).unwrap();
            assert_eq!(format!("{:?}", decode(bytes).unwrap()), format!("{message:?}"));
        }
    }

    #[test]
    fn rows_that_came_encoded_are_passed_on_as_they_came() {
        let mut rows = encode_batches(&[batch()]).unwrap();
        let first = rows.split_to(100);
        let fragment = TableFragment { table: TableId(3), number: 5, batch: batch() };
        let passed_on = encode_table(TableId(3), 5, &Encodings::default(), &[first, rows]).unwrap();
        assert_eq!(passed_on, encode(&Message::Table(fragment)).unwrap());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for garbage in [&b""[..], b"CDL1", b"GET / HTTP/1.1\r\n", b"CDL1\xff\xff\xff\xff{}"] {
            assert!(decode(Bytes::from_static(garbage)).is_err());
        }
        for message in messages() {
            let whole = encode(&message).unwrap();
            for length in 0..whole.len().min(600) {
                assert!(decode(whole.slice(..length)).is_err(), "{length} of {}", whole.len());
            }
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

    fn encoded(batch: RecordBatch) -> Bytes {
        let (encoded, encodings) = encoding::encode(batch);
        let rows = encode_batches(&[encoded]).unwrap();
        encode_table(TableId(1), 7, &encodings, &[rows]).unwrap()
    }

    #[test]
    fn encoded_rows_are_decoded_unless_they_would_take_too_much_memory() {
        let decoded = decode(encoded(batch())).unwrap();
        let Message::Table(fragment) = decoded else { panic!("a fragment: {decoded:?}") };
        assert_eq!((fragment.number, fragment.batch), (7, batch()));
        let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; 1 << 20]));
        let columns = (0..20).map(|at| (at.to_string(), Arc::clone(&zeros)));
        let error = decode(encoded(RecordBatch::try_from_iter(columns).unwrap())).unwrap_err();
        assert!(error.to_string().contains("356515840 bytes"), "{error}");
    }

    #[test]
    fn texts_that_share_their_bytes_take_them_once() {
        let (text, rows) = ("x".repeat(1 << 10), 300_000);
        let mut texts = StringViewBuilder::new();
        let block = texts.append_block(Buffer::from(text.as_bytes()));
        (0..rows).for_each(|_| texts.try_append_view(block, 0, 1 << 10).unwrap());
        let texts: ArrayRef = Arc::new(texts.finish());
        let batch = RecordBatch::try_from_iter([("t", texts)]).unwrap();
        assert!(rows_bytes(&batch) > limits::BATCH_MEMORY_BYTES_MAX, "if they had their own");
        let mut stream = StreamWriter::try_new(vec![], &batch.schema()).unwrap();
        stream.write(&batch).unwrap();
        let stream = stream.into_inner().unwrap().into();
        let message = encode_table(TableId(1), 7, &Encodings::default(), &[stream]).unwrap();
        let decoded = decode(message).unwrap();
        assert!(matches!(decoded, Message::Table(fragment) if fragment.batch.num_rows() == rows));
    }

    /// Rows that gateways pass on unseen.
    #[test]
    fn damage_within_packed_rows_is_told_with_its_fragment() {
        let whole = encode(&messages()[0]).unwrap();
        let packed = encode_batches(&[batch()]).unwrap();
        // Of the first packed column, after its length: the magic number of LZ4.
        let lz4 = packed.windows(4).position(|bytes| bytes == [0x04, 0x22, 0x4d, 0x18]).unwrap();
        let mut damaged = whole.to_vec();
        damaged[whole.len() - packed.len() + lz4] ^= 0xff;
        let damaged = Bytes::from(damaged);
        assert_eq!(shape(&damaged.slice(whole.len() - packed.len()..)).unwrap().rows, 1000);
        let error = decode(damaged).unwrap_err();
        assert!(matches!(error, Error::Fragment { table: TableId(1), number: 7, .. }), "{error}");
    }

    /// A short fuzz; `CAUDAL_SEEDS` makes it a long one.
    #[test]
    fn damaged_messages_are_refused_or_read_but_do_not_panic() {
        let seeds = caudal_testing::Seeds::of(3000);
        let plain = messages().into_iter().map(|message| encode(&message).unwrap());
        let wholes: Vec<_> = plain.chain([encoded(batch())]).collect();
        let (mut refused, mut read) = (0, 0);
        for seed in seeds.range() {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut damaged = random.choice(&wholes).unwrap().to_vec();
            for _ in 0..random.usize(1..5) {
                let (at, other) = (random.usize(..damaged.len()), random.usize(..damaged.len()));
                match random.u8(..5) {
                    0 => damaged[at] = random.u8(..),
                    // Headers are short and come first.
                    1 => damaged[at % 100 % other.max(1)] ^= 1 << random.u8(..8),
                    2 => damaged.swap(at, other),
                    3 => damaged.truncate(at.max(1)),
                    _ => drop(damaged.splice(at..at, vec![random.u8(..); random.usize(1..20)])),
                }
            }
            match decode(damaged.into()) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(refused > seeds.range().count() / 3 && read > 0, "{refused} refused, {read} read");
    }
}
