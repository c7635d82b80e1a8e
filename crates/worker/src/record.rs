//! What a shard writes down: rows together with the fragments they came in, so that one cannot be
//! there without the other.
//!
//! An entry holds what came in since the last one; a snapshot holds everything. They are read alike.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use bytes::Bytes;
use caudal_core::wire::{self, decode_batches, encode_batches, frame, take, unframe};
use caudal_core::{FragmentId, FragmentPart, Part, Section, SeenOfSource, Source, StageId};
use caudal_engine::ShardState;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct Record {
    pub state: ShardState,
    /// Rows answered before their stage was complete.
    pub early: Vec<EarlyAnswer>,
    /// In a snapshot: stages whose output is committed and whose inputs are not kept any more.
    pub done: Vec<StageId>,
    /// Written by a worker that takes the shard over.
    pub takeover: Option<Takeover>,
}

#[derive(Clone, Debug)]
pub struct EarlyAnswer {
    pub stage: StageId,
    pub number: u32,
    pub batches: Vec<RecordBatch>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<SeenOfSource>,
    /// The rows of the fragments that have been seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    content: Vec<SectionHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    early: Vec<EarlyHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    done: Vec<StageId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    takeover: Option<Takeover>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SectionHeader {
    stage: StageId,
    rows_bytes: u64,
}

/// A part of a fragment in several.
#[derive(Debug, Serialize, Deserialize)]
struct PartHeader {
    id: FragmentId,
    part: Part,
    end: Option<u32>,
    sections: Vec<SectionHeader>,
}

#[derive(Debug, Serialize, Deserialize)]
struct EarlyHeader {
    stage: StageId,
    number: u32,
    rows_bytes: u64,
}

impl Record {
    /// Adds a part that the shard has taken.
    pub fn add_part(&mut self, part: FragmentPart) {
        if part.part.count > 1 {
            self.state.pending.push(part);
            return;
        }
        let FragmentId { source, number } = part.id;
        self.state.seen.push(SeenOfSource {
            source,
            end: part.end,
            numbers: vec![(number, number)],
        });
        self.state.gathered.extend(part.sections);
    }

    pub fn add_end(&mut self, source: Source, count: u32) {
        self.state.seen.push(SeenOfSource { source, end: Some(count), numbers: vec![] });
    }

    pub fn is_empty(&self) -> bool {
        self.state.seen.is_empty()
            && self.state.pending.is_empty()
            && self.early.is_empty()
            && self.takeover.is_none()
    }

    pub fn encode(&self) -> Result<Bytes, wire::Error> {
        let mut bodies = vec![];
        let mut body = |batches: &[RecordBatch]| {
            let rows = encode_batches(batches)?;
            let rows_bytes = rows.len() as u64;
            bodies.push(rows);
            Ok::<u64, wire::Error>(rows_bytes)
        };
        let mut content = vec![];
        for (stage, batches) in by_stage(&self.state.gathered) {
            content.push(SectionHeader { stage, rows_bytes: body(&batches)? });
        }
        let mut parts = vec![];
        for FragmentPart { id, part, end, sections } in &self.state.pending {
            let mut headers = vec![];
            for Section { stage, batches } in sections {
                headers.push(SectionHeader { stage: *stage, rows_bytes: body(batches)? });
            }
            parts.push(PartHeader { id: *id, part: *part, end: *end, sections: headers });
        }
        let mut early = vec![];
        for EarlyAnswer { stage, number, batches } in &self.early {
            let rows_bytes = body(batches)?;
            early.push(EarlyHeader { stage: *stage, number: *number, rows_bytes });
        }
        let header = Header {
            seen: self.state.seen.clone(),
            content,
            parts,
            early,
            done: self.done.clone(),
            takeover: self.takeover,
        };
        frame(&header, &bodies)
    }

    pub fn decode(body: Bytes) -> Result<Self, wire::Error> {
        let (header, mut rest): (Header, _) = unframe(body)?;
        let mut rows = |rows_bytes| decode_batches(take(&mut rest, rows_bytes)?);
        let mut sections = |headers: Vec<SectionHeader>| {
            let section = |SectionHeader { stage, rows_bytes }| {
                Ok(Section { stage, batches: rows(rows_bytes)? })
            };
            headers.into_iter().map(section).collect::<Result<Vec<_>, wire::Error>>()
        };
        let gathered = sections(header.content)?;
        let mut pending = vec![];
        for PartHeader { id, part, end, sections: headers } in header.parts {
            pending.push(FragmentPart { id, part, end, sections: sections(headers)? });
        }
        let mut early = vec![];
        for EarlyHeader { stage, number, rows_bytes } in header.early {
            early.push(EarlyAnswer { stage, number, batches: rows(rows_bytes)? });
        }
        let state = ShardState { seen: header.seen, pending, gathered };
        Ok(Self { state, early, done: header.done, takeover: header.takeover })
    }
}

/// One section for each stage. Batches stay apart: DataFusion 55 merges only the first row of a batch
/// of states of `percentile_cont` without GROUP BY.
fn by_stage(sections: &[Section]) -> BTreeMap<StageId, Vec<RecordBatch>> {
    let mut stages: BTreeMap<StageId, Vec<RecordBatch>> = BTreeMap::new();
    for section in sections {
        stages.entry(section.stage).or_default().extend(section.batches.iter().cloned());
    }
    stages
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use caudal_core::{Attempt, ShardId, TableId};

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
        let mut record = Record::default();
        assert!(record.is_empty());
        record.add_part(part(0, 0, 1, &[1, 2]));
        record.add_part(part(4, 0, 1, &[3]));
        record.add_part(part(2, 1, 3, &[4]));
        record.add_end(Source::Shard { stage: StageId(0), shard: ShardId(3) }, 9);
        let early = EarlyAnswer { stage: StageId(5), number: 2, batches: section(&[8]).batches };
        record.early.push(early);
        record.done.push(StageId(4));
        record.takeover = Some(Takeover { with_work: true, committed: 1 });

        let read = Record::decode(record.encode().unwrap()).unwrap();
        assert_eq!(read.state.seen, record.state.seen);
        assert_eq!(read.state.gathered.len(), 1, "one section a stage");
        let batches = [section(&[1, 2]).batches, section(&[3]).batches].concat();
        assert_eq!(read.state.gathered[0].batches, batches);
        let (is, was) = (&read.state.pending, &record.state.pending);
        assert_eq!(format!("{is:?}"), format!("{was:?}"));
        assert_eq!(format!("{:?}", read.early), format!("{:?}", record.early));
        assert_eq!((read.done, read.takeover), (record.done, record.takeover));
    }
}
