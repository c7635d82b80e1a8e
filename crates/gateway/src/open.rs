//! Opens a session: a slot, a manifest, queues, batons, an announcement, in this order.
//!
//! A gateway that dies between two steps leaves what the same request, said again to any gateway,
//! goes on from. If nobody says it again, janitors find a slot without a session, or a session
//! without a client.

use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::Schema;
use caudal_broker::SessionEvent;
use caudal_core::{Failure, SessionId, limits};
use caudal_protocol::calls::{OpenReply, OpenRequest, QueryShape, TableNeeds};
use caudal_protocol::manifest::Manifest;
use caudal_protocol::schema;
use caudal_runtime::failpoint::hit;
use caudal_runtime::time::{timeout, wall_ms};
use caudal_store::slots::{self, Take};
use caudal_store::{Created, SessionRecords, Standing};
use sha2::{Digest, Sha256};

use crate::gateway::{SESSION_ID_DIGITS, over};
use crate::open_sessions::OpenSession;
use crate::planning;
use crate::tokens::{Owner, hex};
use crate::{Error, Gateway};

/// Hexadecimal digits of a nonce.
const NONCE_DIGITS: std::ops::RangeInclusive<usize> = 32..=128;

impl Gateway {
    /// Opens a session, or finds the one that this request has opened before.
    pub async fn open(&self, owner: &Owner, request: OpenRequest) -> Result<OpenReply, Error> {
        check(&request)?;
        let session = session_of(&request.nonce, owner);
        let records = self.records_of(&session);
        let open = match self.in_time(&session, records.standing()).await? {
            Some(Standing::Over(tombstone)) => return Err(over(tombstone)),
            Some(Standing::Open(manifest)) => self.found(manifest, &request).await?,
            None => match self.write_down(owner, &records, &request).await {
                Err(Error::Planning(planning::Error::Refused(refusals))) => {
                    return Ok(refused(session, &request, refusals));
                }
                written => written?,
            },
        };
        // Whose client has attached once has had its queues: one that is missing now is missed, with what was in it, by whoever has
        // the client, unless somebody who comes late to this makes it again.
        if self.in_time(&session, records.latest_lease()).await?.is_none() {
            self.make_queues(&open).await?;
        }
        hit("open.announced");
        self.in_time(&session, self.check_still_open(&records)).await?;
        Ok(reply(&open))
    }

    /// Queues, and the event that they are there. A broker that cannot be reached is waited for for minutes. A client
    /// does not wait that long, nor do the janitors, for whom nobody is attached yet.
    async fn make_queues(&self, open: &OpenSession) -> Result<(), Error> {
        let most = Duration::from_millis(limits::OPEN_QUEUES_MS_MAX);
        let making = async {
            open.session.make_queues(limits::CLUSTER_MAP_THREADS).await?;
            self.broker.announce(SessionEvent::Opened(open.manifest.session.clone())).await
        };
        let made = timeout(most, making).await;
        let seconds = most.as_secs();
        let late = |_| caudal_broker::Error::Lost { reason: format!("no queues in {seconds} s") };
        // Made, and gone again: the broker has forgotten it, or the session has ended. To open again finds out.
        let forgotten = |error| match error {
            caudal_broker::Error::NoQueue { queue } => {
                caudal_broker::Error::Lost { reason: format!("queue {queue} is gone again") }
            }
            error => error,
        };
        Ok(made.map_err(late)?.map_err(forgotten)?)
    }

    /// The session is there: this request was made before.
    async fn found(
        &self,
        manifest: Manifest,
        request: &OpenRequest,
    ) -> Result<Arc<OpenSession>, Error> {
        if manifest.tables != request.tables || manifest.queries != request.queries {
            let reason = "it was used for a session with other tables or queries".to_string();
            return Err(Error::BadRequest { what: "the nonce", reason });
        }
        self.remember(manifest).await
    }

    async fn write_down(
        &self,
        owner: &Owner,
        records: &SessionRecords,
        request: &OpenRequest,
    ) -> Result<Arc<OpenSession>, Error> {
        let mut manifest = Manifest {
            session: records.session().clone(),
            tables: request.tables.clone(),
            queries: request.queries.clone(),
            shards: request.shards.unwrap_or(self.settings.shards),
            started_ms: wall_ms(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            fingerprint: String::new(),
            owner: owner.as_str().to_string(),
        };
        // Before anything is taken: most refusals come from here.
        let outline = self.plan(&manifest).await?;
        manifest.fingerprint.clone_from(&outline.fingerprint);
        let (sessions_max, tenant) = (self.settings.sessions_max, self.settings.tenant(owner));
        let slot = slots::take(self.store.as_ref(), records.session(), tenant, sessions_max);
        match self.in_time(records.session(), slot).await? {
            Take::Taken => {}
            Take::NoneFree => return Err(Error::TooManySessions { sessions_max }),
            Take::ShareTaken(sessions) => return Err(Error::ShareTaken { sessions }),
        }
        hit("open.slot");
        let created = self.in_time(records.session(), records.create_manifest(&manifest)).await?;
        hit("open.manifest");
        match created {
            Created::New => Ok(self.remember_planned(manifest, outline)),
            // The same request, said twice at the same time. Its manifest may have another start.
            Created::Exists => match self.in_time(records.session(), records.standing()).await? {
                Some(Standing::Open(first)) => self.found(first, request).await,
                Some(Standing::Over(tombstone)) => Err(over(tombstone)),
                None => Err(Error::NoSession { session: records.session().clone() }),
            },
        }
    }

    /// A gateway that slept in the middle of an open may have brought back what has ended meanwhile.
    pub(crate) async fn check_still_open(&self, records: &SessionRecords) -> Result<(), Error> {
        let Some(tombstone) = records.tombstone().await? else { return Ok(()) };
        self.clean_up(&tombstone).await?;
        Err(over(tombstone))
    }
}

fn check(request: &OpenRequest) -> Result<(), Error> {
    let bad = |what, reason| Err(Error::BadRequest { what, reason });
    let nonce = &request.nonce;
    if !NONCE_DIGITS.contains(&nonce.len()) || !nonce.bytes().all(|b| b.is_ascii_hexdigit()) {
        let (least, most) = NONCE_DIGITS.into_inner();
        return bad("the nonce", format!("it should be {least} to {most} hexadecimal digits"));
    }
    if request.tables.len() > limits::TABLES_MAX {
        let (is, max) = (request.tables.len(), limits::TABLES_MAX);
        return bad("the tables", format!("{is} in one session, where {max} are the most"));
    }
    if request.shards == Some(0) {
        return bad("the number of shards", "there must be one at least".to_string());
    }
    Ok(())
}

/// The same for the same request of the same owner, and not to be found out by anybody else.
fn session_of(nonce: &str, owner: &Owner) -> SessionId {
    let hash = Sha256::new().chain_update(nonce).chain_update([0]).chain_update(owner.as_str());
    SessionId(hex(&hash.finalize()[..SESSION_ID_DIGITS / 2]))
}

fn reply(open: &OpenSession) -> OpenReply {
    let outline = &open.session.outline;
    OpenReply {
        session: open.manifest.session.clone(),
        tables: outline.tables.iter().map(|table| table.needs.clone()).collect(),
        queries: outline.queries.clone(),
        fingerprint: open.manifest.fingerprint.clone(),
    }
}

/// The answer where not one query can be answered: nothing was opened.
fn refused(session: SessionId, request: &OpenRequest, refusals: Vec<Failure>) -> OpenReply {
    let tables = request.tables.iter().map(|table| TableNeeds {
        name: table.name.clone(),
        needed: false,
        columns: vec![],
        // It could be planned with, or its table would be what is refused.
        schema: Arc::new(schema::decode(&table.schema).unwrap_or_else(|_| Schema::empty())),
        rows: None,
    });
    let nothing = Arc::new(Schema::empty());
    let queries = request.queries.iter().zip(refusals).map(|(query, refusal)| QueryShape {
        name: query.name.clone(),
        schema: Arc::clone(&nothing),
        sources: vec![],
        refused: Some(refusal),
    });
    let (tables, queries) = (tables.collect(), queries.collect());
    OpenReply { session, tables, queries, fingerprint: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_nonce_and_owner() {
        let (one, two) = (Owner::of_token("one"), Owner::of_token("two"));
        let nonce = "00112233445566778899aabbccddeeff";
        assert_eq!(session_of(nonce, &one), session_of(nonce, &one));
        assert_ne!(session_of(nonce, &one), session_of(nonce, &two));
        assert_ne!(session_of(nonce, &one), session_of(&nonce.replace("00", "01"), &one));
        assert_eq!(session_of(nonce, &one).0.len(), SESSION_ID_DIGITS);
    }

    #[test]
    fn a_request_that_could_be_guessed_or_divided_by_nothing_is_refused() {
        let request = |nonce: &str, shards| OpenRequest {
            nonce: nonce.to_string(),
            tables: vec![],
            queries: vec![],
            shards,
        };
        let nonce = "f".repeat(32);
        assert!(check(&request(&nonce, None)).is_ok());
        assert!(check(&request(&nonce, Some(0))).is_err());
        for bad in ["", "abc", &"g".repeat(32), &"f".repeat(129)] {
            assert!(check(&request(bad, None)).is_err(), "{bad}");
        }
    }
}
