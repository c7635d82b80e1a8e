//! HTTP/2 by hand: frames that no library would send.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::attack::{CLOSED, Told};

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RESET: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// What a gateway gives to somebody who shows no token, and then some.
const CLOSES_WITHIN: Duration = Duration::from_secs(20);

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let stream = stream.to_be_bytes();
    [&length[1..], &[kind, flags], &stream, payload].concat()
}

/// The preface and empty settings: what every connection begins with.
pub fn beginning() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

/// A header, literally (RFC 7541, 6.2.2).
pub fn header(name: &str, value: &str) -> Vec<u8> {
    [&[0_u8][..], &text(name), &text(value)].concat()
}

pub fn text(text: &str) -> Vec<u8> {
    [&integer(text.len(), 7)[..], text.as_bytes()].concat()
}

/// With a prefix of so many bits, the others being zero (RFC 7541, 5.1).
fn integer(value: usize, bits: u32) -> Vec<u8> {
    let most = (1 << bits) - 1;
    if value < most {
        return vec![value as u8];
    }
    let (mut bytes, mut rest) = (vec![most as u8], value - most);
    while rest >= 128 {
        bytes.push((rest % 128 + 128) as u8);
        rest /= 128;
    }
    bytes.push(rest as u8);
    bytes
}

/// The headers of a call, as far as they are needed to be looked at.
pub fn call(token: Option<&str>) -> Vec<u8> {
    // POST, http.
    let mut block = vec![0x83, 0x86];
    block.extend(header(":path", "/arrow.flight.protocol.FlightService/DoAction"));
    block.extend(header(":authority", "gateway"));
    block.extend(header("content-type", "application/grpc"));
    block.extend(header("te", "trailers"));
    if let Some(token) = token {
        block.extend(header("authorization", &format!("Bearer {token}")));
    }
    block
}

/// Says all this, as far as it is listened to, and waits to be hung up on.
pub fn says(address: &str, pieces: impl IntoIterator<Item = Vec<u8>>) -> Told {
    let mut tcp = TcpStream::connect(address).unwrap();
    say(&mut tcp, pieces);
    is_closed(&mut tcp)
}

/// Says all this, as far as it is listened to.
pub fn say(tcp: &mut TcpStream, pieces: impl IntoIterator<Item = Vec<u8>>) {
    tcp.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    for piece in pieces {
        // It is closed, or nobody reads.
        if tcp.write_all(&piece).is_err() {
            break;
        }
    }
}

pub fn is_closed(tcp: &mut TcpStream) -> Told {
    let deadline = Instant::now() + CLOSES_WITHIN;
    let mut bytes = [0; 1 << 16];
    while Instant::now() < deadline {
        tcp.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        match tcp.read(&mut bytes) {
            Ok(0) => return Told::new(CLOSED),
            Ok(_) => {}
            Err(error) if is_late(&error) => {}
            Err(_) => return Told::new(CLOSED),
        }
    }
    Told::new("kept")
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
