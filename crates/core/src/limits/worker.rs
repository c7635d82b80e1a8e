//! Workers: how much they take at a time, what they write down when, and when they give up.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { WORKER = "Workers";
    /// Table fragments that may wait for a map worker, for each compute thread.
    MAP_QUEUE_FRAGMENTS_PER_THREAD: usize = 2 => Effect("uploads wait");

    /// Slices into which a fragment is divided of which a function would make too much at once.
    MAP_FRAGMENT_SLICES: usize = 16 => Code(codes::FUNCTION_MAKES_TOO_MUCH);

    /// Bytes of rows that become of such a fragment, of all slices together.
    MAP_OUTPUT_BYTES_MAX: usize = 320 << 20 => Code(codes::FUNCTION_MAKES_TOO_MUCH);

    /// Fragments that a map worker holds: the next one may as well go to another worker.
    MAP_PREFETCH_MESSAGES: usize = 1 => Effect("the fragment is for another worker");

    /// Messages that may wait for a shard before its publishers are refused.
    SHARD_QUEUE_MESSAGES_MAX: usize = 64 => Effect("publishers wait");

    /// Messages that may wait for all shards of a session: what it may take of the broker, beside results.
    SESSION_QUEUE_MESSAGES_MAX: usize = 2048 => Effect("the queues of many shards are shorter");

    /// However many shards there are.
    SHARD_QUEUE_MESSAGES_MIN: usize = 8 => Effect("publishers wait");

    /// Deliveries a consumer holds unacknowledged.
    PREFETCH_MESSAGES: usize = 16 => Effect("the broker keeps the next ones");

    /// Pairs of rows that a nested loop tries at a time: some milliseconds of it.
    PAIRS_AT_ONCE: usize = 1 << 20 => Effect("other stages go on before the next ones");

    /// Threads of a worker that wait for broker and store, and never compute.
    WORKER_IO_THREADS: usize = 2 => Effect("messages wait for a thread");

    /// Fragments of output made ahead of their publishing.
    OUTPUT_AHEAD_FRAGMENTS: usize = 2 => Effect("the stage waits");

    /// Messages of a committed output that are on their way at the same time.
    OUTPUT_MESSAGES_IN_FLIGHT: usize = 8 => Effect("the next ones wait");

    /// How often a stage is run again that found too little memory while others ran in the same process.
    MEMORY_RETRIES_MAX: u32 = 4 => Code(codes::OUT_OF_MEMORY);

    /// The pause before it is; it doubles.
    MEMORY_RETRY_MS_MIN: u64 = 2000 => Effect("the stage is run again");

    /// The longest pause.
    MEMORY_RETRY_MS_MAX: u64 = 30_000 => Effect("the stage is run again");

    /// Bytes of messages that a shard takes and writes down at once.
    RECORD_BYTES: usize = 16 << 20 => Effect("a record is written");

    /// Time that a shard waits for more messages before it writes down those it has.
    RECORD_LINGER_MS: u64 = 100 => Effect("a record is written");

    /// Records after which a shard's journal is replaced by a snapshot, where that is shorter.
    SNAPSHOT_RECORDS: u64 = 64 => Effect("a snapshot is written");

    /// Gathered rows that are written as a snapshot at most: it is made in memory.
    SNAPSHOT_BYTES_MAX: u64 = 128 << 20 => Effect("the journal grows on");

    /// Within this time all workers subscribe to a new session's shards, each in its own order.
    SHARD_SPREAD_MS: u64 = 200 => Effect("shards are spread over workers");

    /// A shard's baton is replaced by a new one: well below the half hour after which RabbitMQ takes a
    /// consumer that acknowledges nothing for stuck.
    BATON_RENEW_SECONDS: u64 = 600 => Effect("the baton is renewed");

    /// Workers that may have died of one fragment before its session fails.
    FRAGMENT_DEATHS_MAX: u32 = 3 => Code(codes::POISON_FRAGMENT);

    /// Owners that a shard may lose in a row, with work in hand, before its session fails.
    SHARD_DEATHS_MAX: usize = 10 => Code(codes::POISON_SHARD);

    /// Failures in a row after which a worker gives a session up: the session fails with the last of them. Calls to the
    /// store do not count: that one worker cannot reach it says nothing about the session.
    WORKER_RETRIES_MAX: u32 = 10 => Effect("the session fails");

    /// The pause after a failure; it doubles with each in a row.
    WORKER_RETRY_MS_MIN: u64 = 20 => Effect("the worker goes on with the session");

    /// The longest pause.
    WORKER_RETRY_MS_MAX: u64 = 1000 => Effect("the worker goes on with the session");

    /// Number of failures whose pause is taken where nothing has failed and there is no hurry.
    WORKER_LATER_FAILURES: u32 = 4 => Effect("the worker goes on with the session");

    /// Interval at which workers look for sessions of which they have not been told.
    SESSIONS_POLL_MS: u64 = 2000 => Effect("a session without its event begins this late");

    /// A computation is long from here on: who waits for it is told what it is.
    LONG_WORK_MS: u64 = 5000 => Effect("caudal status and the client say what it is");

    /// Time that a worker's report of a long computation is believed: it is repeated at every look for sessions.
    LONG_WORK_TOLD_MS: u64 = 7000 => Effect("the client is not told any more");

    /// Time that reporting it may take.
    LONG_WORK_TELL_MS: u64 = 500 => Effect("it is told at the next look for sessions");

    /// Letters of what is said of a computation.
    WORK_LETTERS_MAX: usize = 120 => Effect("the rest is not shown");

    /// Time that a process that is told to leave has to finish what is in hand.
    LEAVE_MS: u64 = 3000 => Effect("another worker goes on");
}
