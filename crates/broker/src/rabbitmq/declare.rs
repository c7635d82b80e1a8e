//! Declarations of queues.

use std::str::FromStr;

use caudal_core::limits;
use lapin::types::{AMQPValue, FieldTable};

use crate::QueueKind;

/// RabbitMQ's kinds of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueType {
    /// On one node of the broker. The fastest.
    #[default]
    Classic,
    /// On several nodes of a broker that is a cluster.
    Quorum,
}

impl QueueType {
    /// Names of the types, as RabbitMQ and whoever chooses one call them.
    pub const NAMES: [&str; 2] = [QueueType::Classic.name(), QueueType::Quorum.name()];

    const fn name(self) -> &'static str {
        match self {
            QueueType::Classic => "classic",
            QueueType::Quorum => "quorum",
        }
    }
}

impl FromStr for QueueType {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = [QueueType::Classic, QueueType::Quorum];
        let found = known.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| format!("{name:?} is no type of queues"))
    }
}

/// Quorum queues drop what was delivered more often, twenty times by default from 4.0 on. A killed
/// consumer counts for each message it held, so any limit loses messages: this is none.
const DELIVERIES_MAX: i64 = i32::MAX as i64;

/// The same for every process that declares the queue: otherwise the broker refuses the second.
pub fn arguments(kind: QueueKind, queue_type: QueueType) -> FieldTable {
    let mut arguments = FieldTable::default();
    let mut set = |name: &str, value: AMQPValue| {
        arguments.insert(name.into(), value);
    };
    match queue_type {
        QueueType::Classic => {
            set("x-queue-type", text("classic"));
            set("x-queue-version", number(2));
            // Messages wait on disk: memory of the broker does not grow with them.
            set("x-queue-mode", text("lazy"));
        }
        QueueType::Quorum => {
            set("x-queue-type", text("quorum"));
            set("x-delivery-limit", number(DELIVERIES_MAX));
        }
    }
    match kind {
        QueueKind::Work { messages_max } => set("x-max-length", number(signed(messages_max))),
        QueueKind::Shard { messages_max } => {
            set("x-single-active-consumer", true.into());
            set("x-max-length", number(signed(messages_max)));
        }
        QueueKind::Result { bytes_max } => set("x-max-length-bytes", number(signed(bytes_max))),
    }
    // The default is to drop the oldest message in silence.
    set("x-overflow", text("reject-publish"));
    set("x-expires", number(i64::from(limits::QUEUE_UNUSED_HOURS_MAX) * 3_600_000));
    arguments
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}

fn number(value: i64) -> AMQPValue {
    AMQPValue::LongLongInt(value)
}

fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(arguments: &FieldTable, name: &str) -> bool {
        arguments.inner().contains_key(name)
    }

    #[test]
    fn every_queue_refuses_instead_of_dropping() {
        let kinds = [
            QueueKind::Work { messages_max: 1 },
            QueueKind::Shard { messages_max: 1 },
            QueueKind::Result { bytes_max: 1 },
        ];
        for kind in kinds {
            for queue_type in [QueueType::Classic, QueueType::Quorum] {
                let arguments = arguments(kind, queue_type);
                assert_eq!(arguments.inner()["x-overflow"], text("reject-publish"));
                let shard = matches!(kind, QueueKind::Shard { .. });
                assert_eq!(has(&arguments, "x-single-active-consumer"), shard);
                let quorum = queue_type == QueueType::Quorum;
                assert_eq!(has(&arguments, "x-delivery-limit"), quorum);
                assert_eq!(has(&arguments, "x-queue-mode"), !quorum, "refused by quorum queues");
            }
        }
    }
}
