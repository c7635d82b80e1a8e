//! Batches on their way to the queue of fragments, and the end of a table.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow_flight::FlightData;
use arrow_flight::utils::batches_to_flight_data;
use caudal_core::{QueryId, SessionId, ShardId, Source, TableId, limits};
use caudal_protocol::calls::{EndRequest, PutAck, PutBatch, Status as SessionStatus};
use caudal_protocol::encoding::encode;
use caudal_protocol::{Message, Queues};
use caudal_testing::until;
use futures::channel::mpsc;
use futures::{FutureExt, StreamExt};
use tonic::{Code, Status};

use crate::support::{Client, Cluster, code, numbers, numbers_request, put_messages};

async fn opened(cluster: &Cluster) -> (Client, SessionId) {
    let client = cluster.gateway().await.client().await;
    let session = client.open(&numbers_request(1)).await.unwrap().session;
    (client, session)
}

/// Puts everything; says what was acknowledged, and how it ended.
async fn put(client: &Client, messages: Vec<FlightData>) -> (Vec<u64>, Result<(), Status>) {
    let mut answers = match client.put(messages).await {
        Ok(answers) => answers,
        Err(status) => return (vec![], Err(status)),
    };
    let mut acked = vec![];
    loop {
        match answers.message().await {
            Ok(Some(ack)) => {
                acked.push(serde_json::from_slice::<PutAck>(&ack.app_metadata).unwrap().acked);
            }
            Ok(None) => return (acked, Ok(())),
            Err(status) => return (acked, Err(status)),
        }
    }
}

#[tokio::test]
async fn batches_are_acknowledged_in_order_and_reach_their_queue() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    // Numbers need not be in order: a client that resumes sends those that were not acknowledged.
    let batches: Vec<_> = [4, 0, 2].map(|number| (number, numbers([number.into(), 7]))).into();
    let (acked, ended) = put(&client, put_messages(&session, 0, batches)).await;
    ended.unwrap();
    assert_eq!(acked, [1, 2, 3]);
    let mut taken = cluster.take_all(&Queues { session }.map()).await;
    taken.sort_by_key(|message| matches!(message, Message::Table(t) if t.number == 2));
    assert_eq!(taken.len(), 3);
    for message in taken {
        let Message::Table(fragment) = message else { panic!("a fragment: {message:?}") };
        assert_eq!(fragment.batch, numbers([fragment.number.into(), 7]));
    }
}

#[tokio::test]
async fn encoded_batches_arrive_as_they_were() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let batch = numbers(70_000..70_200);
    let (encoded, encodings) = encode(batch.clone());
    assert!(!encodings.is_empty());
    let mut messages = put_messages(&session, 0, vec![(0, batch.clone())]);
    let mut sent = batches_to_flight_data(&encoded.schema(), vec![encoded]).unwrap();
    let put_batch = PutBatch { number: 0, encodings };
    messages[1] = sent.remove(1).with_app_metadata(serde_json::to_vec(&put_batch).unwrap());
    put(&client, messages).await.1.unwrap();
    let taken = cluster.take_all(&Queues { session }.map()).await;
    let [Message::Table(fragment)] = &taken[..] else { panic!("a fragment: {taken:?}") };
    assert_eq!(fragment.batch, batch);
}

#[tokio::test]
async fn a_full_queue_holds_the_client_back_and_says_so() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let claim = caudal_protocol::manifest::Claim { worker: "w".into(), refusal: None };
    let name = caudal_protocol::Objects { session: session.clone() }.claim("w");
    cluster.store.put(&name, serde_json::to_vec(&claim).unwrap().into()).await.unwrap();
    let capacity = limits::MAP_QUEUE_FRAGMENTS_PER_THREAD * limits::CLUSTER_MAP_THREADS;
    let sent = capacity + 3 * limits::PUT_WINDOW_FRAGMENTS;
    let batches = (0..sent).map(|number| (number as u32, numbers([1]))).collect();
    let messages = put_messages(&session, 0, batches);

    let (sender, receiver) = mpsc::unbounded();
    messages.into_iter().for_each(|message| sender.unbounded_send(message).unwrap());
    drop(sender);
    let mut answers = client.put_stream(receiver).await.unwrap();
    let mut attached = client.attach(&session).await.unwrap();
    loop {
        let status: SessionStatus = attached.next_as().await.unwrap();
        if status.waiting_for == ["the queue of fragments is full: workers are busy"] {
            break;
        }
    }
    let mut acked = 0;
    while let Some(ack) = answers.next().now_or_never() {
        ack.expect("the stream goes on").unwrap();
        acked += 1;
    }
    assert!(acked <= capacity, "{acked} are safe, where there is capacity for {capacity}");

    let queue = Queues { session }.map();
    let drained = async {
        let mut taken = 0;
        while taken < sent {
            taken += cluster.take_all(&queue).await.len();
            tokio::task::yield_now().await;
        }
    };
    let acknowledged = async {
        let mut acked = 0;
        while let Some(ack) = answers.message().await.unwrap() {
            acked = serde_json::from_slice::<PutAck>(&ack.app_metadata).unwrap().acked;
        }
        acked
    };
    let (acked, ()) = tokio::join!(acknowledged, drained);
    assert_eq!(acked, sent as u64);
}

#[tokio::test]
async fn other_columns_than_asked_for_are_refused() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let wrong = RecordBatch::try_from_iter([("n", texts)]).unwrap();
    let (_, ended) = put(&client, put_messages(&session, 0, vec![(0, wrong)])).await;
    let refusal = ended.unwrap_err();
    assert_eq!((refusal.code(), code(&refusal)), (Code::InvalidArgument, "CDL-8005"));
    assert_eq!(refusal.message(), "table numbers: column \"n\" is Utf8 instead of Int64");
    for (table, reason) in [(1, "no query reads table unread"), (7, "there are 2")] {
        let (_, ended) = put(&client, put_messages(&session, table, vec![(0, numbers([1]))])).await;
        let refusal = ended.unwrap_err();
        assert_eq!(code(&refusal), "CDL-8004");
        assert!(refusal.message().contains(reason), "{}", refusal.message());
    }
}

#[tokio::test]
async fn garbage_is_refused_and_what_came_before_it_is_safe() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let good = || put_messages(&session, 0, vec![(0, numbers([1])), (1, numbers(0..1000))]);
    type Damage<'a> = &'a dyn Fn(&mut FlightData);
    let damages: [(&str, Damage<'_>); 10] = [
        ("CDL-8006", &|message| message.data_header = "not a flatbuffer".into()),
        ("CDL-8006", &|message| message.data_header.clear()),
        ("CDL-8006", &|message| message.data_body.truncate(8)),
        ("CDL-8006", &|message| message.data_body = vec![0xff; 8192].into()),
        ("CDL-8004", &|message| message.app_metadata = "seven".into()),
        ("CDL-8004", &|message| message.app_metadata.clear()),
        ("CDL-8004", &|message| message.app_metadata = r#"{"number":1,"narrow":7}"#.into()),
        ("CDL-8004", &|message| {
            let many = ["null"; limits::PUT_METADATA_BYTES_MAX / 5].join(",");
            message.app_metadata = format!(r#"{{"number":1,"narrow":[{many}]}}"#).into();
        }),
        ("CDL-8006", &|message| message.app_metadata = r#"{"number":1,"narrow":["uuid"]}"#.into()),
        ("CDL-8006", &|message| {
            message.app_metadata = r#"{"number":1,"narrow":[null,null]}"#.into();
        }),
    ];
    for (expected, damage) in damages {
        let mut messages = good();
        damage(&mut messages[2]);
        let (acked, ended) = put(&client, messages).await;
        let refusal = ended.unwrap_err();
        assert_eq!(code(&refusal), expected, "{}", refusal.message());
        assert_eq!(acked, [1]);
    }
    let mut messages = good();
    messages[0].data_header = "no schema".into();
    assert_eq!(code(&put(&client, messages).await.1.unwrap_err()), "CDL-8004");
    let mut messages = good();
    messages[0].flight_descriptor = None;
    assert_eq!(code(&put(&client, messages).await.1.unwrap_err()), "CDL-8004");
    assert_eq!(code(&put(&client, vec![]).await.1.unwrap_err()), "CDL-8004");
    let (acked, ended) = put(&client, good()).await;
    assert!(ended.is_ok() && acked == [1, 2], "the session is not worse for it");
}

#[tokio::test]
async fn a_batch_too_large_for_a_broker_is_refused() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let messages = |rows: usize| {
        put_messages(&session, 0, vec![(0, numbers([1])), (1, numbers(0..rows as i64))])
    };
    let carried_bytes = |messages: &[FlightData]| {
        let FlightData { data_header, data_body, app_metadata, .. } = &messages[2];
        data_header.len() + data_body.len() + app_metadata.len()
    };
    // Just below what gRPC lets through, with some bytes of its own, and far above it.
    let below = limits::WIRE_BYTES_MAX - 64;
    let mut candidates = (below / 8 - 100..).step_by(8);
    let rows = candidates.find(|rows| carried_bytes(&messages(rows + 8)) > below).unwrap();
    for rows in [rows, 2 * rows] {
        let messages = messages(rows);
        let (_, ended) = put(&client, messages).await;
        let refusal = ended.unwrap_err();
        assert_eq!(code(&refusal), "CDL-8007", "{}", refusal.message());
    }
    put(&client, put_messages(&session, 0, vec![(0, numbers([1]))])).await.1.unwrap();
}

#[tokio::test]
async fn the_end_of_a_table_reaches_everybody_who_reads_it() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let end = |table, count| EndRequest {
        session: session.clone(),
        table: TableId(table),
        count,
        rows: None,
    };
    client.ask::<serde_json::Value>("end", &end(0, 5)).await.unwrap();
    let queues = Queues { session: session.clone() };
    let shards = [0, 1].map(|shard| queues.shard(ShardId(shard)));
    for queue in shards.into_iter().chain([queues.result(QueryId(0))]) {
        let ends = cluster.take_all(&queue).await.into_iter().filter(|message| {
            let source = Source::Table(TableId(0));
            matches!(message, Message::End { source: of, count: 5 } if *of == source)
        });
        assert_eq!(ends.count(), 1, "{queue}");
    }
    let refusal = client.ask::<serde_json::Value>("end", &end(9, 1)).await.unwrap_err();
    assert_eq!(code(&refusal), "CDL-8004");
}

#[tokio::test]
async fn an_upload_to_a_session_that_ends_learns_why() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let (sender, receiver) = mpsc::unbounded();
    let mut messages = put_messages(&session, 0, vec![(0, numbers([1])), (1, numbers([2]))]);
    let last = messages.pop().unwrap();
    messages.into_iter().for_each(|message| sender.unbounded_send(message).unwrap());
    let mut answers = client.put_stream(receiver).await.unwrap();
    answers.message().await.unwrap().expect("an acknowledgement");
    let cancel = serde_json::json!({ "session": session });
    client.ask::<serde_json::Value>("cancel", &cancel).await.unwrap();
    until("its queues are removed", async || cluster.broker.queue_names().is_empty()).await;
    sender.unbounded_send(last).unwrap();
    let refusal = answers.message().await.unwrap_err();
    assert_eq!((refusal.code(), code(&refusal)), (Code::FailedPrecondition, "CDL-8013"));
    let (_, ended) = put(&client, put_messages(&session, 0, vec![(0, numbers([1]))])).await;
    assert_eq!(code(&ended.unwrap_err()), "CDL-8013");
}
