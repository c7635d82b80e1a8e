//! Monitors: when a node is dead, who leads, and how nodes are brought back.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { MONITOR = "Monitors";
    /// Interval at which a monitor thinks. Nothing below is exact to more than this.
    MONITOR_TICK_MS: u64 = 50 => Effect("it thinks");

    /// Longest part of the time between two ticks that counts. Who was frozen, or got no processor, has not watched.
    MONITOR_GAP_MS_MAX: u64 = 2 * MONITOR_TICK_MS => Effect("the rest of the time does not count");

    /// Interval at which a monitor pings each node.
    PING_MS: u64 = 300 => Effect("nodes are asked");

    /// Pings in a row without an answer after which a node is dead: 1.5 s, many times what a thread that only
    /// answers waits for a processor on a machine that is overloaded.
    MISSES_MAX: usize = 5 => Effect("the node is dead, and brought back");

    /// Pongs of one node that are read before the next tick: more than it has pings to answer.
    PONG_MESSAGES_MAX: usize = 8 => Effect("the rest is read after the tick");

    /// Events of others that wait for the monitor.
    MONITOR_EVENTS_MAX: usize = 256 => Effect("senders wait");

    /// Interval at which the leader tells the other monitors that it leads.
    LEADER_HEARTBEAT_MS: u64 = 300 => Effect("it tells them");

    /// Time that a follower hears nothing before it calls an election.
    LEADER_SILENT_MS: u64 = 1500 => Effect("an election");

    /// Time that the higher ones have to answer an election.
    ELECTION_ANSWER_MS: u64 = 500 => Effect("the monitor leads");

    /// Time that one that has answered has to say that it leads.
    ELECTION_COORDINATOR_MS: u64 = 1500 => Effect("another election");

    /// Time that a launch may take, with the killing of what is left.
    LAUNCH_MS: u64 = 8000 => Effect("it counts as in vain");

    /// Time that a process that is killed has to be gone.
    KILL_MS: u64 = 5000 => Effect("the launch has failed");

    /// Time that a node that was started has to answer.
    START_MS: u64 = 5000 => Effect("it was brought back in vain");

    /// A node that has been up for so long was not brought back in vain.
    STABLE_MS: u64 = 5000 => Effect("its revivals count from zero");

    /// Pause before the next revival of a node that died again: twice as long each time.
    REVIVAL_BACKOFF_MS_MIN: u64 = 500 => Effect("it is brought back");

    /// The longest pause between two revivals.
    REVIVAL_BACKOFF_MS_MAX: u64 = 30_000 => Effect("it is brought back");

    /// Revivals in vain, in a row, after which a node is given up.
    REVIVALS_MAX: u32 = 10 => Code(codes::NODE_GIVEN_UP);

    /// Names of those given up that fit into an answer.
    GIVEN_UP_NAMES_MAX: usize = 64 => Effect("the others are not named");

    /// Bytes of a ping or a pong: one packet on any network.
    DATAGRAM_BYTES_MAX: usize = 1200 => Effect("the packet is ignored");

    /// Bytes of a message between monitors.
    MONITOR_FRAME_BYTES_MAX: usize = 4096 => Effect("the connection is closed");

    /// Time that a message between monitors may take, with the connection it comes by.
    MONITOR_SEND_MS_MAX: u64 = 500 => Effect("the message is lost");

    /// Messages that one monitor has under way to another; more are dropped, as a network would.
    MONITOR_MESSAGES_MAX: usize = 16 => Effect("the message is lost");

    /// Connections that a monitor reads at the same time.
    MONITOR_CONNECTIONS_MAX: usize = 64 => Effect("further connections wait");

    /// Bytes of an answer of Docker.
    DOCKER_ANSWER_BYTES_MAX: u64 = 1 << 20 => Effect("the answer is not understood");

    /// Interval at which a container that is to end is looked at.
    DOCKER_LOOK_MS: u64 = 50 => Effect("it is looked at");

    /// A process and its container are started one after the other; what lies between is no more than this.
    DOCKER_START_MS: u64 = 1000 => Effect("the process is of an earlier start of its container");
}
