//! Fragments that may have killed a worker.
//!
//! A fragment that is delivered again may have ended the worker that had it. Before it is run again a
//! mark is written, and removed when it is done. So many marks without an end mean that the fragment
//! ends workers: its session fails, and names it, before it takes the whole cluster down.

use bytes::Bytes;
use caudal_core::{FragmentId, limits};
use caudal_journal::Created;

use crate::Error;
use crate::durable::Durable;

/// A run of a fragment that is under way.
pub struct Mark {
    name: String,
}

impl Mark {
    pub async fn begin(durable: &Durable, fragment: FragmentId) -> Result<Self, Error> {
        for run in 0..limits::FRAGMENT_DEATHS_MAX {
            let name = durable.objects.mark(fragment, run);
            let body = Bytes::from(durable.worker.clone());
            if durable.store.create(&name, body).await? == Created::New {
                return Ok(Self { name });
            }
        }
        Err(Error::DeadlyFragment { fragment, deaths: limits::FRAGMENT_DEATHS_MAX })
    }

    pub async fn end(self, durable: &Durable) -> Result<(), Error> {
        Ok(durable.store.delete(&self.name).await?)
    }
}
