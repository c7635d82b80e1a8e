//! More subscriptions than a connection has channels.

use caudal_broker::rabbitmq::Settings;
use caudal_broker::{Broker, Error, RabbitBroker};
use caudal_core::{Coded, limits};
use futures::future::join_all;

use crate::rabbit::WORK;
use crate::support::{drain, next, number_of, numbered, queues, shared_rabbit, soon};

/// With so many channels a connection.
async fn connect(channels_max: usize) -> RabbitBroker {
    let url = format!("{}?channel_max={channels_max}", shared_rabbit().await.url());
    RabbitBroker::connect(Settings::new(url)).await.unwrap()
}

#[tokio::test]
async fn subscriptions_that_one_connection_cannot_carry_go_to_another() {
    const CHANNELS_MAX: usize = 100;
    const SUBSCRIPTIONS: usize = 250;
    let (broker, queue) = (connect(CHANNELS_MAX).await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    let subscribing = (0..SUBSCRIPTIONS).map(|_| soon(broker.consume(&queue, 1)));
    let subscribed = join_all(subscribing).await;
    let mut consumers: Vec<_> = subscribed.into_iter().map(|it| it.unwrap()).collect();
    // All of them get something, and everything else goes on: more of it at a time than there are channels.
    let sending = (0..SUBSCRIPTIONS as u32).map(|number| broker.send(&queue, numbered(number)));
    assert!(soon(join_all(sending)).await.into_iter().all(|sent| sent.is_ok()));
    let looking = (0..3 * CHANNELS_MAX).map(|_| broker.has_consumer(&queue));
    assert!(soon(join_all(looking)).await.into_iter().all(|looked| looked.unwrap()));
    let mut numbers = vec![];
    for consumer in &mut consumers {
        let delivery = next(consumer).await;
        numbers.push(number_of(&delivery));
        consumer.ack(delivery.tag).await.unwrap();
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..SUBSCRIPTIONS as u32).collect::<Vec<_>>());
    broker.delete(&queue).await.unwrap();
}

#[tokio::test]
async fn where_no_channel_is_left_that_is_said_until_one_is() {
    const CHANNELS_MAX: usize = 80;
    let (broker, queue) = (connect(CHANNELS_MAX).await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    let most = limits::BROKER_CONNECTIONS_MAX * CHANNELS_MAX - limits::BROKER_CHANNELS_RESERVED;
    let mut consumers = vec![];
    for _ in 0..most {
        consumers.push(soon(broker.consume(&queue, 1)).await.unwrap());
    }
    let error = soon(broker.consume(&queue, 1)).await.err().expect("no channel is left");
    assert!(matches!(error, Error::NoChannel { .. }), "{error}");
    assert!(error.is_retryable() && error.hint().is_some());
    consumers.pop();
    let again = async {
        loop {
            match broker.consume(&queue, 1).await {
                Ok(consumer) => break consumer,
                // The channel of the other is still being closed.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            }
        }
    };
    consumers = vec![soon(again).await];
    broker.send(&queue, numbered(7)).await.unwrap();
    assert_eq!(drain(&mut consumers[0], 1).await, [7]);
    broker.delete(&queue).await.unwrap();
}
