//! Results that wait to be read: who makes more of them waits for their reader, as long as there is one.

use std::time::Duration;

use caudal_core::limits;
use caudal_runtime::Backoff;
use caudal_runtime::time::{Instant, now, sleep};

use crate::Broker;

/// Before a message is tried again that found no room among results.
const LOOKS: Backoff = Backoff::new(limits::RESULT_LOOK_MS_MIN, limits::RESULT_LOOK_MS_MAX);

/// A message that waits for room among results.
#[derive(Debug, Default)]
pub struct Unread {
    looks: u32,
    nobody_since: Option<Instant>,
}

impl Unread {
    /// Returns when the message is worth another try. Whether it is: nobody may have read for too long.
    pub async fn wait(&mut self, broker: &(impl Broker + ?Sized), queue: &str) -> bool {
        // A broker or a queue that is gone: the next try tells.
        let has_reader = broker.has_consumer(queue).await.unwrap_or(true);
        if self.looks == 0 {
            tracing::info!(queue, has_reader, "results wait to be read");
        }
        if !self.may_wait(has_reader, now()) {
            return false;
        }
        sleep(LOOKS.pause(self.looks)).await;
        self.looks = self.looks.saturating_add(1);
        true
    }

    fn may_wait(&mut self, has_reader: bool, now: Instant) -> bool {
        if has_reader {
            self.nobody_since = None;
            return true;
        }
        let since = *self.nobody_since.get_or_insert(now);
        now - since < Duration::from_secs(limits::RESULT_UNREAD_SECONDS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use caudal_core::{Coded, QueryId, SessionId, TableId, codes};
    use caudal_protocol::{Message, Queues, TableFragment};
    use caudal_runtime::simulated;
    use caudal_runtime::time::since;

    use super::*;
    use crate::{MemoryBroker, QueueKind};

    fn heavy(number: u32, rows: usize) -> Message {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![7; rows]));
        let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
        Message::Table(TableFragment::new(TableId(0), number, batch))
    }

    /// In the time of a clock that jumps.
    #[test]
    fn over_the_quota_and_read_by_nobody_is_an_error_after_a_while() {
        let _clock = simulated::start(0);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .on_thread_park(|| {
                simulated::advance();
            })
            .build();
        runtime.unwrap().block_on(async {
            let broker = Arc::new(MemoryBroker::default());
            let queue = Queues { session: SessionId("s".into()) }.result(QueryId(0));
            broker.declare(&queue, QueueKind::Result { bytes_max: 100 << 10 }).await.unwrap();
            broker.send(&queue, heavy(0, 10_000)).await.unwrap();
            let began = now();
            let refused = broker.send(&queue, heavy(1, 10_000)).await.unwrap_err();
            assert_eq!(refused.code(), codes::RESULTS_OVER_QUOTA);
            assert!(since(began).as_secs() >= limits::RESULT_UNREAD_SECONDS_MAX);

            let mut reader = broker.consume(&queue, 1).await.unwrap();
            let delivery = reader.next().await.unwrap().unwrap();
            reader.ack(delivery.tag).await.unwrap();
            broker.send(&queue, heavy(2, 1 << 20)).await.expect("one alone, however large");
        });
    }

    #[test]
    fn a_reader_is_waited_for_and_nobody_is_not() {
        let (start, mut unread) = (now(), Unread::default());
        let mut at = |second: u64, has_reader| {
            unread.may_wait(has_reader, start + Duration::from_secs(second))
        };
        let most = limits::RESULT_UNREAD_SECONDS_MAX;
        assert!(at(0, true) && at(10 * most, true), "however slowly it reads");
        assert!(at(11 * most, false) && at(12 * most - 1, false));
        assert!(at(12 * most - 1, true), "it is back");
        assert!(at(13 * most, false) && at(14 * most - 1, false));
        assert!(!at(14 * most, false));
    }
}
