//! The records of a session, each by its type.
//!
//! `caudal_protocol::objects` says what they are called, `caudal_protocol::manifest` what is in them;
//! `docs/protocol.md`, section 4, who writes which.

use std::sync::Arc;

use bytes::Bytes;
use caudal_core::{Failure, QueryId, SessionId, ShardId, StageId, TableId};
use caudal_protocol::Objects;
use caudal_protocol::calls::TableRows;
use caudal_protocol::manifest::{Claim, Manifest, Tombstone};
use caudal_protocol::objects::{CLOSED, SESSIONS};
use futures::future::try_join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::allowance::Allowance;
use crate::error::Error;
use crate::load::Loader;
use crate::outputs::{Committed, OutputWriter, committed, read_early, write_early};
use crate::store::{Created, Store, StoreError};

/// The records of one session.
#[derive(Clone)]
pub struct SessionRecords {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) objects: Objects,
}

/// Whether a session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    Open,
    Over,
}

/// What the records of a session say of it.
#[derive(Debug)]
pub enum Standing {
    Open(Manifest),
    Over(Tombstone),
}

/// The sessions that have records: those that are open, and those of which something is left.
pub async fn sessions(store: &dyn Store) -> Result<Vec<SessionId>, StoreError> {
    Ok(store.folders(SESSIONS).await?.into_iter().map(SessionId).collect())
}

/// The sessions that have a tombstone.
pub async fn closed_sessions(store: &dyn Store) -> Result<Vec<SessionId>, StoreError> {
    let names = store.list(CLOSED).await?;
    let ids = names.iter().filter_map(|name| name.strip_prefix(CLOSED)?.strip_prefix('/'));
    Ok(ids.map(|id| SessionId(id.to_string())).collect())
}

impl SessionRecords {
    pub fn new(store: Arc<dyn Store>, session: SessionId) -> Self {
        Self { store, objects: Objects { session } }
    }

    pub fn session(&self) -> &SessionId {
        &self.objects.session
    }

    /// Whether the session has a manifest and no tombstone.
    pub async fn state(&self) -> Result<SessionState, StoreError> {
        let is_over = self.store.get(&self.objects.tombstone()).await?.is_some()
            || self.store.get(&self.objects.manifest()).await?.is_none();
        Ok(if is_over { SessionState::Over } else { SessionState::Open })
    }

    /// The standing of the session; none where it never was, or is forgotten. A tombstone comes before anything is deleted: where
    /// the manifest went after the first look, the second finds why.
    pub async fn standing(&self) -> Result<Option<Standing>, StoreError> {
        if let Some(tombstone) = self.tombstone().await? {
            return Ok(Some(Standing::Over(tombstone)));
        }
        if let Some(manifest) = self.manifest().await? {
            return Ok(Some(Standing::Open(manifest)));
        }
        Ok(self.tombstone().await?.map(Standing::Over))
    }

    pub async fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        read(self.store.as_ref(), &self.objects.manifest()).await
    }

    pub async fn create_manifest(&self, manifest: &Manifest) -> Result<Created, StoreError> {
        self.store.create(&self.objects.manifest(), to_body(manifest)).await
    }

    pub async fn tombstone(&self) -> Result<Option<Tombstone>, StoreError> {
        read(self.store.as_ref(), &self.objects.tombstone()).await
    }

    /// Ends the session, unless it has ended already: the first tombstone counts.
    pub async fn create_tombstone(&self, tombstone: &Tombstone) -> Result<Created, StoreError> {
        self.store.create(&self.objects.tombstone(), to_body(tombstone)).await
    }

    /// Forgets that the session was ever there.
    pub async fn delete_tombstone(&self) -> Result<(), StoreError> {
        self.store.delete(&self.objects.tombstone()).await
    }

    /// What became of the rows of a table, where its client has said so.
    pub async fn rows(&self, table: TableId) -> Result<Option<TableRows>, StoreError> {
        read(self.store.as_ref(), &self.objects.rows(table)).await
    }

    pub async fn put_rows(&self, table: TableId, rows: &TableRows) -> Result<(), StoreError> {
        self.store.put(&self.objects.rows(table), to_body(rows)).await
    }

    /// Removes all records but the tombstone.
    pub async fn delete(&self) -> Result<(), StoreError> {
        self.store.delete_folder(&self.objects.folder()).await
    }

    /// The workers that have written a claim.
    pub async fn claimants(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.objects.claims();
        let names = self.store.list(&folder).await?;
        let workers = names.iter().filter_map(|name| name.strip_prefix(&folder)?.strip_prefix('/'));
        Ok(workers.map(str::to_string).collect())
    }

    pub async fn claim(&self, worker: &str) -> Result<Option<Claim>, StoreError> {
        read(self.store.as_ref(), &self.objects.claim(worker)).await
    }

    pub async fn claims(&self) -> Result<Vec<Claim>, StoreError> {
        let workers = self.claimants().await?;
        let claims = try_join_all(workers.iter().map(|worker| self.claim(worker)));
        Ok(claims.await?.into_iter().flatten().collect())
    }

    pub async fn put_claim(&self, claim: &Claim) -> Result<(), StoreError> {
        self.store.put(&self.objects.claim(&claim.worker), to_body(claim)).await
    }

    /// Why a query fails, if somebody has met it.
    pub async fn failure(&self, query: QueryId) -> Result<Option<Failure>, StoreError> {
        read(self.store.as_ref(), &self.objects.failure(query)).await
    }

    /// Writes down why a query fails, unless it is known already.
    pub async fn create_failure(
        &self,
        query: QueryId,
        failure: &Failure,
    ) -> Result<Created, StoreError> {
        self.store.create(&self.objects.failure(query), to_body(failure)).await
    }

    /// How often queues of the session were lost.
    pub async fn resends(&self) -> Result<u32, StoreError> {
        let times = self.store.list(&self.objects.resends()).await?.len();
        Ok(u32::try_from(times).unwrap_or(u32::MAX))
    }

    /// Writes down that queues were lost for one more time than `known`, unless somebody else has.
    pub async fn create_resend(&self, known: u32) -> Result<Created, StoreError> {
        self.store.create(&self.objects.resend(known), Bytes::from_static(b"{}")).await
    }

    /// The journal of a shard, to be read from its start. Since its last snapshot it may become `bytes_max` long.
    pub async fn load_journal(&self, shard: ShardId, bytes_max: u64) -> Result<Loader, Error> {
        Loader::open(Arc::clone(&self.store), self.objects.shard(shard), bytes_max).await
    }

    /// An attempt at the output of a stage.
    pub fn output_writer(&self, shard: ShardId, stage: StageId) -> OutputWriter {
        let (store, folder) = (Arc::clone(&self.store), self.objects.shard(shard));
        OutputWriter::new(store, &folder, &stage.to_string())
    }

    /// Writes rows that a stage answers before it is complete; the attempt by which they are found.
    pub async fn write_early(
        &self,
        shard: ShardId,
        stage: StageId,
        body: Bytes,
        allowance: &Allowance,
    ) -> Result<u64, Error> {
        let (folder, key) = (self.objects.shard(shard), stage.to_string());
        write_early(self.store.as_ref(), &folder, &key, body, allowance).await
    }

    pub async fn read_early(
        &self,
        shard: ShardId,
        stage: StageId,
        attempt: u64,
    ) -> Result<Bytes, Error> {
        let (folder, key) = (self.objects.shard(shard), stage.to_string());
        read_early(self.store.as_ref(), &folder, &key, attempt).await
    }

    /// The output of a stage, if it is committed.
    pub async fn committed_output(
        &self,
        shard: ShardId,
        stage: StageId,
    ) -> Result<Option<Committed>, Error> {
        let (store, folder) = (Arc::clone(&self.store), self.objects.shard(shard));
        committed(store, &folder, &stage.to_string()).await
    }
}

pub(crate) fn to_body(record: &impl Serialize) -> Bytes {
    serde_json::to_vec(record).expect("records are plain data").into()
}

pub(crate) async fn read<T: DeserializeOwned>(
    store: &dyn Store,
    name: &str,
) -> Result<Option<T>, StoreError> {
    let Some(body) = store.get(name).await? else { return Ok(None) };
    let record = serde_json::from_slice(&body).map_err(|error| StoreError::BadObject {
        name: name.to_string(),
        reason: error.to_string(),
    })?;
    Ok(Some(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> SessionRecords {
        let store = crate::open("memory:").unwrap();
        SessionRecords::new(store, SessionId("s".to_string()))
    }

    fn manifest() -> Manifest {
        Manifest {
            session: SessionId("s".to_string()),
            tables: vec![],
            queries: vec![],
            shards: 1,
            started_ms: 0,
            version: String::new(),
            fingerprint: String::new(),
            owner: String::new(),
        }
    }

    #[tokio::test]
    async fn a_session_is_open_from_its_manifest_to_its_tombstone() {
        let records = records();
        assert_eq!(records.state().await.unwrap(), SessionState::Over);
        assert_eq!(records.create_manifest(&manifest()).await.unwrap(), Created::New);
        assert_eq!(records.create_manifest(&manifest()).await.unwrap(), Created::Exists);
        assert_eq!(records.manifest().await.unwrap(), Some(manifest()));
        assert_eq!(records.state().await.unwrap(), SessionState::Open);
        let store = records.store.as_ref();
        assert_eq!(sessions(store).await.unwrap(), [records.session().clone()]);
        assert!(closed_sessions(store).await.unwrap().is_empty());

        let tombstone = Tombstone::of(&manifest(), None, 7);
        assert_eq!(records.create_tombstone(&tombstone).await.unwrap(), Created::New);
        assert_eq!(records.state().await.unwrap(), SessionState::Over);
        let later = Tombstone { closed_ms: 8, ..tombstone.clone() };
        assert_eq!(records.create_tombstone(&later).await.unwrap(), Created::Exists);
        assert_eq!(records.tombstone().await.unwrap(), Some(tombstone), "the first one counts");
        records.delete().await.unwrap();
        assert!(sessions(store).await.unwrap().is_empty());
        assert_eq!(closed_sessions(store).await.unwrap(), [records.session().clone()]);
        records.delete_tombstone().await.unwrap();
        assert!(closed_sessions(store).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_claim_is_found_by_its_worker_and_replaced_by_its_next() {
        let records = records();
        let claim = |refusal: Option<&str>| Claim {
            worker: "w-1".to_string(),
            refusal: refusal.map(str::to_string),
        };
        records.put_claim(&claim(Some("another version"))).await.unwrap();
        records.put_claim(&claim(None)).await.unwrap();
        assert_eq!(records.claimants().await.unwrap(), ["w-1"]);
        assert_eq!(records.claims().await.unwrap(), [claim(None)]);
        assert_eq!(records.claim("w-2").await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_is_not_a_record_is_said_to_be_none() {
        let records = records();
        records.store.put(&records.objects.manifest(), "{}".into()).await.unwrap();
        let error = records.manifest().await.unwrap_err();
        assert!(matches!(error, StoreError::BadObject { .. }), "{error}");
    }
}
