//! Outputs of completed stages, each committed at most once.
//!
//! ```text
//! <folder>/out/<key>/<attempt>/<index>   a body of one attempt
//! <folder>/out/<key>.commit              which attempt it is and how many bodies; or the bodies, so that a small
//!                                        output is one file, and no folder has to be made for it
//! ```
//!
//! Two processes may complete a stage at once and divide its rows differently. Each writes under an
//! attempt of its own; the commit is created if absent, so there is one. A process that finds it uses what
//! it names, never its own. What losing attempts wrote goes away with the session.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use caudal_core::limits;
use caudal_runtime::failpoint::{self, knob};
use serde::{Deserialize, Serialize};

use crate::allowance::Allowance;
use crate::error::Error;
use crate::mutants;
use crate::sealed::{seal, unseal};
use crate::store::{Created, Store};

/// One attempt at an output.
pub struct OutputWriter {
    store: Arc<dyn Store>,
    folder: String,
    attempt: u64,
    /// Bodies that are objects already; those after them are still in memory.
    written: u64,
    unwritten: VecDeque<Bytes>,
    unwritten_bytes: usize,
    /// Of those that are objects already.
    written_bytes: u64,
    inline_bytes: usize,
    allowance: Option<Allowance>,
}

/// The output that counts.
pub struct Committed {
    store: Arc<dyn Store>,
    folder: String,
    bodies: Bodies,
}

enum Bodies {
    Inline(Vec<Bytes>),
    Objects { attempt: u64, count: u64, bytes: u64 },
}

/// The header of a commit.
#[derive(Serialize, Deserialize)]
#[serde(tag = "bodies", rename_all = "snake_case")]
enum Commit {
    /// Bodies of these lengths follow, one after the other.
    Inline { lengths: Vec<usize> },
    /// They are objects of their own, of so many bytes. Earlier versions did not say.
    Objects {
        attempt: u64,
        count: u64,
        #[serde(default)]
        bytes: u64,
    },
}

/// The header of a body's object.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    attempt: u64,
    index: u64,
}

/// The output `key`, if it is committed.
pub async fn committed(
    store: Arc<dyn Store>,
    folder: &str,
    key: &str,
) -> Result<Option<Committed>, Error> {
    let folder = output_folder(folder, key);
    match store.get(&commit_name(&folder)).await? {
        Some(object) => Ok(Some(Committed::read_commit(store, folder, &object)?)),
        None => Ok(None),
    }
}

/// Writes rows of the output `key` that are known before it is complete, under an attempt of their own.
pub async fn write_early(
    store: &dyn Store,
    folder: &str,
    key: &str,
    body: Bytes,
    allowance: &Allowance,
) -> Result<u64, Error> {
    let (folder, place) =
        (output_folder(folder, key), Place { attempt: fastrand::u64(..), index: 0 });
    let object = seal(&place, &[body]);
    allowance.take_output(&folder, object.len() as u64)?;
    store.put(&body_name(&folder, &place), object).await?;
    Ok(place.attempt)
}

/// Rows that [`write_early`] has written.
pub async fn read_early(
    store: &dyn Store,
    folder: &str,
    key: &str,
    attempt: u64,
) -> Result<Bytes, Error> {
    read_body(store, &output_folder(folder, key), &Place { attempt, index: 0 }).await
}

async fn read_body(store: &dyn Store, folder: &str, place: &Place) -> Result<Bytes, Error> {
    let name = body_name(folder, place);
    let object = store.get(&name).await?.ok_or_else(|| Error::gone(&name))?;
    let (found, body): (Place, Bytes) = unseal(&name, &object)?;
    if found != *place {
        return Err(Error::corrupt(&name, format!("it is {found:?}")));
    }
    Ok(body)
}

impl OutputWriter {
    pub fn new(store: Arc<dyn Store>, folder: &str, key: &str) -> Self {
        Self {
            store,
            folder: output_folder(folder, key),
            attempt: fastrand::u64(..),
            written: 0,
            unwritten: VecDeque::new(),
            unwritten_bytes: 0,
            written_bytes: 0,
            inline_bytes: knob("output_inline_bytes", limits::OUTPUT_INLINE_BYTES),
            allowance: None,
        }
    }

    /// What it writes counts.
    pub fn within(self, allowance: Allowance) -> Self {
        Self { allowance: Some(allowance), ..self }
    }

    /// Adds a body. It is part of the output also where writing it failed: to commit tries again.
    pub async fn push(&mut self, body: Bytes) -> Result<(), Error> {
        self.unwritten_bytes += body.len();
        self.unwritten.push_back(body);
        let is_small = self.written == 0 && self.unwritten_bytes < self.inline_bytes;
        if is_small { Ok(()) } else { self.write_bodies().await }
    }

    /// Commits this attempt, unless there is a commit already: that one is the output then.
    pub async fn commit(mut self) -> Result<Committed, Error> {
        let is_small = self.written == 0 && self.unwritten_bytes < self.inline_bytes;
        let object = if is_small {
            if let Some(allowance) = &self.allowance {
                allowance.take_output(&self.folder, self.unwritten_bytes as u64)?;
            }
            let lengths = self.unwritten.iter().map(Bytes::len).collect();
            seal(&Commit::Inline { lengths }, self.unwritten.make_contiguous())
        } else {
            self.write_bodies().await?;
            let (attempt, count, bytes) = (self.attempt, self.written, self.written_bytes);
            seal(&Commit::Objects { attempt, count, bytes }, &[])
        };

        failpoint::hit("outputs.before_commit");
        let name = commit_name(&self.folder);
        let created = self.store.create(&name, object.clone()).await?;
        let object = match mutants::output_uncommitted(created) {
            Created::New => object,
            Created::Exists => self.store.get(&name).await?.ok_or_else(|| Error::gone(&name))?,
        };
        failpoint::hit("outputs.committed");
        Committed::read_commit(self.store, self.folder, &object)
    }

    async fn write_bodies(&mut self) -> Result<(), Error> {
        while let Some(body) = self.unwritten.front() {
            let place = Place { attempt: self.attempt, index: self.written };
            let object = seal(&place, std::slice::from_ref(body));
            let bytes = object.len() as u64;
            if let Some(allowance) = &self.allowance {
                allowance.take_output(&self.folder, bytes)?;
            }
            self.store.put(&body_name(&self.folder, &place), object).await?;
            self.unwritten.pop_front();
            self.written += 1;
            self.written_bytes += bytes;
        }
        Ok(())
    }
}

impl Committed {
    fn read_commit(store: Arc<dyn Store>, folder: String, object: &Bytes) -> Result<Self, Error> {
        let name = commit_name(&folder);
        let bodies = match unseal(&name, object)? {
            (Commit::Objects { attempt, count, bytes }, _) => {
                Bodies::Objects { attempt, count, bytes }
            }
            (Commit::Inline { lengths }, mut body) => {
                if lengths.iter().sum::<usize>() != body.len() {
                    return Err(Error::corrupt(&name, "its bodies are not as long as it says"));
                }
                Bodies::Inline(lengths.into_iter().map(|length| body.split_to(length)).collect())
            }
        };
        Ok(Self { store, folder, bodies })
    }

    /// The number of its bodies.
    pub fn len(&self) -> u64 {
        match &self.bodies {
            Bodies::Inline(bodies) => bodies.len() as u64,
            Bodies::Objects { count, .. } => *count,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it takes of the store.
    pub fn bytes(&self) -> u64 {
        match &self.bodies {
            Bodies::Inline(bodies) => bodies.iter().map(|body| body.len() as u64).sum(),
            Bodies::Objects { bytes, .. } => *bytes,
        }
    }

    /// One of its bodies, in the order in which they were pushed.
    pub async fn read(&self, index: u64) -> Result<Bytes, Error> {
        assert!(index < self.len(), "there are {} bodies, no body {index}", self.len());
        let attempt = match &self.bodies {
            Bodies::Inline(bodies) => return Ok(bodies[index as usize].clone()),
            Bodies::Objects { attempt, .. } => *attempt,
        };
        read_body(&*self.store, &self.folder, &Place { attempt, index }).await
    }
}

fn output_folder(folder: &str, key: &str) -> String {
    format!("{folder}/out/{key}")
}

fn commit_name(folder: &str) -> String {
    format!("{folder}.commit")
}

fn body_name(folder: &str, place: &Place) -> String {
    format!("{folder}/{:016x}/{:010}", place.attempt, place.index)
}
