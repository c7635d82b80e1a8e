//! Queues that the broker has lost are made again, and what was in them is asked for.

use caudal_core::{Failure, QueryId, SessionId, ShardId, Source, TableId, codes};
use caudal_protocol::calls::{EndRequest, PutAck, ResultWhat, Status, StreamCommand};
use caudal_protocol::{Message, Queues};
use caudal_store::SessionRecords;
use caudal_testing::until;
use futures::StreamExt;

use crate::support::{Client, Cluster, Exchange, code, numbers, numbers_request, put_messages};

async fn opened(client: &Client) -> (SessionId, Queues) {
    let session = client.open(&numbers_request(1)).await.unwrap().session;
    (session.clone(), Queues { session })
}

/// The first status that asks for the tables once more.
async fn asked_to_resend(attached: &mut Exchange, times: u32) {
    loop {
        let status: Status = attached.next_as().await.unwrap();
        assert_eq!(status.failure, None);
        if status.resend == times {
            return;
        }
        assert!(status.resend < times);
    }
}

fn is_baton(message: &Message) -> bool {
    matches!(message, Message::Baton)
}

fn is_republish(message: &Message) -> bool {
    matches!(message, Message::Republish)
}

#[tokio::test]
async fn whichever_queue_is_lost_is_made_again_and_the_client_is_to_send_again() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let (session, queues) = opened(&client).await;
    let mut attached = client.attach_resending(&session).await.unwrap();
    let all = [queues.map(), queues.shard(ShardId(1)), queues.result(QueryId(0))];
    for (times, lost) in (1..).zip(all) {
        let before = cluster.broker.queue_names();
        cluster.broker().delete(&lost).await.unwrap();
        asked_to_resend(&mut attached, times).await;
        assert_eq!(cluster.broker.queue_names(), before, "without {lost}");
        for shard in [ShardId(0), ShardId(1)] {
            let told = cluster.take_all(&queues.shard(shard)).await;
            assert!(told.iter().any(is_baton), "{told:?}");
            assert!(told.iter().any(is_republish), "{told:?}");
        }
    }
    // Whichever gateway has the client next knows as much, and does what the other may have died of.
    let other = cluster.gateway().await.client().await;
    let mut attached = other.attach_resending(&session).await.unwrap();
    asked_to_resend(&mut attached, 3).await;
    let told = cluster.take_all(&queues.shard(ShardId(0))).await;
    assert!(told.iter().any(is_baton) && told.iter().any(is_republish), "{told:?}");
    client.close(&session).await.unwrap();
    cluster.wait_until_nothing_is_left().await;
}

#[tokio::test]
async fn calls_wait_for_the_queue_that_they_miss() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let (session, queues) = opened(&client).await;
    let mut attached = client.attach_resending(&session).await.unwrap();
    let result = StreamCommand::Result { session: session.clone(), query: QueryId(0) };
    let mut reading = client.exchange(&result).await.unwrap();
    reading.next().await.unwrap();
    for queue in cluster.broker.queue_names() {
        cluster.broker().delete(&queue).await.unwrap();
    }
    let messages = put_messages(&session, 0, vec![(0, numbers(1..4))]);
    let mut acks = client.put(messages).await.unwrap();
    let ack = acks.next().await.unwrap().unwrap();
    let PutAck { acked } = serde_json::from_slice(&ack.app_metadata).unwrap();
    assert_eq!(acked, 1);
    let end = EndRequest { session: session.clone(), table: TableId(0), count: 1, rows: None };
    client.ask::<serde_json::Value>("end", &end).await.unwrap();
    // Also one that was reading when its queue went.
    let item = reading.next_item().await.unwrap();
    assert!(matches!(item.what, ResultWhat::End { count: 1, .. }), "{item:?}");
    asked_to_resend(&mut attached, 1).await;
    let waiting = cluster.take_all(&queues.map()).await;
    assert!(matches!(waiting[..], [Message::Table(_)]), "{waiting:?}");
}

#[tokio::test]
async fn a_client_that_cannot_send_again_loses_its_session() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let (session, queues) = opened(&client).await;
    let attached = client.attach(&session).await.unwrap();
    cluster.broker().delete(&queues.shard(ShardId(0))).await.unwrap();
    let end = attached.end().await;
    assert_eq!(code(&end), "CDL-8020");
    assert!(end.message().contains(&queues.shard(ShardId(0))), "{end:?}");
    cluster.wait_until_nothing_is_left().await;
}

#[tokio::test]
async fn a_session_that_ends_meanwhile_stays_ended() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let (session, _) = opened(&client).await;
    let _attached = client.attach_resending(&session).await.unwrap();
    for queue in cluster.broker.queue_names() {
        cluster.broker().delete(&queue).await.unwrap();
    }
    client.close(&session).await.unwrap();
    cluster.wait_until_nothing_is_left().await;
}

/// Shards complete without the rows that could not be made: what they publish again must not pass for an answer.
#[tokio::test]
async fn why_a_query_failed_is_told_before_what_comes_by_a_new_queue() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let (session, queues) = opened(&client).await;
    let _attached = client.attach_resending(&session).await.unwrap();
    let result = StreamCommand::Result { session: session.clone(), query: QueryId(0) };
    let mut reading = client.exchange(&result).await.unwrap();
    reading.next().await.unwrap();
    let records = SessionRecords::new(cluster.store.clone(), session);
    let failure = Failure::new(codes::DATA, "no");
    records.create_failure(QueryId(0), &failure).await.unwrap();
    cluster.broker().delete(&queues.result(QueryId(0))).await.unwrap();
    let end = Message::End { source: Source::Table(TableId(0)), count: 1 };
    let result = queues.result(QueryId(0));
    until("the queue is there", async || cluster.broker.queue_names().contains(&result)).await;
    cluster.send(&queues.result(QueryId(0)), end).await;
    let item = reading.next_item().await.unwrap();
    assert!(matches!(&item.what, ResultWhat::Failed { failure: told } if *told == failure));
    let item = reading.next_item().await.unwrap();
    assert!(matches!(item.what, ResultWhat::End { count: 1, .. }), "{item:?}");
}
