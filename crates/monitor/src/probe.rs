//! A probe of nodes, once: for `status`, and for those who wait until a cluster is ready.

use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use caudal_core::limits;
use caudal_core::limits::DATAGRAM_BYTES_MAX;

use crate::NodeId;
use crate::members::Member;
use crate::wire::{Datagram, Health, Secret};

/// The answers that come within `timeout`; it ends early when all have answered.
pub fn probe(
    nodes: &[&Member],
    secret: &Secret,
    timeout: Duration,
) -> io::Result<BTreeMap<NodeId, Health>> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let nonce = fastrand::u64(..);
    let mut answers = BTreeMap::new();
    for _ in 0..limits::STATUS_PINGS {
        for node in nodes.iter().filter(|node| !answers.contains_key(&node.id)) {
            let ping = secret.seal(&Datagram::Ping { to: node.name.clone(), nonce });
            // Nobody there: no answer.
            let _ = socket.send_to(&ping, &node.health);
        }
        let deadline = Instant::now() + timeout / limits::STATUS_PINGS;
        while answers.len() < nodes.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            socket.set_read_timeout(Some(left))?;
            let mut bytes = [0; DATAGRAM_BYTES_MAX + 1];
            let Ok((length, _)) = socket.recv_from(&mut bytes) else { continue };
            if let Some(Datagram::Pong(health)) = secret.open(&bytes[..length])
                && health.nonce == nonce
                && let Some(node) = nodes.iter().find(|node| node.name == health.from)
            {
                answers.insert(node.id, health);
            }
        }
    }
    Ok(answers)
}
