//! The sockets of a monitor's pings: one for each node, connected to it.
//!
//! The kernel then drops what comes from any other address before it takes the place of an answer, and however much comes, from
//! whomever, a look at all nodes is bounded: a flood keeps nobody from being heard, and no tick from coming.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use caudal_core::limits::{DATAGRAM_BYTES_MAX, PONG_MESSAGES_MAX};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::UdpSocket;

use crate::NodeId;
use crate::members::Member;

pub struct Pings {
    lines: BTreeMap<NodeId, Line>,
}

struct Line {
    socket: Arc<UdpSocket>,
    /// None: connected for good. A name may be somewhere else by the next ping.
    name: Option<String>,
}

impl Pings {
    pub async fn to<'a>(nodes: impl IntoIterator<Item = &'a Member>) -> io::Result<Self> {
        allow_many_files();
        let mut lines = BTreeMap::new();
        for node in nodes {
            lines.insert(node.id, Line::to(&node.health).await?);
        }
        Ok(Self { lines })
    }

    /// One that does not get away is as good as lost on the way.
    pub fn send(&self, node: NodeId, ping: Vec<u8>) {
        let Some(line) = self.lines.get(&node) else { return };
        let Some(name) = line.name.clone() else {
            let _ = line.socket.try_send(&ping);
            return;
        };
        let socket = Arc::clone(&line.socket);
        tokio::spawn(async move {
            if socket.connect(name).await.is_ok() {
                let _ = socket.send(&ping).await;
            }
        });
    }

    /// What has come from the nodes since the last look, of each so many at most.
    pub fn received(&self) -> Vec<Vec<u8>> {
        let mut received = vec![];
        let mut bytes = [0; DATAGRAM_BYTES_MAX + 1];
        for line in self.lines.values() {
            for _ in 0..PONG_MESSAGES_MAX {
                match line.socket.try_recv(&mut bytes) {
                    Ok(length) => received.push(bytes[..length].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // Its port is closed: nobody answers there.
                    Err(_) => {}
                }
            }
        }
        received
    }
}

/// There may be more nodes than a process has files by default. Where no more are allowed, a socket will say so.
fn allow_many_files() {
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    let _ = setrlimit(Resource::Nofile, files);
}

impl Line {
    async fn to(address: &str) -> io::Result<Self> {
        let known: Option<SocketAddr> = address.parse().ok();
        let any = match known {
            Some(SocketAddr::V6(_)) => "[::]:0",
            _ => "0.0.0.0:0",
        };
        let socket = UdpSocket::bind(any).await?;
        if let Some(known) = known {
            socket.connect(known).await?;
        }
        // It is at once; that the runtime knows it is what the first ping needs.
        socket.writable().await?;
        let name = known.is_none().then(|| address.to_string());
        Ok(Self { socket: Arc::new(socket), name })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::members::{Launch, Role};

    fn node(id: u32, health: String) -> Member {
        let launch = Launch::Process { program: "none".into(), arguments: vec![] };
        let (name, host) = (format!("node-{id}"), "here".to_string());
        Member { id: NodeId(id), name, role: Role::Worker, host, health, launch, listen: None }
    }

    async fn soon(pings: &Pings) -> Vec<Vec<u8>> {
        for _ in 0..100 {
            let received = pings.received();
            if !received.is_empty() {
                return received;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        vec![]
    }

    /// As many as a buffer holds, and more, to every port that the monitor asks from.
    #[tokio::test]
    async fn a_flood_from_elsewhere_takes_no_answers_place() {
        let there = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = there.local_addr().unwrap();
        for health in [address.to_string(), format!("localhost:{}", address.port())] {
            let pings = Pings::to(&[node(1, health)]).await.unwrap();
            pings.send(NodeId(1), b"ping".to_vec());
            let mut bytes = [0; 10];
            let (length, from) = there.recv_from(&mut bytes).await.unwrap();
            assert_eq!(&bytes[..length], b"ping");
            let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            for _ in 0..5000 {
                // Refused, once the kernel has said that nobody listens to it there.
                let _ = stranger.send_to(&[7; 1000], from).await;
            }
            there.send_to(b"pong", from).await.unwrap();
            assert_eq!(soon(&pings).await, [b"pong".to_vec()]);
        }
    }

    #[tokio::test]
    async fn a_look_is_bounded_whoever_says_how_much() {
        let there = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let pings = Pings::to(&[node(1, there.local_addr().unwrap().to_string())]).await.unwrap();
        pings.send(NodeId(1), b"ping".to_vec());
        let (_, from) = there.recv_from(&mut [0; 10]).await.unwrap();
        for _ in 0..2 * PONG_MESSAGES_MAX {
            there.send_to(b"pong", from).await.unwrap();
        }
        assert!(soon(&pings).await.len() <= PONG_MESSAGES_MAX);
    }
}
