//! Retry markers: how a poison fragment, one that kills its workers, is found.
//!
//! A fragment that is delivered again may have ended the worker that had it. Before it is run again a
//! marker is written, and removed when it is done. So many markers without an end mean that the
//! fragment is poison: its session fails, and names it, before it takes the whole cluster down.

use bytes::Bytes;
use caudal_core::{FragmentId, limits};
use caudal_store::Created;

use crate::Error;
use crate::durable::Durable;

/// The marker of a run that is under way.
pub struct RetryMarker {
    name: String,
}

impl RetryMarker {
    pub async fn begin(durable: &Durable, fragment: FragmentId) -> Result<Self, Error> {
        for run in 0..limits::FRAGMENT_DEATHS_MAX {
            let name = durable.objects.retry_marker(fragment, run);
            let body = Bytes::from(format!("{} {:016x}", durable.worker, durable.incarnation));
            // One that this very process could not remove, or of whose making it heard nothing, is no
            // death: it is alive.
            let is_ours = durable.store.create(&name, body.clone()).await? == Created::New
                || durable.store.get(&name).await? == Some(body);
            if is_ours {
                return Ok(Self { name });
            }
        }
        Err(Error::PoisonFragment { fragment, deaths: limits::FRAGMENT_DEATHS_MAX })
    }

    pub async fn end(self, durable: &Durable) -> Result<(), Error> {
        Ok(durable.store.delete(&self.name).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use caudal_core::{SessionId, Source, TableId};
    use caudal_protocol::Objects;
    use caudal_protocol::manifest::Manifest;

    use super::*;

    #[tokio::test]
    async fn only_the_markers_of_others_are_deaths() {
        let store = caudal_store::open("memory:").unwrap();
        let session = SessionId("s".to_string());
        let manifest = Arc::new(Manifest {
            session: session.clone(),
            tables: vec![],
            queries: vec![],
            shards: 1,
            started_ms: 0,
            version: String::new(),
            fingerprint: String::new(),
            owner: String::new(),
        });
        let incarnation = |incarnation| Durable {
            store: Arc::clone(&store),
            objects: Objects { session: session.clone() },
            manifest: Arc::clone(&manifest),
            worker: "w".to_string(),
            incarnation,
            spread_ms: 1,
            linger_ms: 0,
        };
        let fragment = FragmentId { source: Source::Table(TableId(0)), number: 7 };
        for _ in 0..5 {
            // Never ended: as if the store had lost that.
            RetryMarker::begin(&incarnation(1), fragment).await.unwrap();
        }
        for dies in 2..=limits::FRAGMENT_DEATHS_MAX {
            RetryMarker::begin(&incarnation(u64::from(dies)), fragment).await.unwrap();
        }
        let last = RetryMarker::begin(&incarnation(9), fragment).await;
        assert!(matches!(last, Err(Error::PoisonFragment { .. })));
    }
}
