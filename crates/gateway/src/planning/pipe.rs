//! Messages between a gateway and a planner, on the planner's standard input and output: JSON, each after its length.
//! Both are the same program, so that nothing here need be understood by another version.

use std::io::{self, Read};

use caudal_core::{Failure, QueryId};
use caudal_protocol::outline::Outline;
use serde::{Deserialize, Serialize};

/// Message of a planner about the session whose manifest it was sent.
#[derive(Debug, Serialize, Deserialize)]
pub enum Said {
    /// It begins: with the session as a whole, or with this query of it. Should it die, that is what it died of.
    Begins(Option<QueryId>),
    Planned(Outline),
    /// Not one query can be answered; why, of each.
    Refused(Vec<Failure>),
    /// The session cannot be planned.
    Failed(Failure),
}

/// Bytes of a length.
pub const LENGTH_BYTES: usize = 4;

/// A value as it is sent; none, if it is longer than it may be.
pub fn frame(value: &impl Serialize, bytes_max: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut bytes, value).expect("plain data");
    let length = bytes.len() - LENGTH_BYTES;
    bytes[..LENGTH_BYTES].copy_from_slice(&u32::try_from(length).ok()?.to_le_bytes());
    (length <= bytes_max).then_some(bytes)
}

/// The length of what follows.
pub fn length(bytes: [u8; LENGTH_BYTES], bytes_max: usize) -> io::Result<usize> {
    let length = u32::from_le_bytes(bytes) as usize;
    match length <= bytes_max {
        true => Ok(length),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{length} bytes"))),
    }
}

/// Reads what was sent; none, once there will be nothing more.
pub fn read(input: &mut impl Read, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; LENGTH_BYTES];
    match input.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; length(header, bytes_max)?];
    input.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_read() {
        let sent = [frame(&"one", 100).unwrap(), frame(&"two", 100).unwrap()].concat();
        let mut input = sent.as_slice();
        assert_eq!(read(&mut input, 100).unwrap().unwrap(), b"\"one\"");
        assert_eq!(read(&mut input, 100).unwrap().unwrap(), b"\"two\"");
        assert!(read(&mut input, 100).unwrap().is_none());
        let half = &mut &sent[..6];
        assert!(read(half, 100).is_err(), "half a value is none");
    }

    #[test]
    fn nobody_is_made_to_hold_more_than_is_allowed() {
        assert!(frame(&"x".repeat(99), 100).is_none());
        let huge = u32::MAX.to_le_bytes();
        assert!(read(&mut huge.as_slice(), 100).is_err());
    }
}
