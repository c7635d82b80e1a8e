//! Those who connect and show no token: they take no place from those who do.

use std::io;
use std::time::{Duration, Instant};

use caudal_core::limits;
use caudal_gateway::Owner;
use caudal_protocol::calls::SessionsReply;
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{Client, Cluster, DEADLINE, Node, numbers_request};

async fn guarded() -> Node {
    let tokens = Some(vec![Owner::of_token("secret")]);
    Cluster::new().gateway_with(|settings| settings.tokens = tokens).await
}

/// A connection that says one byte, and no more: the first of HTTP/2's.
async fn stranger(node: &Node) -> TcpStream {
    let mut tcp = TcpStream::connect(node.address).await.unwrap();
    // It may have been closed already.
    let _ = tcp.write_all(b"P").await;
    tcp
}

async fn is_answered(client: &Client) -> bool {
    let reply = timeout(DEADLINE, client.ask::<SessionsReply>("sessions", &())).await;
    reply.is_ok_and(|reply| reply.is_ok())
}

/// Reads to the end of what the gateway says.
async fn is_closed(tcp: &mut TcpStream, within: Duration) -> bool {
    let mut rest = vec![];
    match timeout(within, tcp.read_to_end(&mut rest)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => error.kind() == io::ErrorKind::ConnectionReset,
        Err(_) => false,
    }
}

#[tokio::test]
async fn eleven_hundred_strangers_do_not_close_a_gateway() {
    let node = guarded().await;
    let early = node.client().await.with_token("secret");
    assert!(is_answered(&early).await);
    let mut strangers = vec![];
    for _ in 0..1100 {
        strangers.push(stranger(&node).await);
    }
    let started = Instant::now();
    let late = timeout(DEADLINE, node.client()).await.expect("it connects").with_token("secret");
    assert!(is_answered(&late).await, "one that came after them");
    let seconds = started.elapsed().as_secs();
    assert!(
        seconds < limits::GATEWAY_FIRST_CALL_MS / 1000,
        "not because they were gone: {seconds} s"
    );
    assert!(is_answered(&early).await, "one that was there before them");
    // The fault was there: what stays open of them is their share, and the oldest had to go.
    let mut gone = 0;
    for tcp in &mut strangers {
        gone += usize::from(is_closed(tcp, Duration::from_millis(5)).await);
    }
    let kept = limits::GATEWAY_STRANGER_CONNECTIONS_MAX;
    assert!(gone >= 1100 - kept, "{gone} of them are gone");
    assert!(is_closed(&mut strangers[0], Duration::ZERO).await);
}

#[tokio::test]
async fn a_stranger_is_closed_in_time_and_a_client_stays() {
    let node = guarded().await;
    let client = node.client().await.with_token("secret");
    assert!(is_answered(&client).await);
    let session = client.open(&numbers_request(1)).await.unwrap().session;
    let mut attached = client.attach(&session).await.unwrap();
    attached.next().await.unwrap();
    let mut silent = TcpStream::connect(node.address).await.unwrap();
    let mut speaking = stranger(&node).await;
    // A token that is not accepted does not help.
    let guessing = node.client().await.with_token("guess");
    assert!(guessing.ask::<SessionsReply>("sessions", &()).await.is_err());
    let first_call = Duration::from_millis(limits::GATEWAY_FIRST_CALL_MS);
    assert!(!is_closed(&mut speaking, first_call / 2).await, "it has some time");
    assert!(is_closed(&mut speaking, first_call).await);
    assert!(is_closed(&mut silent, first_call).await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let is_over = timeout(Duration::from_millis(100), attached.answers.next()).await;
    assert!(is_over.is_err(), "the connection of a client is there still: {is_over:?}");
    assert!(is_answered(&client).await);
}

/// Several hundred clients that begin together are no strangers.
#[tokio::test]
async fn many_clients_of_one_machine_are_let_in() {
    let node = guarded().await;
    let clients = futures::future::join_all((0..400).map(async |_| {
        let client = node.client().await.with_token("secret");
        for _ in 0..20 {
            if is_answered(&client).await {
                return true;
            }
        }
        false
    }));
    assert!(clients.await.into_iter().all(|is_answered| is_answered));
}
