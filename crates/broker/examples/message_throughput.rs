//! MB/s through a private RabbitMQ: persistent, confirmed, acknowledged; encoding and decoding
//! included.
//!
//! ```text
//! cargo run --release -p caudal-broker --example message_throughput
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use caudal_broker::rabbitmq::Settings;
use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_broker::{Broker, QueueKind, RabbitBroker};
use caudal_core::{SessionId, TableId, limits};
use caudal_protocol::{Message, Queues, TableFragment};
use futures::StreamExt;
use futures::stream;

const BYTES: usize = 512 << 20;
const PUBLISHES: usize = 32;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let mut rabbit = PrivateRabbit::start(directory.path()).await?;
    let broker = RabbitBroker::connect(Settings::new(rabbit.url())).await?;
    for message_bytes in [16 << 10, 128 << 10, 1 << 20, 4 << 20] {
        for _ in 0..2 {
            measure(&broker, message_bytes).await?;
        }
    }
    println!("memory of the broker: {} MB", rabbit.rss_bytes().unwrap_or_default() >> 20);
    rabbit.stop().await;
    Ok(())
}

async fn measure(broker: &RabbitBroker, message_bytes: usize) -> Result<(), Box<dyn Error>> {
    let queue = Queues { session: SessionId(format!("bench-{message_bytes}")) }.map();
    broker.declare(&queue, QueueKind::Work { messages_max: 64 }).await?;
    let count = BYTES.min(message_bytes * 4096) / message_bytes;
    let noise = noise(message_bytes);
    let start = Instant::now();
    let publishing = tokio::spawn({
        let (broker, queue) = (broker.clone(), queue.clone());
        async move {
            let publishes = (0..count).map(|number| {
                let (broker, queue, noise) = (broker.clone(), queue.clone(), noise.clone());
                let fragment = TableFragment::new(TableId(0), number as u32, noise);
                // A task each, as the nodes do: they encode on different threads.
                tokio::spawn(async move { broker.send(&queue, Message::Table(fragment)).await })
            });
            let mut publishes = stream::iter(publishes).buffer_unordered(PUBLISHES);
            while let Some(published) = publishes.next().await {
                published??;
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(())
        }
    });
    let mut consumer = broker.consume(&queue, limits::PREFETCH_MESSAGES).await?;
    for _ in 0..count {
        let delivery = consumer.next().await?.ok_or("the queue is gone")?;
        consumer.ack(delivery.tag).await?;
    }
    publishing.await?.map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let mb = (count * message_bytes) as f64 / 1e6;
    println!("{:>5} KiB: {:>4.0} MB/s ({count} messages)", message_bytes >> 10, mb / seconds);
    broker.delete(&queue).await?;
    Ok(())
}

/// Rows that do not compress.
fn noise(bytes: usize) -> RecordBatch {
    let values: ArrayRef =
        Arc::new(UInt64Array::from_iter_values((0..bytes / 8).map(|_| fastrand::u64(..))));
    RecordBatch::try_from_iter([("noise", values)]).expect("one column")
}
