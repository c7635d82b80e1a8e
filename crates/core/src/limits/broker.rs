//! The broker and the connections to it.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { BROKER = "The broker";
    /// Time that a broker may be away before those who wait for it give up.
    BROKER_AWAY_SECONDS_MAX: u64 = 300 => Code(codes::NO_BROKER);

    /// A connection to the broker on which nothing was heard for twice as long is taken for dead.
    BROKER_HEARTBEAT_SECONDS: u16 = 5 => Effect("the connection is made anew");

    /// Time that a connection to the broker may take.
    BROKER_CONNECT_SECONDS_MAX: u64 = 10 => Effect("it is tried again");

    /// Interval at which a node without its broker says so in its log.
    BROKER_TELL_MS: u64 = 5000 => Effect("the log says it again");

    /// The pause before a connection is tried again; it doubles.
    BROKER_RETRY_MS_MIN: u64 = 50 => Effect("it is tried again");

    /// The longest pause.
    BROKER_RETRY_MS_MAX: u64 = 2000 => Effect("it is tried again");

    /// Time that closing the connections may take when the last user is gone.
    BROKER_CLOSE_SECONDS_MAX: u64 = 2 => Effect("they are dropped");

    /// Connections of a process that carry subscriptions: each has as many channels as the broker lets it have.
    BROKER_CONNECTIONS_MAX: usize = 8 => Code(codes::NO_CHANNEL);

    /// Channels of the first of them that are for other things: one for each operation that is under way, and for events.
    BROKER_CHANNELS_RESERVED: usize = 72 => Effect("subscriptions go to another connection");

    /// Operations on queues that are under way at a time.
    BROKER_OPERATIONS_MAX: usize = 64 => Effect("the next ones wait");

    /// How long a node waits for its name: a connection of a process that is gone may be believed in for twice the heartbeat.
    NODE_NAME_WAIT_MS_MAX: u64 = 15_000 => Code(codes::NODE_RUNNING);

    /// How often it looks whether its name is free.
    NODE_NAME_LOOK_MS: u64 = 200 => Effect("the name is tried again");

    /// Threads that speak to the broker: they must not wait for those that compute.
    BROKER_THREADS: usize = 2 => Effect("messages wait for a thread");

    /// Messages of a process on their way to the broker, not yet confirmed.
    PUBLISH_MESSAGES_IN_FLIGHT_MAX: usize = 64 => Effect("publishers wait");

    /// Their bytes.
    PUBLISH_BYTES_IN_FLIGHT_MAX: usize = 32 << 20 => Effect("publishers wait");

    /// The pause before somebody looks again whether a full queue has capacity; it doubles.
    CAPACITY_LOOK_MS_MIN: u64 = 5 => Effect("the queue is looked at");

    /// The longest pause.
    CAPACITY_LOOK_MS_MAX: u64 = 50 => Effect("the queue is looked at");

    /// Longest wait for capacity: what is seen of a queue may deceive, so that then a message is tried.
    CAPACITY_WAIT_MS_MAX: u64 = 1000 => Effect("a message is published, and perhaps refused");

    /// A queue that nobody has consumed from for so long was forgotten, and the broker removes it.
    QUEUE_UNUSED_HOURS_MAX: u32 = 24 => Effect("the queue is gone");

    /// Events of sessions under way to one listener at a time.
    LISTENER_EVENTS_MAX: usize = 64 => Effect("older ones are lost to a slow listener, who finds sessions by looking");

    /// Time that a private RabbitMQ has to start: it needs 5 to 11 s on an idle machine.
    RABBITMQ_START_SECONDS_MAX: u64 = 90 => Code(codes::RABBITMQ_NOT_RUNNING);

    /// Time that a private RabbitMQ has to stop.
    RABBITMQ_STOP_SECONDS_MAX: u64 = 30 => Effect("it is killed");

    /// Interval at which a private RabbitMQ that starts or stops is looked at.
    RABBITMQ_POLL_MS: u64 = 50 => Effect("it is looked at");

    /// Interval at which the keeper of a private RabbitMQ looks at it.
    RABBITMQ_WATCH_MS: u64 = 200 => Effect("it is looked at");

    /// The pause after a start that failed: another RabbitMQ may be about to end.
    RABBITMQ_RESTART_MS: u64 = 1000 => Effect("it is started again");
}
