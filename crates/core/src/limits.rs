//! Every bound of the system, in one place, with its unit in its name.

/// Bytes of CSV in one fragment: big enough that a run's fixed cost vanishes, small enough that a
/// few of them per core fit into memory and caches.
pub const FRAGMENT_CSV_BYTES: usize = 4 << 20;

/// The longest record a CSV file may hold.
pub const CSV_RECORD_BYTES_MAX: usize = 256 << 20;

/// Table fragments that may wait for a map worker, for each compute thread.
pub const MAP_QUEUE_FRAGMENTS_PER_THREAD: usize = 2;

/// Messages that may wait for a shard before its publishers are refused.
pub const SHARD_QUEUE_MESSAGES_MAX: usize = 64;

/// Bytes of one message: what one fragment sends to one shard is divided into parts of this size.
pub const MESSAGE_BYTES: usize = 8 << 20;

/// Bytes of one message on the wire, whatever it holds: below what every broker takes.
pub const WIRE_BYTES_MAX: usize = 15 << 20;

/// Memory that the rows of one message may take once they are decompressed.
pub const BATCH_MEMORY_BYTES_MAX: usize = 256 << 20;

/// How long a broker may be away before those who wait for it give up.
pub const BROKER_AWAY_SECONDS_MAX: u64 = 300;

/// A connection to the broker on which nothing was heard for twice as long is taken for dead.
pub const BROKER_HEARTBEAT_SECONDS: u16 = 5;

/// Messages of a process on their way to the broker, not yet confirmed.
pub const PUBLISHES_IN_FLIGHT_MAX: usize = 64;

/// Their bytes.
pub const PUBLISH_BYTES_IN_FLIGHT_MAX: usize = 32 << 20;

/// A queue that nobody has consumed from for so long was forgotten, and the broker removes it.
pub const QUEUE_UNUSED_HOURS_MAX: u32 = 24;

/// Deliveries a consumer holds unacknowledged.
pub const PREFETCH_MESSAGES: usize = 16;

/// Rows of a result or of a shard's output in one fragment.
pub const OUTPUT_FRAGMENT_ROWS: usize = 64 << 10;

/// Bytes of results a session may leave unread before it fails.
pub const RESULT_QUOTA_BYTES: usize = 4 << 30;

/// Rows gathered by a shard input before its partial states are merged for the first time.
pub const MERGE_ROWS_MIN: usize = 64 << 10;

/// Rows that must have come in before a stage that may answer early is looked at again.
pub const EARLY_ROWS_MIN: usize = 4 << 10;

/// Gathered batches that are joined into one, so that many small fragments do not cost their
/// overhead for the rest of the session.
pub const GATHER_BATCHES_MAX: usize = 256;

/// Shards of a session on a cluster whose client does not say how many.
pub const SHARDS_DEFAULT: usize = 4;

/// Shards a session may have.
pub const SHARDS_MAX: usize = 256;

/// Queries in one session.
pub const QUERIES_MAX: usize = 256;

/// Bytes of one SQL text.
pub const SQL_BYTES_MAX: usize = 1 << 20;

/// Memory for a run when the user sets none.
pub const MEMORY_BYTES_DEFAULT: usize = 4 << 30;

/// Rejected rows described one by one; the rest is counted.
pub const REJECTS_DESCRIBED_MAX: usize = 10;

/// Bytes of messages that a shard takes and writes down at once.
pub const RECORD_BYTES: usize = 16 << 20;

/// Time that a shard waits for more of the same before it writes down what it has.
pub const RECORD_LINGER_MS: u64 = 100;

/// Records after which a shard's journal is replaced by a snapshot, where that is shorter.
pub const SNAPSHOT_RECORDS: u64 = 64;

/// Gathered rows that are written as a snapshot at most: it is made in memory.
pub const SNAPSHOT_BYTES_MAX: u64 = 128 << 20;

/// Bytes that the journals of a session may take.
pub const JOURNAL_BYTES_MAX: u64 = 256 << 30;

/// Messages of a committed output that are on their way at the same time.
pub const OUTPUTS_IN_FLIGHT: usize = 8;

/// Within this time all workers subscribe to a new session's shards, each in its own order.
pub const SHARD_SPREAD_MS: u64 = 200;

/// A shard's baton is replaced by a new one: well below the half hour after which RabbitMQ takes a
/// consumer that acknowledges nothing for stuck.
pub const BATON_RENEW_SECONDS: u64 = 600;

/// Workers that may have died of one fragment before its session fails.
pub const FRAGMENT_DEATHS_MAX: u32 = 3;

/// Owners that a shard may lose in a row, with work in hand, before its session fails.
pub const SHARD_DEATHS_MAX: usize = 10;

/// Failures in a row after which a worker gives a session up.
pub const WORKER_RETRIES_MAX: u32 = 10;

/// How often workers look for sessions of which they have not been told.
pub const SESSIONS_POLL_MS: u64 = 2000;

/// What a process that is told to leave has to finish what is in hand.
pub const LEAVE_MS: u64 = 3000;

/// Bytes of one record of a journal: what a loader must be able to hold at once.
pub const JOURNAL_RECORD_BYTES_MAX: usize = 1 << 30;

/// Records of a journal that are fetched before they are asked for.
pub const JOURNAL_READ_AHEAD_RECORDS: usize = 4;

/// Records of a journal that are compacted at once: to sync several costs a disk little more than one.
pub const JOURNAL_COMPACTIONS_AT_ONCE: usize = 8;

/// Output of a stage that is kept within its commit, so that a small one costs one write.
pub const OUTPUT_INLINE_BYTES: usize = 256 << 10;

/// How long one request to a remote store may take.
pub const STORE_REQUEST_MS_MAX: u64 = 20_000;

/// How often, and for how long, a request that a remote store could not answer is made again.
pub const STORE_RETRIES_MAX: usize = 8;
pub const STORE_RETRY_MS_MAX: u64 = 30_000;

/// How long any call to a remote store may take, with its retries and all the pages of a list.
pub const STORE_CALL_MS_MAX: u64 = 60_000;

/// Directories that a store remembers to have synced; beyond that it forgets them all.
pub const STORE_DIRECTORIES_MAX: usize = 4096;

/// Bytes of CSV in one fragment on a cluster: what is lost and sent again is less, and several of
/// them in each queue are little memory.
pub const CLUSTER_FRAGMENT_CSV_BYTES: usize = 2 << 20;

/// Bytes of rows for which a fragment on a cluster is worth its way: one or two megabytes when it is packed.
pub const CLUSTER_FRAGMENT_BYTES: usize = 8 << 20;

/// Bytes of rows that a client joins into one fragment at most: well below what a message may hold, packed or not.
pub const GATHER_BYTES_MAX: usize = 10 << 20;

/// Bytes of CSV that a client joins into one fragment at most.
pub const GATHER_CSV_BYTES_MAX: u64 = 16 << 20;

/// Fragments that a table has at least, if it has so many chunks: work for many.
pub const TABLE_FRAGMENTS_MIN: u64 = 64;

/// Bytes of what a client says beside the rows of a fragment: its number, and the encoding of each column.
pub const PUT_METADATA_BYTES_MAX: usize = 1 << 20;

/// Fragments of a table that a client has sent and that are not yet safe.
pub const PUT_WINDOW_FRAGMENTS: usize = 16;

/// How long a client goes on without any gateway.
pub const GATEWAY_AWAY_SECONDS_MAX: u64 = 120;

/// How long a client looks for its first gateway: an address is more likely wrong than away.
pub const GATEWAY_FIRST_SECONDS_MAX: u64 = 20;

/// Operators in one chain of a query: the depth of its expression.
pub const EXPRESSION_TERMS_MAX: usize = 1000;

/// Tables in one session.
pub const TABLES_MAX: usize = 256;

/// Sessions of a cluster at the same time, when its operator sets no other number.
pub const SESSIONS_MAX: usize = 8;

/// When a client that found no capacity for its session may ask again.
pub const SESSIONS_RETRY_MS: u64 = 2000;

/// How long one run of a client of `caudal clients` may take before it counts as a hang.
pub const CLIENT_RUN_SECONDS_MAX: u64 = 600;

/// Compute threads that a cluster is taken to have, for the length of its queues of fragments.
pub const CLUSTER_MAP_THREADS: usize = 16;

/// Packed bytes of the batches of one session that a gateway has in hand.
pub const PUT_MEMORY_BYTES_MAX: u32 = 32 << 20;

/// Rows of one fragment: some types take no bytes for a row.
pub const FRAGMENT_ROWS_MAX: usize = 16 << 20;

/// How often a gateway writes down that it has a session's client, and looks how the session is.
pub const LEASE_RENEW_MS: u64 = 1000;

/// How often a gateway looks for sessions without a client, and for what ended ones left.
pub const JANITOR_TICK_MS: u64 = 1000;

/// How much of the time between two looks counts as watched. What a stopped process, or a store that
/// did not answer, kept a janitor from seeing does not.
pub const WATCH_GAP_MS_MAX: u64 = 2000;

/// How long a session may be without its client before it is closed.
pub const GRACE_SECONDS: u64 = 30;

/// How long a gateway tries to make a session's queues: a client that waits could go to another, and
/// within the grace.
pub const OPEN_QUEUES_MS_MAX: u64 = 10_000;

/// Time that a session waits for its first worker.
pub const UNCLAIMED_SECONDS_MAX: u64 = 120;

/// How long the end of a session is remembered: longer than any process may have been frozen that
/// still believes in it.
pub const TOMBSTONE_HOURS: i64 = 24;

/// How often what is remembered is looked through.
pub const TOMBSTONE_SWEEP_SECONDS: u64 = 3600;

/// Connections to a gateway, and streams on each: a client has one for each of its queries.
pub const GATEWAY_CONNECTIONS_MAX: usize = 1024;
pub const GATEWAY_STREAMS_MAX: u32 = 1024;

/// Bytes of the headers of a request to a gateway.
pub const GATEWAY_HEADER_BYTES_MAX: u32 = 16 << 10;

/// Bytes that a gateway takes from a stream, and from a connection, before it has read them.
pub const GATEWAY_STREAM_WINDOW_BYTES: u32 = 4 << 20;
pub const GATEWAY_CONNECTION_WINDOW_BYTES: u32 = 8 << 20;

/// Bytes of the pieces in which a client may send: each is work for both ends.
pub const GATEWAY_FRAME_BYTES: u32 = 1 << 20;

/// Both ends of a connection ask each other so often whether they are there, and wait so long for the
/// answer.
pub const KEEPALIVE_MS: u64 = 5000;

/// How long a new connection may say nothing.
pub const GATEWAY_FIRST_BYTES_MS: u64 = 10_000;

/// Bytes of each text that goes into the headers of an error.
pub const ERROR_TEXT_BYTES_MAX: usize = 2 << 10;
