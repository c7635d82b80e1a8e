//! The wire format of monitors and nodes, and its signatures.
//!
//! Everything is signed with the cluster's secret (HMAC-SHA256). A pong repeats the nonce of its ping, which
//! counts once. A message between monitors is signed together with a challenge that its receiver has just
//! drawn. So neither can be played again.
//!
//! ```text
//! datagram:  "CDM1" | signature, 32 bytes | JSON
//! message:   length of what follows, u32 LE | signature, 32 bytes | JSON
//! ```

use caudal_core::limits::{DATAGRAM_BYTES_MAX, MONITOR_FRAME_BYTES_MAX};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::state::Message;
use crate::{NodeId, Process};

const MAGIC: &[u8; 4] = b"CDM1";
const SIGNATURE_BYTES: usize = 32;
const BLOCK_BYTES: usize = 64;
pub const CHALLENGE_BYTES: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Datagram {
    Ping { to: String, nonce: u64 },
    Pong(Health),
}

/// The health of a node, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    pub from: String,
    pub nonce: u64,
    pub process: Process,
    pub state: NodeState,
    /// The leader that a monitor follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<NodeId>,
    /// The nodes that a leader does not try to bring back any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_up: Vec<NodeId>,
    /// The longest computation of a worker, in words, if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    Starting,
    Running,
    Stuck,
}

/// A message from one monitor to another, with its addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    pub from: NodeId,
    pub to: NodeId,
    pub message: Message,
}

/// The secret that all nodes of a cluster share.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    pub fn new(secret: impl Into<Vec<u8>>) -> Self {
        Self(secret.into())
    }

    pub fn seal(&self, datagram: &Datagram) -> Vec<u8> {
        let body = json(datagram);
        let signature = self.sign(&[MAGIC, b"udp", &body]);
        [MAGIC, &signature[..], &body].concat()
    }

    /// None: too long, not ours, or not understood. Why is nobody's business.
    pub fn open(&self, bytes: &[u8]) -> Option<Datagram> {
        if bytes.len() > DATAGRAM_BYTES_MAX {
            return None;
        }
        let (signature, body) = bytes.strip_prefix(MAGIC)?.split_at_checked(SIGNATURE_BYTES)?;
        self.read(signature, &[MAGIC, b"udp", body], body)
    }

    pub fn seal_envelope(&self, envelope: &Envelope, challenge: &[u8; CHALLENGE_BYTES]) -> Vec<u8> {
        let body = json(envelope);
        let signature = self.sign(&[MAGIC, b"tcp", challenge, &body]);
        let length = (SIGNATURE_BYTES + body.len()) as u32;
        [&length.to_le_bytes()[..], &signature, &body].concat()
    }

    /// The envelope after the length of a message, whose bound the reader has checked before it read it.
    pub fn open_envelope(
        &self,
        bytes: &[u8],
        challenge: &[u8; CHALLENGE_BYTES],
    ) -> Option<Envelope> {
        let (signature, body) = bytes.split_at_checked(SIGNATURE_BYTES)?;
        self.read(signature, &[MAGIC, b"tcp", challenge, body], body)
    }

    fn read<T: DeserializeOwned>(
        &self,
        signature: &[u8],
        signed: &[&[u8]],
        body: &[u8],
    ) -> Option<T> {
        let expected = self.sign(signed);
        // In the same time wherever they differ.
        let differs = expected.iter().zip(signature).fold(0, |all, (a, b)| all | (a ^ b));
        if differs != 0 { None } else { serde_json::from_slice(body).ok() }
    }

    /// HMAC-SHA256 (RFC 2104).
    fn sign(&self, parts: &[&[u8]]) -> [u8; SIGNATURE_BYTES] {
        let mut key = [0; BLOCK_BYTES];
        if self.0.len() > BLOCK_BYTES {
            key[..SIGNATURE_BYTES].copy_from_slice(&Sha256::digest(&self.0));
        } else {
            key[..self.0.len()].copy_from_slice(&self.0);
        }
        let mut inner = Sha256::new_with_prefix(key.map(|byte| byte ^ 0x36));
        parts.iter().for_each(|part| inner.update(part));
        let outer = Sha256::new_with_prefix(key.map(|byte| byte ^ 0x5c));
        outer.chain_update(inner.finalize()).finalize().into()
    }
}

/// The length of a message, if it may be read.
pub fn envelope_bytes(length: [u8; 4]) -> Option<usize> {
    let bytes = u32::from_le_bytes(length) as usize;
    (SIGNATURE_BYTES..=MONITOR_FRAME_BYTES_MAX).contains(&bytes).then_some(bytes)
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("messages are plain data")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elect::ElectionMessage;

    fn secret() -> Secret {
        Secret::new("a secret")
    }

    fn ping() -> Datagram {
        Datagram::Ping { to: "worker-1".into(), nonce: u64::MAX }
    }

    fn envelope() -> Envelope {
        let message = Message::Election(ElectionMessage::Coordinator);
        Envelope { from: NodeId(1), to: NodeId(2), message }
    }

    /// Test cases 1, 2 and 6 of RFC 4231.
    #[test]
    fn signatures_are_hmac_sha256() {
        let hex = |bytes: [u8; 32]| -> String {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let signed = |key: &[u8], data: &[u8]| hex(Secret::new(key).sign(&[data]));
        assert_eq!(
            signed(&[0x0b; 20], b"Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            signed(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            signed(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn what_is_sealed_is_opened_by_the_same_secret_alone() {
        let sealed = secret().seal(&ping());
        assert_eq!(secret().open(&sealed), Some(ping()));
        assert_eq!(Secret::new("another").open(&sealed), None);
    }

    #[test]
    fn any_byte_that_is_changed_or_missing_is_noticed() {
        let sealed = secret().seal(&ping());
        for at in 0..sealed.len() {
            assert_eq!(secret().open(&sealed[..at]), None, "cut at {at}");
            let mut other = sealed.clone();
            other[at] ^= 1;
            assert_eq!(secret().open(&other), None, "changed at {at}");
        }
        let long = [sealed, vec![b' '; DATAGRAM_BYTES_MAX]].concat();
        assert_eq!(secret().open(&long), None);
    }

    #[test]
    fn an_envelope_answers_one_challenge_only() {
        let (one, other) = ([1; CHALLENGE_BYTES], [2; CHALLENGE_BYTES]);
        let sealed = secret().seal_envelope(&envelope(), &one);
        let length = sealed[..4].try_into().unwrap();
        assert_eq!(envelope_bytes(length), Some(sealed.len() - 4));
        assert_eq!(secret().open_envelope(&sealed[4..], &one), Some(envelope()));
        assert_eq!(secret().open_envelope(&sealed[4..], &other), None, "played again");
        // Nor is it a datagram.
        let datagram = [MAGIC, &sealed[4..]].concat();
        assert_eq!(secret().open(&datagram), None);
    }

    #[test]
    fn lengths_are_bounded() {
        assert_eq!(envelope_bytes(u32::MAX.to_le_bytes()), None);
        assert_eq!(envelope_bytes((MONITOR_FRAME_BYTES_MAX as u32 + 1).to_le_bytes()), None);
        assert_eq!(envelope_bytes(0u32.to_le_bytes()), None);
    }
}
