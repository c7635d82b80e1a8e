//! Floods by a tenant: connections, streams and frames, with a token that is accepted.

use std::net::SocketAddr;
use std::time::Duration;

use arrow_flight::FlightData;
use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use crate::attack::{Attack, CLOSED, Told};
use crate::flight::{Attacker, told_of, worst};
use crate::ground::{EVIL_TOKEN, Ground};
use crate::harness::block_on;
use crate::http2::{self, END_HEADERS, HEADERS, PING, RESET, SETTINGS, beginning, call, frame};

/// What a gateway gives to a connection that makes no accepted call, or answers no ping, and then some.
const HUNG_UP_WITHIN: Duration = Duration::from_secs(12);

pub fn attacks() -> Vec<Attack> {
    vec![
        Attack::tenant("50,000 calls reset at once, with a token", &[CLOSED], resets),
        Attack::tenant("200,000 pings, with a token", &[CLOSED, "kept"], pings),
        Attack::tenant("100,000 settings, with a token", &[CLOSED, "kept"], settings),
        Attack::tenant("1,000 streams that say nothing", &["CDL-8002", "CDL-8024"], silent_streams),
        Attack::tenant("1,100 connections with a token", &[CLOSED], connections),
    ]
}

/// A connection on which a call with the token has been made, and then this.
fn after_a_call(ground: &Ground, pieces: impl IntoIterator<Item = Vec<u8>>) -> Told {
    let mut tcp = std::net::TcpStream::connect(ground.gateway()).unwrap();
    let first = frame(HEADERS, END_HEADERS, 1, &call(Some(EVIL_TOKEN)));
    http2::say(&mut tcp, [beginning(), first].into_iter().chain(pieces));
    http2::is_closed(&mut tcp)
}

fn resets(ground: &Ground) -> Told {
    let block = call(Some(EVIL_TOKEN));
    let calls = (0..50_000).map(move |at| {
        let stream = 3 + 2 * at;
        // CANCEL
        [frame(HEADERS, END_HEADERS, stream, &block), frame(RESET, 0, stream, &[0, 0, 0, 8])]
            .concat()
    });
    after_a_call(ground, calls)
}

fn pings(ground: &Ground) -> Told {
    after_a_call(ground, (0..2_000).map(|_| frame(PING, 0, 0, &[7; 8]).repeat(100)))
}

fn settings(ground: &Ground) -> Told {
    after_a_call(ground, (0..1_000).map(|_| frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]).repeat(100)))
}

/// Each waits for its first message; what is asked meanwhile on the same connection is answered.
fn silent_streams(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let silent = (0..1_000).map(|_| {
            let evil = evil.clone();
            let stream = futures::stream::pending::<FlightData>();
            async move {
                let _ = timeout(
                    Duration::from_secs(4),
                    evil.flight.clone().do_exchange(evil.request(stream)),
                )
                .await;
            }
        });
        let session = caudal_core::SessionId("0".repeat(32));
        let asking = async {
            sleep(Duration::from_secs(1)).await;
            let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
            told_of(evil.say("close", &session).await, "closed")
        };
        let (_, told) = futures::future::join(join_all(silent), asking).await;
        worst([told])
    })
}

/// From another address than that of the client that behaves: an address has its share.
fn connections(ground: &Ground) -> Told {
    block_on(async {
        let mut open: Vec<TcpStream> = vec![];
        let mut refused = 0;
        for at in 0..1_100 {
            let address: SocketAddr = ground.gateways[at % 2].parse().unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            let Ok(mut tcp) = socket.connect(address).await else {
                refused += 1;
                continue;
            };
            let said =
                [beginning(), frame(HEADERS, END_HEADERS, 1, &call(Some(EVIL_TOKEN)))].concat();
            // It may have been closed at once.
            let _ = tcp.write_all(&said).await;
            open.push(tcp);
        }
        // They answer no ping, and some have more than the token's share.
        sleep(HUNG_UP_WITHIN).await;
        for tcp in &mut open {
            let mut bytes = [0; 4096];
            let closed = async { while tcp.read(&mut bytes).await.is_ok_and(|bytes| bytes > 0) {} };
            refused += usize::from(timeout(Duration::from_millis(2), closed).await.is_ok());
        }
        let word = if refused > 0 { CLOSED } else { "kept" };
        Told::with(word, format!("{refused} of 1,100"))
    })
}
