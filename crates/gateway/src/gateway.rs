//! The service without its wire: what can be asked of a gateway.
//!
//! A gateway keeps nothing that another one could not find in the store and the broker; what it
//! remembers of open sessions saves reading and planning again.

use std::sync::Arc;

use caudal_broker::Broker;
use caudal_core::{Coded, QueryId, SessionId, TableId};
use caudal_protocol::calls::{QueryShape, SessionEntry, SessionsReply, TableRows};
use caudal_protocol::manifest::{Manifest, Tombstone};
use caudal_protocol::outline::Outline;
use caudal_runtime::Level;
use caudal_runtime::time::timeout;
use caudal_store::{SessionRecords, Standing, Store, StoreError, sessions};
use futures::future::try_join_all;

use crate::open_sessions::{OpenSession, OpenSessions};
use crate::planning::Planning;
use crate::quota::Quotas;
use crate::settings::Settings;
use crate::tokens::Owner;
use crate::{Error, Session};

pub struct Gateway {
    pub settings: Settings,
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) sessions: OpenSessions,
    pub(crate) quotas: Quotas,
    planning: Planning,
    leaving: Level,
}

impl Gateway {
    pub fn new(settings: Settings, broker: Arc<dyn Broker>, store: Arc<dyn Store>) -> Self {
        let (sessions, leaving) = (OpenSessions::default(), Level::default());
        let planning = Planning::new(&settings, leaving.clone());
        let quotas = Quotas::default();
        Self { settings, broker, store, sessions, quotas, planning, leaving }
    }

    /// Ends every stream, so that clients go on at another gateway.
    pub fn leave(&self) {
        self.leaving.raise();
    }

    /// Returns when the gateway leaves, with what to tell its clients.
    pub(crate) async fn left(&self) -> Error {
        self.leaving.above(0).await;
        Error::Leaving { gateway: self.settings.name.clone() }
    }

    pub(crate) fn check_staying(&self) -> Result<(), Error> {
        match self.leaving.get() {
            0 => Ok(()),
            _ => Err(Error::Leaving { gateway: self.settings.name.clone() }),
        }
    }

    /// Says how many batches a table has; returns when all who wait for it will learn it.
    pub async fn end_table(
        &self,
        owner: &Owner,
        session: &SessionId,
        table: TableId,
        count: u32,
        rows: Option<TableRows>,
    ) -> Result<(), Error> {
        let open = self.find(owner, session).await?;
        open.check_table(table)?;
        if let Some(rows) = rows {
            // Before the end is known: who has a whole answer finds what is not in it.
            self.in_time(session, self.records_of(session).put_rows(table, &rows)).await?;
            open.has_rows(table, rows);
        }
        self.with_queue(&open, || open.session.end_table(table, count)).await
    }

    /// What became of the rows of each table of a session. A client says it at any gateway.
    pub(crate) async fn rows(&self, open: &OpenSession) -> Result<Vec<Option<TableRows>>, Error> {
        let session = &open.manifest.session;
        let is_needed = |table: &TableId| open.check_table(*table).is_ok();
        let unknown = (0..).zip(open.rows()).filter(|(_, known)| known.is_none());
        for table in unknown.map(|(table, _)| TableId(table)).filter(is_needed) {
            let records = self.records_of(session);
            if let Some(rows) = self.in_time(session, records.rows(table)).await? {
                open.has_rows(table, rows);
            }
        }
        Ok(open.rows())
    }

    /// The sessions of this owner.
    pub async fn list(&self, owner: &Owner) -> Result<SessionsReply, Error> {
        let ids = sessions(self.store.as_ref()).await?;
        let entries = try_join_all(ids.into_iter().map(|id| self.describe(owner, id)));
        Ok(SessionsReply { sessions: entries.await?.into_iter().flatten().collect() })
    }

    async fn describe(
        &self,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Option<SessionEntry>, Error> {
        let records = self.records_of(&session);
        let Some(manifest) = records.manifest().await? else { return Ok(None) };
        if !owner.is(&manifest.owner) || records.tombstone().await?.is_some() {
            return Ok(None);
        }
        let lease = records.latest_lease().await?;
        let claims = records.claims().await?;
        let tables = (0..manifest.tables.len()).map(TableId::from);
        let rows = try_join_all(tables.map(|table| records.rows(table))).await?;
        Ok(Some(SessionEntry {
            session,
            started_ms: manifest.started_ms,
            queries: manifest.queries.into_iter().map(|query| query.name).collect(),
            tables: manifest.tables.into_iter().map(|table| table.name).collect(),
            shards: manifest.shards,
            gateway: lease.and_then(|lease| lease.record).map(|lease| lease.gateway),
            workers: claims.iter().filter(|claim| claim.refusal.is_none()).count(),
            rows,
        }))
    }

    /// The open session of this name and owner. Whether another's exists is nobody's business.
    pub(crate) async fn find(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> Result<Arc<OpenSession>, Error> {
        let records = self.records(session)?;
        let none = || Error::NoSession { session: session.clone() };
        let ended = |tombstone: Tombstone| {
            self.sessions.forget(session);
            Err(if owner.is(&tombstone.owner) { over(tombstone) } else { none() })
        };
        let open = match self.sessions.get(session) {
            Some(open) => match self.in_time(session, records.tombstone()).await? {
                Some(tombstone) => return ended(tombstone),
                None => open,
            },
            None => match self.in_time(session, records.standing()).await? {
                Some(Standing::Over(tombstone)) => return ended(tombstone),
                Some(Standing::Open(manifest)) if owner.is(&manifest.owner) => {
                    self.remember(manifest).await?
                }
                _ => return Err(none()),
            },
        };
        if owner.is(&open.manifest.owner) { Ok(open) } else { Err(none()) }
    }

    /// What the store comes to, unless it hangs: then it cannot be reached from here, and a client who waits has to
    /// be where it can be long before the janitors take it for gone.
    pub(crate) async fn in_time<T, E: Into<Error>>(
        &self,
        session: &SessionId,
        asking: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Error> {
        let most = self.settings.grace / 4;
        match timeout(most, asking).await {
            Ok(answer) => answer.map_err(Into::into),
            Err(_) => {
                let reason = format!("no answer within {} s", most.as_secs_f32());
                let (action, name) = ("look after", session.to_string());
                Err(StoreError::Failed { action, name, reason }.into())
            }
        }
    }

    /// Plans a session that is open, unless that has been done.
    pub(crate) async fn remember(&self, manifest: Manifest) -> Result<Arc<OpenSession>, Error> {
        if let Some(open) = self.sessions.get(&manifest.session) {
            return Ok(open);
        }
        let outline = match self.plan(&manifest).await {
            // It was planned before, or it would not be open: another gateway may do better.
            Err(Error::Planning(error)) if !error.is_retryable() => {
                let (gateway, reason) = (self.settings.name.clone(), error.to_string());
                return Err(Error::NotPlanned { gateway, session: manifest.session, reason });
            }
            planned => planned?,
        };
        if outline.fingerprint != manifest.fingerprint {
            let gateway = self.settings.name.clone();
            return Err(Error::OtherPlan { gateway, session: manifest.session });
        }
        Ok(self.remember_planned(manifest, outline))
    }

    pub(crate) fn remember_planned(
        &self,
        manifest: Manifest,
        outline: Outline,
    ) -> Arc<OpenSession> {
        let (id, broker) = (manifest.session.clone(), Arc::clone(&self.broker));
        let session = Session::resume(id, Arc::new(outline), broker);
        self.sessions.insert(OpenSession::new(manifest, session))
    }

    pub(crate) async fn plan(&self, manifest: &Manifest) -> Result<Outline, Error> {
        tokio::select! {
            biased;
            leaving = self.left() => Err(leaving),
            planned = self.planning.plan(manifest) => planned,
        }
    }

    /// A missing queue is how one learns that a session has ended; its tombstone says why. If it has
    /// none, the broker has lost the queue: when its client attaches again, here or elsewhere, that is seen to.
    pub(crate) async fn queue_is_gone(&self, open: &OpenSession, queue: String) -> Error {
        let ended = async {
            let session = &open.manifest.session;
            let records = self.records_of(session);
            Ok(match records.standing().await? {
                Some(Standing::Over(tombstone)) => over(tombstone),
                Some(Standing::Open(_)) => Error::QueueMissing { queue },
                // Its tombstone is gone, too: nobody remembers more than that it was.
                None => Error::Over { session: session.clone(), failure: None },
            })
        };
        ended.await.unwrap_or_else(|unknown| unknown)
    }

    /// The records of a session that a client names. A name that no session can have leads nowhere.
    pub(crate) fn records(&self, session: &SessionId) -> Result<SessionRecords, Error> {
        let is_name = session.0.len() == SESSION_ID_DIGITS
            && session.0.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match is_name {
            true => Ok(self.records_of(session)),
            false => Err(Error::NoSession { session: session.clone() }),
        }
    }

    pub(crate) fn records_of(&self, session: &SessionId) -> SessionRecords {
        SessionRecords::new(Arc::clone(&self.store), session.clone())
    }
}

/// Hexadecimal digits of a session's name.
pub(crate) const SESSION_ID_DIGITS: usize = 32;

pub(crate) fn over(tombstone: Tombstone) -> Error {
    Error::Over { session: tombstone.session, failure: tombstone.failure }
}

impl OpenSession {
    pub(crate) fn check_table(&self, table: TableId) -> Result<(), Error> {
        let tables = &self.session.outline.tables;
        match tables.get(table.index()) {
            Some(known) if !known.needs.needed => Err(Error::BadRequest {
                what: "the table",
                reason: format!("no query reads table {}", known.needs.name),
            }),
            Some(_) => Ok(()),
            None => Err(Error::BadRequest {
                what: "the table",
                reason: format!("there are {}, and this is number {}", tables.len(), table.0),
            }),
        }
    }

    /// The shape of a query's answer, if it has one.
    pub(crate) fn answer(&self, query: QueryId) -> Result<&QueryShape, Error> {
        let queries = &self.session.outline.queries;
        let reason = match queries.get(query.index()) {
            Some(answered @ QueryShape { refused: None, .. }) => return Ok(answered),
            Some(refused) => format!("{} was refused", refused.name),
            None => format!("there are {}, and this is number {}", queries.len(), query.0),
        };
        Err(Error::BadRequest { what: "the query", reason })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use caudal_broker::MemoryBroker;

    use super::*;

    #[tokio::test]
    async fn a_store_that_hangs_is_one_that_another_gateway_may_reach() {
        let mut settings = Settings::new("one", "127.0.0.1:0".parse().unwrap());
        settings.grace = Duration::from_millis(40);
        let store = caudal_store::open("memory:").unwrap();
        let gateway = Gateway::new(settings, Arc::new(Arc::new(MemoryBroker::default())), store);
        let session = SessionId("s".to_string());
        let hangs = std::future::pending::<Result<(), StoreError>>();
        let error = gateway.in_time(&session, hangs).await.unwrap_err();
        assert!(matches!(error, Error::Store(_)) && error.is_retryable(), "{error}");
        assert_eq!(tonic::Status::from(error).code(), tonic::Code::Unavailable);
        let answers = std::future::ready(Ok::<_, StoreError>(7));
        assert_eq!(gateway.in_time(&session, answers).await.unwrap(), 7);
    }
}
