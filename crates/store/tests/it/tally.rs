//! State of a shard of the tests: the numbers it has been given, in order.

use std::sync::Arc;

use bytes::Bytes;
use caudal_store::{Error, Journal, Loader, Record, Store};

pub const FOLDER: &str = "sessions/test/shards/0";
pub const BYTES_MAX: u64 = 1 << 20;

pub struct Tally {
    pub journal: Journal,
    pub numbers: Vec<u32>,
}

impl Tally {
    pub async fn load(store: Arc<dyn Store>) -> Result<Self, Error> {
        let mut loader = Loader::open(store, FOLDER, BYTES_MAX).await?;
        let mut numbers = vec![];
        while let Some(record) = loader.next().await? {
            match record {
                Record::Snapshot(body) => numbers = decode(&body),
                Record::Entry(body) => numbers.extend(decode(&body)),
            }
        }
        Ok(Self { journal: loader.into_journal(), numbers })
    }

    pub async fn append(&mut self, number: u32) -> Result<(), Error> {
        self.journal.append(encode(&[number])).await?;
        self.numbers.push(number);
        Ok(())
    }

    pub async fn snapshot(&mut self) -> Result<(), Error> {
        self.journal.snapshot(encode(&self.numbers)).await
    }
}

pub fn encode(numbers: &[u32]) -> Bytes {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>().into()
}

pub fn decode(body: &[u8]) -> Vec<u32> {
    body.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}
