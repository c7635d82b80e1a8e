//! Sends tables again, when what came of them may have been lost with a queue.
//!
//! A fragment keeps its number and its rows: who has seen it knows it by the one, and the others cannot tell it from the
//! first. So files are read again, as they were, and each fragment is put together from the same chunks.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_protocol::TableFragment;
use tokio::sync::oneshot;

use crate::chunks::Chunks;
use crate::gather::joined;
use crate::upload::{Sent, number};
use crate::{Error, Service};

/// Sends all tables again whenever that is asked for, once they have been sent. Ends with an error, or never.
pub async fn whenever_asked(
    service: Arc<dyn Service>,
    sent: oneshot::Receiver<Vec<Sent>>,
) -> Result<(), Error> {
    // An upload that failed has said why.
    let Ok(tables) = sent.await else { return std::future::pending().await };
    let mut done = 0;
    loop {
        done = service.resend(done).await;
        tracing::info!(times = done, "sends the tables again");
        for table in &tables {
            send(service.as_ref(), table).await?;
        }
    }
}

async fn send(service: &dyn Service, sent: &Sent) -> Result<(), Error> {
    let (table, mut unfinished) = (sent.upload.table, Unfinished::of(&sent.fragments));
    let source = sent.upload.source.again()?;
    let chunks = Chunks::of(&source);
    while let Some(chunk) = chunks.next().await? {
        let chunk_number = chunk.number();
        let batch = chunk.parse()?.batch;
        if let Some((fragment, batch)) = unfinished.add(chunk_number, batch) {
            let number = number(table, fragment)?;
            service.put(TableFragment::new(table, number, batch)).await?;
        }
    }
    // What was read meanwhile is what it was before.
    source.check_unchanged()?;
    service.end_table(table, sent.count()?, sent.rows).await
}

/// Fragments of which some chunks have been read.
struct Unfinished<'a> {
    fragments: &'a [Vec<u64>],
    /// By the number of a chunk, the fragment that it belongs to.
    fragment_of: HashMap<u64, usize>,
    chunks: HashMap<usize, HashMap<u64, RecordBatch>>,
}

impl<'a> Unfinished<'a> {
    fn of(fragments: &'a [Vec<u64>]) -> Self {
        let belongs = |(fragment, chunks): (usize, &'a Vec<u64>)| {
            chunks.iter().map(move |chunk| (*chunk, fragment))
        };
        let fragment_of = fragments.iter().enumerate().flat_map(belongs).collect();
        Self { fragments, fragment_of, chunks: HashMap::new() }
    }

    /// The fragment that is whole with this chunk, if one is: its chunks in the order in which they were.
    fn add(&mut self, chunk: u64, batch: RecordBatch) -> Option<(usize, RecordBatch)> {
        let fragment = *self.fragment_of.get(&chunk)?;
        let chunks = self.chunks.entry(fragment).or_default();
        chunks.insert(chunk, batch);
        if chunks.len() < self.fragments[fragment].len() {
            return None;
        }
        let mut chunks = self.chunks.remove(&fragment)?;
        let batches = self.fragments[fragment].iter().filter_map(|chunk| chunks.remove(chunk));
        Some((fragment, joined(batches.collect())?))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn a_fragment_is_put_together_from_its_own_chunks_in_their_order() {
        let fragments = [vec![0, 3, 2], vec![1], vec![5, 4]];
        let mut unfinished = Unfinished::of(&fragments);
        let mut whole = vec![];
        for chunk in 0..7 {
            let numbers: ArrayRef = Arc::new(Int64Array::from(vec![chunk]));
            let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
            let Some((fragment, batch)) = unfinished.add(chunk as u64, batch) else { continue };
            whole.push((fragment, batch.column(0).as_primitive::<Int64Type>().values().to_vec()));
        }
        assert_eq!(whole, [(1, vec![1]), (0, vec![0, 3, 2]), (2, vec![5, 4])]);
    }
}
