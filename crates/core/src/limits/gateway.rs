//! Gateways: what they take from strangers, and when they look after sessions.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { GATEWAY = "Gateways";
    /// Sessions of a cluster at the same time, when its operator sets no other number. Where several tokens are accepted,
    /// none opens one more that has as many as are free.
    SESSIONS_MAX: usize = 8 => Code(codes::TOO_MANY_SESSIONS);

    /// The greatest number that an operator can set.
    SESSIONS_SET_MAX: i64 = 9999 => Effect("the command line is refused");

    /// Calls and streams of one token at a gateway. Far above what a client has: one for each of its queries, and a few.
    GATEWAY_OWNER_STREAMS_MAX: usize = 4096 => Code(codes::OVER_QUOTA);

    /// Of these, results that are read, where several tokens are accepted: each has a channel to the broker, of which a
    /// connection has some two thousand.
    GATEWAY_OWNER_RESULT_STREAMS_MAX: usize = 1000 => Code(codes::OVER_QUOTA);

    /// Connections of one token to a gateway, where several are accepted: half of all.
    GATEWAY_OWNER_CONNECTIONS_MAX: usize = 512 => Code(codes::OVER_QUOTA);

    /// Bytes of messages of one token that a gateway has received in part: whoever begins many and ends none would fill its
    /// memory.
    GATEWAY_OWNER_INCOMING_BYTES_MAX: usize = 128 << 20 => Code(codes::OVER_QUOTA);

    /// Bytes of what one token's calls ask of a gateway at the same time: sessions to be opened, most of all.
    GATEWAY_OWNER_ACTION_BYTES_MAX: usize = 64 << 20 => Code(codes::OVER_QUOTA);

    /// Streams of batches of one session at a gateway: each may have a message in memory that is just being read.
    PUT_SESSION_STREAMS_MAX: usize = 8 => Code(codes::OVER_QUOTA);

    /// Time after which a client that found no capacity for its session may ask again.
    SESSIONS_RETRY_MS: u64 = 2000 => Effect("the client asks again");

    /// Connections to a gateway: each takes memory before anybody has shown a token.
    GATEWAY_CONNECTIONS_MAX: usize = 1024 => Effect("the oldest one that has shown no token is closed, or the new one");

    /// Of these, from one address: no machine closes a gateway to the others.
    GATEWAY_ADDRESS_CONNECTIONS_MAX: usize = 768 => Effect("the oldest one that has shown no token is closed, or the new one");

    /// Of these, without a token so far: clients show theirs within moments, and some hundreds may begin together.
    GATEWAY_STRANGER_CONNECTIONS_MAX: usize = 256 => Effect("the oldest one is closed");

    /// Time that a connection may be there before a call comes whose token is accepted.
    GATEWAY_FIRST_CALL_MS: u64 = 10_000 => Effect("the connection is closed");

    /// Streams on a connection: a client has one for each of its queries.
    GATEWAY_STREAMS_MAX: u32 = 1024 => Effect("further streams wait");

    /// Bytes of the headers of a request to a gateway.
    GATEWAY_HEADER_BYTES_MAX: u32 = 16 << 10 => Code(codes::NOT_A_GATEWAY);

    /// Bytes that a gateway takes from a stream before it has read them.
    GATEWAY_STREAM_WINDOW_BYTES: u32 = 4 << 20 => Effect("the client waits");

    /// Bytes that a gateway takes from a connection before it has read them.
    GATEWAY_CONNECTION_WINDOW_BYTES: u32 = 8 << 20 => Effect("the client waits");

    /// Bytes of the pieces in which a client may send: each is work for both ends.
    GATEWAY_FRAME_BYTES: u32 = 1 << 20 => Effect("a message has more pieces");

    /// Streams that a client has given up before the gateway has looked at them: more are an attack.
    GATEWAY_RESET_STREAMS_MAX: usize = 32 => Effect("the connection is closed");

    /// Streams that the gateway has given up because of what a client sent: more are an attack.
    GATEWAY_BROKEN_STREAMS_MAX: usize = 256 => Effect("the connection is closed");

    /// The pause after an accept that failed: most likely there are no file descriptors left.
    GATEWAY_ACCEPT_MS: u64 = 100 => Effect("the next connection is accepted");

    /// Both ends of a connection ask each other so often whether they are there, and wait so long for the
    /// answer.
    KEEPALIVE_MS: u64 = 5000 => Effect("the client goes on at another gateway");

    /// Bytes of each text that goes into the headers of an error: clients take a few kilobytes.
    ERROR_TEXT_BYTES_MAX: usize = 2 << 10 => Effect("the text is cut, with …");

    /// Bytes of what a client says beside the rows of a fragment: its number, and the encoding of each column.
    PUT_METADATA_BYTES_MAX: usize = 1 << 20 => Code(codes::BAD_REQUEST);

    /// Packed bytes of the batches of one session that a gateway has in hand. Of a stream whose last batch has found no
    /// room in them nothing more is read.
    PUT_MEMORY_BYTES_MAX: u32 = 32 << 20 => Effect("the client waits");

    /// Compute threads that a cluster is taken to have, for the length of its queues of fragments.
    CLUSTER_MAP_THREADS: usize = 16 => Effect("gateways take no more fragments until workers have caught up");

    /// Time that a gateway tries to make a session's queues: well within the grace period, in which a client that waits
    /// could go to another gateway.
    OPEN_QUEUES_MS_MAX: u64 = 10_000 => Effect("the client goes on at another gateway");

    /// Before a gateway subscribes again to results that it lost.
    RESUBSCRIBE_MS: u64 = 100 => Effect("results go on");

    /// Interval at which a gateway renews its lease of a session's client, and looks how the session is.
    LEASE_RENEW_MS: u64 = 1000 => Effect("the lease is written");

    /// Interval at which a gateway looks whether all queues of a session are there, and who serves its shards.
    QUEUES_LOOK_MS: u64 = 3000 => Effect("lost queues are made again, and what was in them is sent again");

    /// Number of times that queues of one session may be lost: a broker that keeps losing them will lose the next.
    RESENDS_MAX: u32 = 16 => Code(codes::QUEUE_LOST);

    /// Interval at which a gateway looks for sessions without a client, and for what ended ones left.
    JANITOR_TICK_MS: u64 = 1000 => Effect("what is over is removed");

    /// Longest part of the time between two looks that counts as watched. What a stopped process, or a store that
    /// did not answer, kept a janitor from seeing does not.
    WATCH_GAP_MS_MAX: u64 = 2000 => Effect("the rest of the time does not count");

    /// Interval at which the tombstones of ended sessions are looked through.
    TOMBSTONE_SWEEP_SECONDS: u64 = 3600 => Effect("old tombstones are removed");

    /// Threads of a gateway: checking and passing on; the work is the workers'.
    GATEWAY_THREADS: usize = 2 => Effect("calls wait for a thread");
}
