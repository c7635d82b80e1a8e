//! Every bound of the monitors, with its unit in its name.
//!
//! Not in `core::limits`: `core` knows Arrow, and this crate has to stay small.

/// How often a monitor thinks. Nothing below is exact to more than this.
pub const TICK_MS: u64 = 50;

/// How much of the time between two ticks counts. Who was frozen, or got no processor, has not watched.
pub const WATCH_GAP_MS_MAX: u64 = 2 * TICK_MS;

/// How often a monitor asks each node whether it lives.
pub const PING_MS: u64 = 300;

/// Pings in a row without an answer after which a node is dead: 1.5 s, many times what a thread that only
/// answers waits for a processor on a machine that is overloaded.
pub const MISSES_MAX: usize = 5;

/// How often the leader tells the other monitors that it leads.
pub const HEARTBEAT_MS: u64 = 300;

/// How long a follower hears nothing before it calls an election.
pub const LEADER_SILENT_MS: u64 = 1500;

/// How long the higher ones have to answer an election.
pub const ANSWER_MS: u64 = 500;

/// How long one that has answered has to say that it leads.
pub const COORDINATOR_MS: u64 = 1500;

/// How long a launch may take, with the killing of what is left.
pub const LAUNCH_MS: u64 = 8000;

/// What a process that is killed has to be gone.
pub const KILL_MS: u64 = 5000;

/// How long a node that was started has to answer.
pub const START_MS: u64 = 5000;

/// A node that has been up for so long was not brought back in vain.
pub const STABLE_MS: u64 = 5000;

/// How long a node that died again waits for its next revival: twice as long each time.
pub const BACK_OFF_MS_MIN: u64 = 500;
pub const BACK_OFF_MS_MAX: u64 = 30_000;

/// Revivals in vain, in a row, after which a node is given up.
pub const REVIVALS_MAX: u32 = 10;

/// A main loop that has not moved for so long is stuck. It shares its threads with work on whole batches,
/// so that this is long.
pub const STUCK_MS: u64 = 10_000;

/// A process that is stuck for so long ends itself, for the case that nobody else does.
pub const STUCK_END_MS: u64 = 60_000;

/// How often a main loop shows that it moves, and the thread that answers for it looks.
pub const WATCHDOG_MS: u64 = 100;

/// Bytes of a ping or a pong: one packet on any network.
pub const DATAGRAM_BYTES_MAX: usize = 1200;

/// Bytes of a message between monitors.
pub const FRAME_BYTES_MAX: usize = 4096;

/// How long a message between monitors may take, with the connection it comes by.
pub const SEND_MS_MAX: u64 = 500;

/// Messages that one monitor has under way to another; more are dropped, as a network would.
pub const SENDS_AT_ONCE_MAX: usize = 16;

/// Connections that a monitor reads at the same time.
pub const CONNECTIONS_MAX: usize = 64;

/// Bytes of the name of a node.
pub const NAME_BYTES_MAX: usize = 64;

/// Nodes of a cluster.
pub const NODES_MAX: usize = 1024;

/// How long a second copy of a node waits for the first to be gone.
pub const NODE_LOCK_MS: u64 = 2000;
