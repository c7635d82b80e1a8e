//! Sends what one fragment became, as one message or as numbered parts of one.

use arrow::array::RecordBatch;
use caudal_core::{Attempt, FragmentId, FragmentPart, Message, Part, Section, limits};
use futures::future::try_join_all;

use crate::{Error, Worker};

pub struct Sender<'a> {
    pub worker: &'a Worker,
    pub id: FragmentId,
    pub attempt: Attempt,
    pub end: Option<u32>,
}

impl Sender<'_> {
    /// Returns when all parts are safe.
    pub async fn send(&self, queue: &str, parts: Vec<Vec<Section>>) -> Result<(), Error> {
        let messages = self.messages(parts).into_iter();
        let sends = messages.map(|message| self.worker.broker.send(queue, message));
        try_join_all(sends).await?;
        Ok(())
    }

    pub fn messages(&self, parts: Vec<Vec<Section>>) -> Vec<Message> {
        let count = u32::try_from(parts.len()).expect("a fragment has fewer than 2^32 parts");
        let parts = (0..).zip(parts).map(|(index, sections)| {
            let part = Part { attempt: self.attempt, index, count };
            Message::Part(FragmentPart { id: self.id, part, end: self.end, sections })
        });
        parts.collect()
    }
}

/// Divides rows so that no message is much larger than it may be. Always at least one part: a
/// fragment without rows is news, too.
pub fn split(sections: Vec<Section>) -> Vec<Vec<Section>> {
    let mut parts = vec![vec![]];
    let mut room = limits::MESSAGE_BYTES;
    for section in sections {
        for batch in section.batches.into_iter().flat_map(slices) {
            let bytes = batch.get_array_memory_size();
            if bytes > room && room < limits::MESSAGE_BYTES {
                parts.push(vec![]);
                room = limits::MESSAGE_BYTES;
            }
            room = room.saturating_sub(bytes);
            let part = parts.last_mut().expect("never empty");
            push(part, section.stage, batch);
        }
    }
    parts
}

fn push(part: &mut Vec<Section>, stage: caudal_core::StageId, batch: RecordBatch) {
    match part.last_mut() {
        Some(section) if section.stage == stage => section.batches.push(batch),
        _ => part.push(Section { stage, batches: vec![batch] }),
    }
}

fn slices(batch: RecordBatch) -> Vec<RecordBatch> {
    let pieces = batch.get_array_memory_size().div_ceil(limits::MESSAGE_BYTES).max(1);
    if pieces == 1 {
        return vec![batch];
    }
    let rows = batch.num_rows().div_ceil(pieces).max(1);
    (0..batch.num_rows())
        .step_by(rows)
        .map(|start| batch.slice(start, rows.min(batch.num_rows() - start)))
        .collect()
}
