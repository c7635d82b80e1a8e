//! Records of a shard's journal: rows together with the fragments they came in, so that one cannot be
//! there without the other.
//!
//! An entry holds the messages that came in since the last one, as they came; a snapshot holds what all of them
//! come to.

use bytes::Bytes;
use caudal_core::{FragmentId, Part, SeenOfSource, StageId};
use caudal_engine::ShardState;
use caudal_protocol::FragmentPart;
use caudal_protocol::ipc::take;
use caudal_protocol::wire::{
    self, SectionHeader, decode_sections, encode_sections, frame, unframe,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct Record {
    /// In an entry: what was taken, as it came.
    pub messages: Vec<Bytes>,
    /// In a snapshot: everything that was taken before.
    pub state: ShardState,
    /// Rows answered before their stage was complete: where they are.
    pub early: Vec<EarlyAnswer>,
    /// In a snapshot: stages whose output is committed and whose inputs are not kept any more.
    pub done: Vec<StageId>,
    /// Written by a worker that takes the shard over.
    pub takeover: Option<Takeover>,
}

/// A fragment of an answer that a stage has given before it was complete. Its rows are an object of their own: many
/// records refer to them, and none repeats them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyAnswer {
    pub stage: StageId,
    pub number: u32,
    /// Under which they were written.
    pub attempt: u64,
    pub rows_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Takeover {
    /// Something was under way when the last owner was lost: it may have been lost to it.
    pub with_work: bool,
    /// Stages that were committed by then.
    pub committed: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The bytes of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    messages: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<SeenOfSource>,
    /// The rows of the fragments that have been seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    content: Vec<SectionHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    early: Vec<EarlyAnswer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    done: Vec<StageId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    takeover: Option<Takeover>,
}

/// A part of a fragment in several.
#[derive(Debug, Serialize, Deserialize)]
struct PartHeader {
    id: FragmentId,
    part: Part,
    end: Option<u32>,
    sections: Vec<SectionHeader>,
}

impl Record {
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.early.is_empty() && self.takeover.is_none()
    }

    pub fn encode(&self) -> Result<Bytes, wire::Error> {
        let mut bodies = self.messages.clone();
        let (content, rows) = encode_sections(&self.state.gathered)?;
        bodies.extend(rows);
        let mut parts = vec![];
        for FragmentPart { id, part, end, sections } in &self.state.pending {
            let (sections, rows) = encode_sections(sections)?;
            bodies.extend(rows);
            parts.push(PartHeader { id: *id, part: *part, end: *end, sections });
        }
        let header = Header {
            messages: self.messages.iter().map(|message| message.len() as u64).collect(),
            seen: self.state.seen.clone(),
            content,
            parts,
            early: self.early.clone(),
            done: self.done.clone(),
            takeover: self.takeover,
        };
        frame(&header, &bodies)
    }

    pub fn decode(body: Bytes) -> Result<Self, wire::Error> {
        let (header, mut rest): (Header, _) = unframe(body)?;
        let messages = header.messages.into_iter().map(|bytes| take(&mut rest, bytes));
        let messages = messages.collect::<Result<_, _>>()?;
        let gathered = decode_sections(header.content, &mut rest)?;
        let mut pending = vec![];
        for PartHeader { id, part, end, sections } in header.parts {
            let sections = decode_sections(sections, &mut rest)?;
            pending.push(FragmentPart { id, part, end, sections });
        }
        let state = ShardState { seen: header.seen, pending, gathered };
        let Header { early, done, takeover, .. } = header;
        Ok(Self { messages, state, early, done, takeover })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use caudal_core::{Attempt, Source, TableId};
    use caudal_protocol::Section;

    use super::*;

    fn section(values: &[i64]) -> Section {
        let values: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
        let batch = RecordBatch::try_from_iter([("v", values)]).unwrap();
        Section { stage: StageId(1), batches: vec![batch] }
    }

    fn part(number: u32, index: u32, count: u32, values: &[i64]) -> FragmentPart {
        let id = FragmentId { source: Source::Table(TableId(0)), number };
        let part = Part { attempt: Attempt(7), index, count };
        FragmentPart { id, part, end: None, sections: vec![section(values)] }
    }

    #[test]
    fn what_is_written_down_is_what_is_read() {
        assert!(Record::default().is_empty());
        let source = Source::Table(TableId(0));
        let record = Record {
            messages: vec![Bytes::from_static(b"one"), Bytes::from_static(b"another")],
            state: ShardState {
                seen: vec![SeenOfSource { source, end: Some(9), numbers: vec![(0, 4)] }],
                pending: vec![part(2, 1, 3, &[4])],
                gathered: vec![section(&[1, 2]), section(&[3])],
            },
            early: vec![EarlyAnswer {
                stage: StageId(5),
                number: 2,
                attempt: u64::MAX,
                rows_bytes: 8,
            }],
            done: vec![StageId(4)],
            takeover: Some(Takeover { with_work: true, committed: 1 }),
        };
        let read = Record::decode(record.encode().unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{record:?}"));
    }
}
