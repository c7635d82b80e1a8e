//! One record of a journal, as an object.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::sealed::{seal, unseal};
use crate::store::Store;

/// A record of a journal. They come in this order: the snapshot if there is one, then the entries after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Snapshot(Bytes),
    Entry(Bytes),
}

/// The header of a record.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Header {
    Entry(Origin),
    Snapshot(Origin),
    /// Its record is part of a later snapshot. It keeps its number taken.
    #[serde(rename = "stub")]
    Placeholder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub number: u64,
    /// The record that the journal starts from: the last snapshot, or 0.
    pub base: u64,
    /// All records below this number are placeholders. There may be more.
    #[serde(rename = "folded")]
    pub compacted: u64,
    /// Random, so that a writer knows its record from any other.
    pub writer: u64,
}

/// A record as it was found in the store.
pub(crate) struct Found {
    pub origin: Origin,
    pub record: Record,
    pub object_bytes: u64,
}

pub(crate) fn log(folder: &str) -> String {
    format!("{folder}/log")
}

/// Zero-padded, so that names are in the order of their numbers.
pub(crate) fn name(folder: &str, number: u64) -> String {
    format!("{}/{number:020}", log(folder))
}

pub(crate) fn number_of(name: &str) -> Result<u64, Error> {
    let (_, number) = name.rsplit_once('/').unwrap_or(("", name));
    number.parse().map_err(|_| Error::corrupt(name, "it is not a record's name"))
}

pub(crate) fn placeholder() -> Bytes {
    seal(&Header::Placeholder, &[])
}

pub(crate) async fn read(store: &dyn Store, folder: &str, number: u64) -> Result<Found, Error> {
    let name = name(folder, number);
    let object = store.get(&name).await?.ok_or_else(|| Error::gone(&name))?;
    let object_bytes = object.len() as u64;
    let (header, body) = unseal(&name, &object)?;
    let (origin, record) = match header {
        Header::Entry(origin) => (origin, Record::Entry(body)),
        Header::Snapshot(origin) => (origin, Record::Snapshot(body)),
        Header::Placeholder => return Err(Error::Compacted { folder: folder.to_string(), number }),
    };
    let starts_here =
        origin.base == number && (matches!(record, Record::Snapshot(_)) || number == 0);
    let starts_earlier = origin.base < number && matches!(record, Record::Entry(_));
    if origin.number != number || !(starts_here || starts_earlier) {
        return Err(Error::corrupt(&name, format!("it cannot be {origin:?}")));
    }
    Ok(Found { origin, record, object_bytes })
}
