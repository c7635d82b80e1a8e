//! Nodes of a cluster on a machine: how they answer for themselves, start and stop.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { NODES = "Nodes";
    /// Nodes of a cluster.
    NODES_MAX: usize = 1024 => Code(codes::CLUSTER_FILE_UNUSABLE);

    /// Workers that `caudal up` starts on one machine.
    UP_WORKERS_MAX: i64 = 256 => Effect("the command line is refused");

    /// Gateways that `caudal up` starts on one machine.
    UP_GATEWAYS_MAX: i64 = 64 => Effect("the command line is refused");

    /// Monitors that `caudal up` starts on one machine: each pings every node.
    UP_MONITORS_MAX: i64 = 9 => Effect("the command line is refused");

    /// Shards of a session whose client does not say, as `caudal up` sets them: each is a message more for every fragment.
    UP_SHARDS_MAX: u32 = 64 => Effect("further workers own no shard of such a session");

    /// Compute threads of a process.
    THREADS_MAX: i64 = 1024 => Effect("the command line is refused");

    /// Clients of `caudal clients`.
    CLIENTS_MAX: i64 = 256 => Effect("the command line is refused");

    /// Bytes of the name of a node.
    NODE_NAME_BYTES_MAX: usize = 64 => Code(codes::CLUSTER_FILE_UNUSABLE);

    /// Time that a second copy of a node waits for the first to be gone.
    NODE_LOCK_MS: u64 = 2000 => Code(codes::NODE_RUNNING);

    /// Interval at which a lock that another process holds is tried.
    LOCK_POLL_MS: u64 = 20 => Effect("it is tried again");

    /// Interval at which a main loop shows that it moves, and the thread that answers for it looks.
    WATCHDOG_MS: u64 = 100 => Effect("it looks");

    /// A main loop that has not moved for so long is stuck. It shares its threads with work on whole batches,
    /// so that this is long.
    STUCK_MS: u64 = 10_000 => Effect("the node is replaced");

    /// How often a node whose main loop moves says so on its own host as well, where no network can be in the way.
    ALIVE_TOUCH_MS: u64 = 500 => Effect("it says so");

    /// A process that has said so within this time is not replaced, however silent it is on the network: its port may be
    /// flooded, or its machine cut off.
    ALIVE_MS_MAX: u64 = 3000 => Effect("a silent node is replaced");

    /// A process that is stuck for so long ends itself, for the case that nobody else does.
    STUCK_END_MS: u64 = 60_000 => Effect("the process ends");

    /// Interval at which a process that is to end is looked at.
    PROCESS_LOOK_MS: u64 = 10 => Effect("it is looked at");

    /// Number of pings that `caudal status` sends to a node within its time: one packet may be lost.
    STATUS_PINGS: u32 = 3 => Effect("the node is silent");

    /// Time that nodes have to answer `caudal status`, one that is busy included.
    STATUS_MS_MAX: u64 = 900 => Effect("the node is silent");

    /// Time that the nodes that `caudal up` starts have to be ready.
    UP_SECONDS_MAX: u64 = 30 => Code(codes::NODE_DID_NOT_START);

    /// The same for the broker: RabbitMQ takes 5 to 11 s on an idle machine.
    UP_BROKER_SECONDS_MAX: u64 = 120 => Code(codes::NODE_DID_NOT_START);

    /// Interval at which nodes that start are looked at.
    UP_POLL_MS: u64 = 20 => Effect("they are looked at");

    /// Interval at which a cluster in the foreground is looked at.
    UP_LOOK_MS: u64 = 500 => Effect("it is looked at");

    /// Lines of its log that a node which does not start is quoted with.
    UP_LOG_LINES_MAX: usize = 3 => Effect("the rest is in its log");

    /// Time that a node that `caudal down` tells to leave has to finish what is in hand.
    DOWN_MS_MAX: u64 = 5000 => Effect("it is killed");

    /// Time that a process which `caudal chaos` kills may take to be gone.
    CHAOS_KILL_SECONDS_MAX: u64 = 5 => Effect("the command fails");

    /// Time that a cluster may take to be whole again when `caudal chaos` hits it no more.
    MEND_SECONDS_MAX: u64 = 30 => Code(codes::CLUSTER_DID_NOT_MEND);

    /// Interval at which `caudal chaos` looks whether it is.
    MEND_LOOK_MS: u64 = 100 => Effect("it is looked at");

    /// Time that one run of a client of `caudal clients` may take before it counts as a hang.
    CLIENT_RUN_SECONDS_MAX: u64 = 600 => Code(codes::CLIENTS_WENT_WRONG);

    /// Interval at which `caudal clients` looks at each of them.
    CLIENT_LOOK_MS: u64 = 20 => Effect("it is looked at");

    /// Interval at which `caudal clients` draws its table.
    CLIENTS_DRAW_MS: u64 = 250 => Effect("it is drawn");
}
