//! What survives a process: objects in a store, and each shard's journal in them.

mod store;

pub use store::{Created, Store, StoreError};
