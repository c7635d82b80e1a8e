//! What one token, or one session, may have at the same time, and that the others have theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use caudal_core::{QueryId, SessionId, limits};
use caudal_gateway::Owner;
use caudal_protocol::Queues;
use caudal_protocol::calls::{HINT_HEADER, PutAck, RETRY_MS_HEADER, StreamCommand};
use caudal_testing::until;
use futures::channel::mpsc;
use futures::{StreamExt, stream};
use tonic::Code;

use crate::support::{
    Client, Cluster, Node, code, header, numbers, numbers_request, put_messages, text_header,
};

const TOKENS: [&str; 3] = ["one", "two", "three"];

async fn gateway(cluster: &Cluster, sessions_max: usize) -> Node {
    let tokens = TOKENS.map(Owner::of_token).to_vec();
    let gateway = cluster.gateway_with(|settings| {
        settings.tokens = Some(tokens);
        settings.sessions_max = sessions_max;
    });
    gateway.await
}

async fn clients(node: &Node) -> [Client; 3] {
    let client = node.client().await;
    TOKENS.map(|token| client.with_token(token))
}

#[tokio::test]
async fn a_token_leaves_sessions_to_the_others() {
    let cluster = Cluster::new();
    let [one, two, three] = clients(&gateway(&cluster, 4).await).await;
    let first = one.open(&numbers_request(1)).await.unwrap().session;
    one.open(&numbers_request(2)).await.unwrap();
    let refusal = one.open(&numbers_request(3)).await.unwrap_err();
    assert_eq!((refusal.code(), code(&refusal)), (Code::ResourceExhausted, "CDL-8003"));
    assert_eq!(refusal.message(), "this token has 2 sessions, and what is free is for others");
    assert!(text_header(&refusal, HINT_HEADER).contains("another session of this token"));
    assert!(header(&refusal, RETRY_MS_HEADER).is_some(), "it may wait for its turn");
    one.open(&numbers_request(2)).await.expect("who has a place keeps it");

    two.open(&numbers_request(4)).await.expect("there is one for who has none");
    three.open(&numbers_request(5)).await.expect("and for the next");
    assert_eq!(code(&two.open(&numbers_request(6)).await.unwrap_err()), "CDL-8003");
    one.close(&first).await.unwrap();
    assert_eq!(cluster.store.list("slots").await.unwrap().len(), 3);
    assert_eq!(code(&one.open(&numbers_request(3)).await.unwrap_err()), "CDL-8003");
}

#[tokio::test]
async fn one_token_alone_has_all_sessions() {
    let cluster = Cluster::new();
    let tokens = Some(vec![Owner::of_token("one")]);
    let alone = cluster.gateway_with(|settings| {
        settings.tokens = tokens;
        settings.sessions_max = 3;
    });
    let client = alone.await.client().await.with_token("one");
    for nonce in 0..3 {
        client.open(&numbers_request(nonce)).await.unwrap();
    }
    let refusal = client.open(&numbers_request(3)).await.unwrap_err();
    assert_eq!(refusal.message(), "all 3 sessions of the cluster are taken");
}

/// A stream of batches that stays open as long as the sender is kept.
async fn upload(
    client: &Client,
    session: &SessionId,
) -> Result<(mpsc::UnboundedSender<()>, tonic::Streaming<arrow_flight::PutResult>), tonic::Status> {
    let (open, kept) = mpsc::unbounded();
    let messages = put_messages(session, 0, vec![(0, numbers([1]))]);
    let never = kept.filter_map(|()| async { None });
    let mut acks = client.put_stream(stream::iter(messages).chain(never)).await?;
    let ack = acks.message().await?.expect("an acknowledgement");
    assert_eq!(serde_json::from_slice::<PutAck>(&ack.app_metadata).unwrap().acked, 1);
    Ok((open, acks))
}

#[tokio::test]
async fn a_session_has_so_many_uploads_at_a_time() {
    let cluster = Cluster::new();
    let [one, ..] = clients(&gateway(&cluster, 8).await).await;
    let session = one.open(&numbers_request(1)).await.unwrap().session;
    let other = one.open(&numbers_request(2)).await.unwrap().session;
    let mut uploads = vec![];
    for _ in 0..limits::PUT_SESSION_STREAMS_MAX {
        uploads.push(upload(&one, &session).await.unwrap());
    }
    let refusal = upload(&one, &session).await.err().unwrap();
    assert_eq!((refusal.code(), code(&refusal)), (Code::Unavailable, "CDL-8024"));
    assert_eq!(refusal.message(), "all 8 uploads are taken that it may have here");
    upload(&one, &other).await.expect("another session has its own");
    uploads.pop();
    until("an upload", async || upload(&one, &session).await.is_ok()).await;
}

#[tokio::test]
async fn a_token_leaves_channels_to_the_others() {
    let cluster = Cluster::new();
    let node = gateway(&cluster, 8).await;
    let [one, two, _] = clients(&node).await;
    let read = async |client: &Client, session: &SessionId| {
        let (session, query) = (session.clone(), QueryId(0));
        client.exchange(&StreamCommand::Result { session, query }).await
    };
    let session = one.open(&numbers_request(1)).await.unwrap().session;
    let mut readers = vec![];
    for _ in 0..limits::GATEWAY_OWNER_RESULT_STREAMS_MAX {
        readers.push(read(&one, &session).await.unwrap());
    }
    let refusal = read(&one, &session).await.err().unwrap();
    assert_eq!((refusal.code(), code(&refusal)), (Code::Unavailable, "CDL-8024"));
    // Over a connection of its own: one has no more streams than this.
    let [_, two_elsewhere, _] = clients(&node).await;
    let theirs = two.open(&numbers_request(2)).await.unwrap().session;
    read(&two_elsewhere, &theirs).await.expect("another token has its own");
    drop(readers);
    until("a reader", async || read(&one, &session).await.is_ok()).await;
}

/// Workers take nothing: what a gateway has in hand is all that it has read.
#[tokio::test]
async fn nothing_is_read_that_there_is_no_memory_for() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let session = client.open(&numbers_request(1)).await.unwrap().session;
    let capacity = limits::MAP_QUEUE_FRAGMENTS_PER_THREAD * limits::CLUSTER_MAP_THREADS;
    let small = (0..capacity as u32).map(|number| (number, numbers([1]))).collect();
    let mut acks = client.put(put_messages(&session, 0, small)).await.unwrap();
    while acks.message().await.unwrap().is_some() {}

    let bytes = 8 << 20;
    let large = numbers(0..(bytes / 8) as i64);
    let messages =
        put_messages(&session, 0, (0..16).map(|number| (number, large.clone())).collect());
    let sent = Arc::new(AtomicUsize::new(0));
    let counting = {
        let sent = Arc::clone(&sent);
        stream::iter(messages).inspect(move |_| {
            sent.fetch_add(1, Ordering::Relaxed);
        })
    };
    let mut acks = client.put_stream(counting).await.unwrap();
    let in_hand = limits::PUT_MEMORY_BYTES_MAX as usize / bytes;
    until("memory is full", async || sent.load(Ordering::Relaxed) >= in_hand).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // One that waits for memory, one on the line, one that the client has made ahead, and the schema.
    let sent = sent.load(Ordering::Relaxed);
    assert!(sent <= in_hand + 4, "{sent} messages of {bytes} bytes were taken");

    let queue = Queues { session }.map();
    let drained = async {
        let mut taken = 0;
        while taken < capacity + 16 {
            taken += cluster.take_all(&queue).await.len();
            tokio::task::yield_now().await;
        }
    };
    let acknowledged = async { while acks.message().await.unwrap().is_some() {} };
    tokio::join!(acknowledged, drained);
}
