//! The store: objects, journals and outputs.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { STORE = "The store";
    /// Bytes that the journals of a session and the outputs of its stages may take together, divided among its shards.
    SESSION_STORE_BYTES_MAX: u64 = 256 << 30 => Code(codes::JOURNAL_TOO_LARGE);

    /// Bytes of one record of a journal: what a loader must be able to hold at once.
    JOURNAL_RECORD_BYTES_MAX: usize = 1 << 30 => Code(codes::JOURNAL_TOO_LARGE);

    /// Records of a journal that are fetched before they are asked for.
    JOURNAL_READ_AHEAD_RECORDS: usize = 4 => Effect("the next ones wait");

    /// Records of a journal that are compacted at once: to sync several costs a disk little more than one.
    JOURNAL_COMPACTIONS_AT_ONCE: usize = 8 => Effect("the next ones wait");

    /// Output of a stage that is kept within its commit, so that a small one costs one write.
    OUTPUT_INLINE_BYTES: usize = 256 << 10 => Effect("the output has objects of its own");

    /// Time that one request to a remote store may take.
    STORE_REQUEST_MS_MAX: u64 = 20_000 => Effect("the request is made again");

    /// Number of times that a request that a remote store could not answer is made again.
    STORE_RETRIES_MAX: usize = 8 => Code(codes::STORE_FAILED);

    /// Time for which a request that a remote store could not answer is made again.
    STORE_RETRY_MS_MAX: u64 = 30_000 => Code(codes::STORE_FAILED);

    /// Time that any call to a store may take, with its retries and all the pages of a list.
    STORE_CALL_MS_MAX: u64 = 60_000 => Code(codes::STORE_FAILED);

    /// Calls to a directory at once; each has a thread, also one that a hung disk does not answer.
    STORE_THREADS_MAX: usize = 128 => Code(codes::STORE_FAILED);

    /// Number of tries of a create that lost against a write of which then nothing is seen.
    STORE_CREATE_TRIES_MAX: usize = 5 => Code(codes::STORE_FAILED);

    /// Number of times that a write to a directory begins again because its folder or its part was removed under it.
    STORE_WRITE_TRIES_MAX: usize = 100 => Code(codes::STORE_FAILED);

    /// Directories that a store remembers to have synced; beyond that it forgets them all.
    STORE_DIRECTORIES_MAX: usize = 4096 => Effect("directories are synced once more");
}
