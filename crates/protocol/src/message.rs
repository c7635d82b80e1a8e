//! Messages between clients, workers and shards.

use arrow::array::RecordBatch;
use caudal_core::{Failure, FragmentId, Part, QueryId, Source, StageId, TableId};

use crate::size::rows_bytes;

#[derive(Clone, Debug)]
pub enum Message {
    /// A fragment of a table, for whichever map worker takes it.
    Table(TableFragment),
    /// Rows that a fragment became on its way, or a part of them: for a shard, or for the client.
    Part(FragmentPart),
    /// The number of fragments of a source.
    End { source: Source, count: u32 },
    /// Held by the owner of a shard until all of the shard's output is published.
    Baton,
    /// Asks the owner of a shard to publish again all that the shard has put out: a queue was lost, and what was in it.
    Republish,
    /// A query that cannot be answered, for its client.
    Failed { query: QueryId, failure: Failure },
}

#[derive(Clone, Debug)]
pub struct TableFragment {
    pub table: TableId,
    pub number: u32,
    pub batch: RecordBatch,
}

#[derive(Clone, Debug)]
pub struct FragmentPart {
    pub id: FragmentId,
    pub part: Part,
    /// On the last fragment of a shard's output: how many there are.
    pub end: Option<u32>,
    /// Rows by the stage that made them; no section where a stage made none.
    pub sections: Vec<Section>,
}

/// Rows that a stage made of a fragment.
#[derive(Clone, Debug)]
pub struct Section {
    pub stage: StageId,
    pub batches: Vec<RecordBatch>,
}

impl TableFragment {
    pub fn new(table: TableId, number: u32, batch: RecordBatch) -> Self {
        Self { table, number, batch }
    }
}

impl Message {
    /// The rows of a part, whichever stage made them.
    pub fn batches(&self) -> impl Iterator<Item = &RecordBatch> {
        let sections = match self {
            Message::Part(part) => part.sections.as_slice(),
            _ => &[],
        };
        sections.iter().flat_map(|section| &section.batches)
    }

    /// Roughly what it occupies.
    pub fn size_bytes(&self) -> usize {
        match self {
            Message::Table(fragment) => fragment.batch.get_array_memory_size(),
            Message::Part(_) => self.batches().map(rows_bytes).sum(),
            Message::End { .. } | Message::Baton | Message::Republish | Message::Failed { .. } => 0,
        }
    }
}
