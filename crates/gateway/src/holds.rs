//! Which gateway has a session's client.
//!
//! Each attach takes a higher epoch by creating its object, and rewrites that object again and again
//! for as long as the client is there. Whoever sees a higher epoch than its own lets go. Nobody's clock
//! is compared with another's: that a hold is alive is seen by its changing.

use std::sync::Arc;

use caudal_core::{Objects, manifest};
use caudal_journal::{Created, Store};

use crate::{Error, records};

/// A client that this process has.
pub struct Hold {
    store: Arc<dyn Store>,
    objects: Objects,
    pub epoch: u64,
    record: manifest::Hold,
}

/// The hold that counts, as anybody sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub epoch: u64,
    /// None if it was replaced while we looked.
    pub by: Option<manifest::Hold>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    Kept,
    /// Somebody has a higher epoch.
    Lost {
        epoch: u64,
    },
}

impl Hold {
    /// Takes the client over from whoever had it.
    pub async fn take(
        store: Arc<dyn Store>,
        objects: Objects,
        gateway: &str,
    ) -> Result<Self, Error> {
        let record = manifest::Hold { gateway: gateway.to_string(), beat: 0 };
        let older = store.list(&objects.holds()).await?;
        let mut epoch = older.last().map_or(0, |name| epoch_of(name)) + 1;
        while store.create(&objects.hold(epoch), records::to_body(&record)).await?
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
        let names = self.store.list(&self.objects.holds()).await?;
        let highest = names.last().map_or(0, |name| epoch_of(name));
        if highest > self.epoch {
            return Ok(Renewed::Lost { epoch: highest });
        }
        self.record.beat += 1;
        let body = records::to_body(&self.record);
        self.store.put(&self.objects.hold(self.epoch), body).await?;
        Ok(Renewed::Kept)
    }
}

/// The hold that counts, if the session ever had one.
pub async fn latest(store: &dyn Store, objects: &Objects) -> Result<Option<Held>, Error> {
    let names = store.list(&objects.holds()).await?;
    let Some(name) = names.last() else { return Ok(None) };
    Ok(Some(Held { epoch: epoch_of(name), by: records::read(store, name).await? }))
}

/// Names are in the order of their epochs. One that is none is nobody's.
fn epoch_of(name: &str) -> u64 {
    name.rsplit('/').next().and_then(|epoch| epoch.parse().ok()).unwrap_or(0)
}
