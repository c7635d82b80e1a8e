//! Clients of a cluster: what they send ahead, and how long they wait for gateways.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { CLIENT = "Clients";
    /// Bytes of rows for which a fragment on a cluster is worth its way: one or two megabytes when it is packed.
    CLUSTER_FRAGMENT_BYTES: usize = 8 << 20 => Effect("chunks of a file are joined up to it");

    /// Bytes of rows that a client joins into one fragment at most: well below what a message may hold, packed or not.
    GATHER_BYTES_MAX: usize = 10 << 20 => Effect("a fragment is sent");

    /// Bytes of CSV that a client joins into one fragment at most.
    GATHER_CSV_BYTES_MAX: u64 = 16 << 20 => Effect("a fragment is sent");

    /// Fragments that a table has at least, if it has so many chunks: work for many.
    TABLE_FRAGMENTS_MIN: u64 = 64 => Effect("fragments are smaller");

    /// Bytes that a gateway adds to a fragment on its way: schema, numbers, names.
    FRAGMENT_ENVELOPE_BYTES_MAX: usize = 64 << 10 => Code(codes::FRAGMENT_TOO_LARGE);

    /// Beside the rows of an answer's message: its header and its metadata.
    ANSWER_ENVELOPE_BYTES_MAX: usize = 1 << 20 => Code(codes::NOT_A_GATEWAY);

    /// Fragments of a table that a client has sent and that are not yet safe.
    PUT_WINDOW_FRAGMENTS: usize = 16 => Effect("the client waits");

    /// Events of a run that may wait for whoever handles them.
    RUN_EVENTS_MAX: usize = 64 => Effect("reading waits");

    /// Time that a client goes on without any gateway.
    GATEWAY_AWAY_SECONDS_MAX: u64 = 120 => Code(codes::NO_GATEWAY);

    /// Time that a client looks for its first gateway: an address is more likely wrong than its gateway away.
    GATEWAY_FIRST_SECONDS_MAX: u64 = 20 => Code(codes::NO_GATEWAY);

    /// Time that a connection to a gateway may take.
    GATEWAY_CONNECT_MS_MAX: u64 = 5000 => Effect("another gateway is tried");

    /// The pause before a gateway that failed is tried again; it doubles.
    GATEWAY_RETRY_MS_MIN: u64 = 100 => Effect("the gateway is tried again");

    /// The longest pause. Far less than the grace period: when gateways are back, their clients are, before janitors
    /// take them for gone.
    GATEWAY_RETRY_MS_MAX: u64 = 1000 => Effect("the gateway is tried again");

    /// Bytes that a gateway may send on a stream ahead of what is read: enough for a fast line, little memory.
    CLIENT_STREAM_WINDOW_BYTES: u32 = 4 << 20 => Effect("the gateway waits");

    /// The same for a connection with all of its streams.
    CLIENT_CONNECTION_WINDOW_BYTES: u32 = 16 << 20 => Effect("the gateway waits");

    /// Time that a session waits for something before its client is told: what passes sooner is not worth a word.
    WAITING_SETTLED_MS: u64 = 2000 => Effect("what it waits for is told");

    /// Time that closing a session may keep the client that is done with it.
    CLOSE_MS_MAX: u64 = 10_000 => Effect("a janitor closes it");

    /// Time that cancelling a session may keep the client that gave it up.
    CANCEL_MS_MAX: u64 = 2000 => Effect("a janitor closes it");

    /// Rows of a row group of Parquet that is written: enough to compress well, and few enough that a large result has
    /// several, which readers share among their threads.
    PARQUET_ROW_GROUP_ROWS_MAX: usize = 1 << 18 => Effect("the next row group begins");

    /// Bytes of a row group of Parquet that is written: it is in memory until it is complete.
    PARQUET_ROW_GROUP_BYTES_MAX: usize = 64 << 20 => Effect("the next row group begins");

    /// Memory of a result that waits until those before it are on stdout.
    RESULT_WAITING_BYTES_MAX: usize = 16 << 20 => Effect("its rows go to a temporary file");
}
