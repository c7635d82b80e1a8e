//! A shard's state, to be written down and to be taken up again by another process.

use arrow::array::RecordBatch;
use caudal_core::{FragmentId, SeenOfSource, StageId};
use caudal_protocol::{FragmentPart, Section};
use datafusion::error::DataFusionError;

use super::{EarlyState, Shard};
use crate::error::Error;

/// Everything a shard has taken: rows, merged, together with the fragments they came in.
#[derive(Clone, Debug, Default)]
pub struct ShardState {
    pub seen: Vec<SeenOfSource>,
    /// Parts that wait for the others of their attempt.
    pub pending: Vec<FragmentPart>,
    pub gathered: Vec<Section>,
}

impl Shard {
    /// The state as it is now; none where it does not fit into memory.
    pub fn state(&self) -> Option<ShardState> {
        let gathered = self.inputs.iter().map(|(stage, gathered)| {
            let batches = gathered.batches_in_memory()?.to_vec();
            Some(Section { stage: *stage, batches })
        });
        let pending = self.tracker.pending().into_iter().map(|(id, part, sections)| FragmentPart {
            id,
            part,
            end: None,
            sections: sections.clone(),
        });
        Some(ShardState {
            seen: self.tracker.seen(),
            pending: pending.collect(),
            gathered: gathered.collect::<Option<_>>()?,
        })
    }

    /// Bytes of the gathered rows, in memory and on disk.
    pub fn gathered_bytes(&self) -> usize {
        self.inputs.values().map(|gathered| gathered.bytes()).sum()
    }

    /// Takes up what was taken by an earlier owner.
    pub async fn restore(&mut self, state: ShardState) -> Result<(), Error> {
        for SeenOfSource { source, end, numbers } in state.seen {
            for number in numbers.into_iter().flat_map(|(first, last)| first..=last) {
                self.tracker.restore_seen(FragmentId { source, number });
            }
            if let Some(count) = end {
                self.tracker.end(source, count)?;
            }
        }
        for section in state.gathered {
            self.gather(section).await;
        }
        for part in state.pending {
            self.take(part).await?;
        }
        Ok(())
    }

    /// Takes note of rows of a stage that an earlier owner has answered early.
    pub fn restore_early(
        &mut self,
        stage: StageId,
        number: u32,
        batches: &[RecordBatch],
    ) -> Result<(), Error> {
        if !self.waiting.contains(&stage) {
            return Ok(());
        }
        let engine = &self.engine;
        let state = self.early.entry(stage).or_insert_with(|| EarlyState::new(engine));
        let said = &mut state.said;
        said.next_number = said.next_number.max(number + 1);
        Ok(said.add(batches).map_err(DataFusionError::from)?)
    }
}
