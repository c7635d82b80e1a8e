//! What gateways write into the store and read from it: JSON.

use bytes::Bytes;
use caudal_store::Store;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

pub fn to_body(record: &impl Serialize) -> Bytes {
    serde_json::to_vec(record).expect("records are plain data").into()
}

pub async fn read<T: DeserializeOwned>(store: &dyn Store, name: &str) -> Result<Option<T>, Error> {
    let Some(body) = store.get(name).await? else { return Ok(None) };
    let record = serde_json::from_slice(&body)
        .map_err(|error| Error::BadObject { name: name.to_string(), reason: error.to_string() })?;
    Ok(Some(record))
}
