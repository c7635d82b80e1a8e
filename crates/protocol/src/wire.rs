//! Messages as bytes: the bodies of a broker's messages and of a journal's records.
//!
//! ```text
//! "CDL1" | length of the header, u32 LE | header, JSON | the header's batches: Arrow IPC streams
//! ```
//!
//! Rows are Arrow IPC streams ([`ipc`]), each with its schema: who has a message can read it.

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use bytes::Bytes;
use caudal_core::{Failure, FragmentId, Part, QueryId, Source, StageId, TableId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::encoding::{self, Encodings};
use crate::ipc::{self, decode_batches, encode_batches, one_batch, shape, take};
use crate::message::{FragmentPart, Message, Section, TableFragment};

const MAGIC: &[u8; 4] = b"CDL1";
const PREFIX_BYTES: usize = 8;

#[derive(Debug, Error)]
pub enum Error {
    #[error("it does not begin like a message of this version")]
    NotOurs,
    #[error("its header is not what it should be: {0}")]
    Header(#[from] serde_json::Error),
    #[error(transparent)]
    Rows(#[from] ipc::Error),
    #[error("fragment {number} of table {table}: {error}")]
    Fragment { table: TableId, number: u32, error: Box<Error> },
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Error::Rows(error.into())
    }
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
    Republish,
    Failed {
        query: QueryId,
        failure: Failure,
    },
}

/// The header of a [`Section`], whose rows follow.
#[derive(Debug, Serialize, Deserialize)]
pub struct SectionHeader {
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
        Message::Republish => frame(&Header::Republish, &[]),
        Message::Failed { query, failure } => {
            frame(&Header::Failed { query: *query, failure: failure.clone() }, &[])
        }
    }
}

pub fn decode(body: Bytes) -> Result<Message, Error> {
    let (header, mut rest) = unframe(body)?;
    Ok(match header {
        Header::Table { table, number, rows_bytes, encodings } => {
            let rows = take(&mut rest, rows_bytes).map_err(Error::from);
            let batch = rows.and_then(|rows| decoded(rows, &encodings));
            let of_fragment = |error| Error::Fragment { table, number, error: Box::new(error) };
            Message::Table(TableFragment { table, number, batch: batch.map_err(of_fragment)? })
        }
        Header::Part { id, part, end, sections } => {
            let sections = decode_sections(sections, &mut rest)?;
            Message::Part(FragmentPart { id, part, end, sections })
        }
        Header::End { source, count } => Message::End { source, count },
        Header::Baton => Message::Baton,
        Header::Republish => Message::Republish,
        Header::Failed { query, failure } => Message::Failed { query, failure },
    })
}

/// A message whose rows are left as they came: its parts' sections are empty, their streams beside it.
pub fn open(body: Bytes) -> Result<(Message, Vec<Bytes>), Error> {
    let (header, mut rest) = unframe(body.clone())?;
    match header {
        Header::Part { id, part, end, sections } => {
            let streams = sections.iter().map(|section| take(&mut rest, section.rows_bytes));
            let streams = streams.collect::<Result<_, _>>()?;
            Ok((Message::Part(FragmentPart { id, part, end, sections: vec![] }), streams))
        }
        _ => Ok((decode(body)?, vec![])),
    }
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
    ipc::check_memory(shape(&rows)?.decoded_bytes(encodings))?;
    Ok(encoding::decode(one_batch(rows)?, encodings)?)
}

/// Headers of sections, and their rows, which go into the frame's bodies.
pub fn encode_sections(sections: &[Section]) -> Result<(Vec<SectionHeader>, Vec<Bytes>), Error> {
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

/// Sections whose rows come next.
pub fn decode_sections(
    sections: Vec<SectionHeader>,
    rest: &mut Bytes,
) -> Result<Vec<Section>, Error> {
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
    let length = framed.get(MAGIC.len()..PREFIX_BYTES).ok_or(ipc::Error::Truncated)?;
    let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
    let mut rest = framed.split_off(PREFIX_BYTES);
    let header = take(&mut rest, u64::from(length))?;
    Ok((serde_json::from_slice(&header)?, rest))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray, StringViewBuilder};
    use arrow::buffer::Buffer;
    use arrow::ipc::writer::StreamWriter;

    use super::*;
    use crate::calls::ResultWhat;
    use crate::size::rows_bytes;
    use caudal_core::{Attempt, ShardId, codes, limits};

    fn batch() -> RecordBatch {
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
            Message::Republish,
            Message::Failed { query: QueryId(1), failure: Failure::new(codes::DATA, "no") },
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
    fn a_message_is_opened_without_its_rows() {
        for message in messages() {
            let encoded = encode(&message).unwrap();
            let (opened, streams) = open(encoded.clone()).unwrap();
            let batches = streams.into_iter().flat_map(|stream| decode_batches(stream).unwrap());
            assert_eq!(batches.collect::<Vec<_>>(), message.batches().cloned().collect::<Vec<_>>());
            assert_eq!(
                format!("{:?}", ResultWhat::of(&opened)),
                format!("{:?}", ResultWhat::of(&message))
            );
            assert!(open(encoded.slice(..encoded.len() - 1)).is_err());
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
