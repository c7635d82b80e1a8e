//! The lease on a session: which gateway has its client.
//!
//! Each attach takes a higher epoch by creating its object, and rewrites that object again and again
//! for as long as the client is there. Whoever sees a higher epoch than its own lets go. Nobody's clock
//! is compared with another's: a lease is alive as long as its heartbeat changes.

use std::sync::Arc;

use caudal_protocol::{Objects, manifest};
use caudal_store::{Created, Store};

use crate::{Error, records};

/// A lease that this process renews.
pub struct Lease {
    store: Arc<dyn Store>,
    objects: Objects,
    pub epoch: u64,
    record: manifest::Lease,
}

/// The lease with the highest epoch, which is the one that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latest {
    pub epoch: u64,
    /// None if it was replaced while we looked.
    pub record: Option<manifest::Lease>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    Kept,
    /// Somebody has a higher epoch.
    Lost {
        epoch: u64,
    },
}

impl Lease {
    /// Takes the client over from whoever had it.
    pub async fn take(
        store: Arc<dyn Store>,
        objects: Objects,
        gateway: &str,
    ) -> Result<Self, Error> {
        let record = manifest::Lease { gateway: gateway.to_string(), heartbeat: 0 };
        let older = store.list(&objects.leases()).await?;
        let mut epoch = older.last().map_or(0, |name| epoch_of(name)) + 1;
        while store.create(&objects.lease(epoch), records::to_body(&record)).await?
            == Created::Exists
        {
            epoch += 1;
        }
        for name in older {
            store.delete(&name).await?;
        }
        Ok(Self { store, objects, epoch, record })
    }

    /// Says that the client is still there, unless somebody else has it by now.
    pub async fn renew(&mut self) -> Result<Renewed, Error> {
        let names = self.store.list(&self.objects.leases()).await?;
        let highest = names.last().map_or(0, |name| epoch_of(name));
        if highest > self.epoch {
            return Ok(Renewed::Lost { epoch: highest });
        }
        self.record.heartbeat += 1;
        let body = records::to_body(&self.record);
        self.store.put(&self.objects.lease(self.epoch), body).await?;
        Ok(Renewed::Kept)
    }
}

/// The lease with the highest epoch, if the session ever had one.
pub async fn latest(store: &dyn Store, objects: &Objects) -> Result<Option<Latest>, Error> {
    let names = store.list(&objects.leases()).await?;
    let Some(name) = names.last() else { return Ok(None) };
    Ok(Some(Latest { epoch: epoch_of(name), record: records::read(store, name).await? }))
}

/// Names are in the order of their epochs. One that is none is nobody's.
fn epoch_of(name: &str) -> u64 {
    name.rsplit('/').next().and_then(|epoch| epoch.parse().ok()).unwrap_or(0)
}
