//! Sends what one fragment became, as one message or as numbered parts of one.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use caudal_core::{Attempt, FragmentId, Part, StageId, limits};
use caudal_engine::compact;
use caudal_protocol::size::rows_bytes;
use caudal_protocol::{FragmentPart, Message, Section};
use caudal_runtime::failpoint::{self, knob};
use futures::future::try_join_all;

use crate::{Error, Worker};

pub struct Sender<'a> {
    pub worker: &'a Worker,
    pub id: FragmentId,
    pub attempt: Attempt,
    pub end: Option<u32>,
}

impl Sender<'_> {
    /// Returns when all parts are safe. Those of a query that has failed are not worth it.
    pub async fn send(&self, queue: &str, parts: Vec<Vec<Section>>) -> Result<(), Error> {
        if self.worker.is_failed(queue) {
            return Ok(());
        }
        let is_divided = parts.len() > 1;
        let sends = self.messages(parts).into_iter().map(|message| async move {
            self.worker.send(queue, message).await?;
            if is_divided {
                failpoint::hit("part.confirmed");
            }
            Ok::<_, Error>(())
        });
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
/// fragment without rows has to be seen, too.
pub fn split(sections: Vec<Section>) -> Vec<Vec<Section>> {
    let message_bytes = knob("message_bytes", limits::MESSAGE_BYTES);
    let mut parts = vec![vec![]];
    let mut free = message_bytes;
    for section in sections {
        let batches = section.batches.into_iter();
        for batch in batches.flat_map(|batch| slices(batch, message_bytes)) {
            let bytes = rows_bytes(&batch);
            if bytes > free && free < message_bytes {
                parts.push(vec![]);
                free = message_bytes;
            }
            free = free.saturating_sub(bytes);
            let part = parts.last_mut().expect("never empty");
            push(part, section.stage, batch);
        }
    }
    parts
}

/// Divides the rows of an answer, a batch a message: gateways then pass them on as they are.
pub fn split_answer(stage: StageId, batches: Vec<RecordBatch>) -> Vec<Vec<Section>> {
    let mut parts = split(vec![Section { stage, batches }]);
    for section in parts.iter_mut().flatten() {
        let Some(first) = section.batches.first() else { continue };
        // What cannot be joined is passed on as it is, by a gateway that has to look at it.
        if let Ok(joined) = concat_batches(&first.schema(), &section.batches) {
            section.batches = vec![joined];
        }
    }
    parts
}

fn push(part: &mut Vec<Section>, stage: StageId, batch: RecordBatch) {
    match part.last_mut() {
        Some(section) if section.stage == stage => section.batches.push(batch),
        _ => part.push(Section { stage, batches: vec![batch] }),
    }
}

fn slices(batch: RecordBatch, message_bytes: usize) -> Vec<RecordBatch> {
    let pieces = rows_bytes(&batch).div_ceil(message_bytes).max(1);
    if pieces == 1 {
        return vec![batch];
    }
    let rows = batch.num_rows().div_ceil(pieces).max(1);
    (0..batch.num_rows())
        .step_by(rows)
        .map(|start| batch.slice(start, rows.min(batch.num_rows() - start)))
        // Texts of a slice are views of all the texts there are, and would take them along.
        .map(compact)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringViewArray};
    use caudal_protocol::ipc;

    use super::*;

    #[test]
    fn a_part_takes_along_its_own_texts_only() {
        let texts = (0..40_000).map(|row| format!("{row:>1000}"));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let batch = RecordBatch::try_from_iter([("t", texts)]).unwrap();
        let parts = split(vec![Section { stage: StageId(0), batches: vec![batch] }]);
        let rows = |part: &Vec<Section>| part[0].batches[0].num_rows();
        assert_eq!(parts.iter().map(rows).sum::<usize>(), 40_000);
        assert_eq!(parts.len(), 5, "40 MB in parts of at most 8 MiB");
        for part in parts {
            let encoded = ipc::encode_batches(&part[0].batches).unwrap();
            let memory_bytes = ipc::shape(&encoded).unwrap().memory_bytes as usize;
            assert!(memory_bytes < limits::MESSAGE_BYTES * 5 / 4, "{memory_bytes} bytes");
        }
    }
}
