//! Retry markers: how a poison fragment, one that kills its workers, is found.
//!
//! A fragment that is delivered again may have ended the worker that had it. Before it is run again a
//! marker is written, and removed when it is done. So many markers without an end mean that the
//! fragment is poison: its session fails, and names it, before it takes the whole cluster down.

use bytes::Bytes;
use caudal_core::{FragmentId, limits};

use crate::session::SessionRecords;
use crate::store::{Created, StoreError};

/// The marker of a run that is under way.
pub struct RetryMarker {
    records: SessionRecords,
    name: String,
}

impl SessionRecords {
    /// Marks another run of a fragment by this incarnation of a worker. None if the fragment is poison: there are
    /// [`FRAGMENT_DEATHS_MAX`](limits::FRAGMENT_DEATHS_MAX) markers that others have left.
    pub async fn mark_retry(
        &self,
        fragment: FragmentId,
        worker: &str,
        incarnation: u64,
    ) -> Result<Option<RetryMarker>, StoreError> {
        for run in 0..limits::FRAGMENT_DEATHS_MAX {
            let name = self.objects.retry_marker(fragment, run);
            let body = Bytes::from(format!("{worker} {incarnation:016x}"));
            // One that this very process could not remove, or of whose making it heard nothing, is no
            // death: it is alive.
            let is_ours = self.store.create(&name, body.clone()).await? == Created::New
                || self.store.get(&name).await? == Some(body);
            if is_ours {
                return Ok(Some(RetryMarker { records: self.clone(), name }));
            }
        }
        Ok(None)
    }
}

impl RetryMarker {
    /// The run is over, with a result or an error: nobody died of it. May be said again.
    pub async fn end(&self) -> Result<(), StoreError> {
        self.records.store.delete(&self.name).await
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{SessionId, Source, TableId};

    use super::*;

    #[tokio::test]
    async fn only_the_markers_of_others_are_deaths() {
        let store = crate::open("memory:").unwrap();
        let records = SessionRecords::new(store, SessionId("s".to_string()));
        let fragment = FragmentId { source: Source::Table(TableId(0)), number: 7 };
        let mark =
            async |incarnation| records.mark_retry(fragment, "w", incarnation).await.unwrap();
        for _ in 0..5 {
            // Never ended: as if the store had lost that.
            assert!(mark(1).await.is_some());
        }
        for dies in 2..=limits::FRAGMENT_DEATHS_MAX {
            assert!(mark(u64::from(dies)).await.is_some());
        }
        assert!(mark(9).await.is_none(), "it is poison");
    }
}
