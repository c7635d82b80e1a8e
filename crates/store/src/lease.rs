//! The lease on a session: which gateway has its client.
//!
//! Each attach takes a higher epoch by creating its object, and rewrites that object again and again
//! for as long as the client is there. A gateway that sees a higher epoch than its own lets go. Nobody's
//! clock is compared with another's: a lease is alive as long as its heartbeat changes.

use caudal_protocol::manifest;

use crate::session::{SessionRecords, read, to_body};
use crate::store::{Created, StoreError};

/// A lease that this process renews.
pub struct Lease {
    records: SessionRecords,
    pub epoch: u64,
    record: manifest::Lease,
}

/// The lease with the highest epoch, which is the one that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestLease {
    pub epoch: u64,
    /// None if it was replaced while we looked.
    pub record: Option<manifest::Lease>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    Kept,
    /// Another attach has a higher epoch.
    Lost {
        epoch: u64,
    },
}

impl Lease {
    /// Takes the client over from the gateway that had it.
    pub async fn take(records: SessionRecords, gateway: &str) -> Result<Self, StoreError> {
        let record = manifest::Lease { gateway: gateway.to_string(), heartbeat: 0 };
        let (store, objects) = (records.store.as_ref(), &records.objects);
        let older = store.list(&objects.leases()).await?;
        let mut epoch = older.last().map_or(0, |name| epoch_of(name)) + 1;
        while store.create(&objects.lease(epoch), to_body(&record)).await? == Created::Exists {
            epoch += 1;
        }
        for name in older {
            store.delete(&name).await?;
        }
        Ok(Self { records, epoch, record })
    }

    /// Says that the client is still there, unless another gateway has it by now.
    pub async fn renew(&mut self) -> Result<Renewed, StoreError> {
        let (store, objects) = (self.records.store.as_ref(), &self.records.objects);
        let names = store.list(&objects.leases()).await?;
        let highest = names.last().map_or(0, |name| epoch_of(name));
        if highest > self.epoch {
            return Ok(Renewed::Lost { epoch: highest });
        }
        self.record.heartbeat += 1;
        store.put(&objects.lease(self.epoch), to_body(&self.record)).await?;
        Ok(Renewed::Kept)
    }
}

impl SessionRecords {
    /// The lease with the highest epoch, if the session ever had one.
    pub async fn latest_lease(&self) -> Result<Option<LatestLease>, StoreError> {
        let names = self.store.list(&self.objects.leases()).await?;
        let Some(name) = names.last() else { return Ok(None) };
        let record = read(self.store.as_ref(), name).await?;
        Ok(Some(LatestLease { epoch: epoch_of(name), record }))
    }
}

/// Names are in the order of their epochs. One that is none is nobody's.
fn epoch_of(name: &str) -> u64 {
    name.rsplit('/').next().and_then(|epoch| epoch.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use caudal_core::SessionId;

    use super::*;

    #[tokio::test]
    async fn a_later_lease_takes_over_and_only_heartbeats_change_it() {
        let store = crate::open("memory:").unwrap();
        let records = SessionRecords::new(store, SessionId("s".to_string()));
        assert_eq!(records.latest_lease().await.unwrap(), None);
        let mut first = Lease::take(records.clone(), "one").await.unwrap();
        assert_eq!(first.renew().await.unwrap(), Renewed::Kept);
        let latest = records.latest_lease().await.unwrap().unwrap();
        let record = manifest::Lease { gateway: "one".to_string(), heartbeat: 1 };
        assert_eq!(latest, LatestLease { epoch: first.epoch, record: Some(record) });

        let mut second = Lease::take(records.clone(), "two").await.unwrap();
        assert!(second.epoch > first.epoch);
        assert_eq!(first.renew().await.unwrap(), Renewed::Lost { epoch: second.epoch });
        assert_eq!(second.renew().await.unwrap(), Renewed::Kept);
        let latest = records.latest_lease().await.unwrap().unwrap();
        assert_eq!(latest.record.unwrap().gateway, "two");
    }
}
