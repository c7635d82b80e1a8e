//! Faults. Each kind is switched on or off for a seed, and counted when it happens.

use std::collections::{BTreeMap, BTreeSet};

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[$doc])* $name,)*
        }

        impl Fault {
            pub const ALL: &[Fault] = &[$(Fault::$name,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Fault::$name => $text,)*
                }
            }
        }
    };
}

faults! {
    /// kill -9 at any await point; it is started again after a while.
    WorkerCrash = "worker crash",
    GatewayCrash = "gateway crash",
    /// The machine is lost with it: nobody is told, its broker connection times out.
    SilentCrash = "lost machine",
    /// SIGSTOP, and SIGCONT after others may have taken over: the zombie.
    WorkerFreeze = "worker freeze",
    GatewayFreeze = "gateway freeze",
    /// SIGTERM.
    WorkerLeave = "worker leaves",
    GatewayLeave = "gateway leaves",
    WorkerJoin = "worker joins",
    /// A node's connection to the broker breaks, with what was on its way.
    ConnectionLoss = "connection loss",
    /// A connection breaks with an acknowledgement on its way.
    AckLoss = "acknowledgement lost",
    /// All connections break; confirmed messages are kept, what was delivered comes again.
    BrokerRestart = "broker restart",
    /// The same, and queues are gone with what was in them.
    QueueLoss = "lost queues",
    /// A node cannot reach the broker for a while.
    BrokerPartition = "broker partition",
    /// A node cannot reach the store for a while.
    StorePartition = "store partition",
    /// Nobody can.
    StoreOutage = "store outage",
    /// A node's calls to the store get no answer until their deadline.
    StoreHang = "hung store",
    /// A node can read from the store and not write.
    StoreReadOnly = "read-only store",
    /// The store takes nothing more, from nobody.
    StoreFull = "full store",
    /// The connection of a node breaks, and the broker does not let it in again for a while.
    BrokerRefuse = "refused reconnect",
    /// A connection has so few channels that not all subscriptions get one.
    ChannelLimit = "channel limit",
    /// A delivery was kept for so long that the broker takes its consumer for stuck.
    ConsumerTimeout = "consumer timeout",
    Duplicate = "duplicated delivery",
    Reorder = "reordered delivery",
    Refuse = "refused publish",
    MissedEvent = "missed event",
    StoreSlow = "slow store call",
    /// It is not done, and an error says so.
    StoreFail = "failed store call",
    /// It is done, and an error says that it is not known.
    StoreLostAck = "store answer lost",
    /// It is done, the answer is lost and it is done again: a create finds what it has made itself.
    StoreAgain = "store asked again",
    /// An error comes, and what was asked for is done much later.
    StoreLate = "late store write",
    /// A folder is removed in part, and an error comes.
    StoreTorn = "torn removal",
    /// A client's connection to its gateway breaks.
    LineLoss = "client connection loss",
    /// A client is gone for good.
    ClientVanish = "client vanishes",
    /// A client does nothing for minutes.
    ClientIdle = "client idles",
    /// A client has a deadline.
    ClientDeadline = "client's deadline",
    /// Somebody else cancels a session.
    Cancel = "session cancelled",
    /// Sessions may not be open for longer than some seconds.
    SessionLimit = "session over its time",
    /// The clock on a node's wall is hours ahead or behind.
    ClockSkew = "clock skew",
    /// Gathered rows do not fit into memory.
    Spill = "spilled rows",
}

pub type Counts = BTreeMap<Fault, u64>;

/// Half of all kinds, chosen at random: a kind that is rare among all may be all there is in another
/// seed, and kinds that hide each other's effects are apart now and then.
pub fn draw() -> BTreeSet<Fault> {
    Fault::ALL.iter().copied().filter(|_| fastrand::bool()).collect()
}
