//! Objects that notice their own damage.
//!
//! ```text
//! "CDJ1" | xxHash64 of all that follows, u64 LE | length of the body, u64 LE
//!        | length of the header, u32 LE | header, JSON | body
//! ```

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use twox_hash::XxHash64;

use crate::error::Error;

const MAGIC: &[u8; 4] = b"CDJ1";
const CHECKED_FROM: usize = MAGIC.len() + 8;
const HEADER_FROM: usize = CHECKED_FROM + 8 + 4;
const SEED: u64 = 0;

/// One object of a header and a body, which may be given in pieces.
pub(crate) fn seal(header: &impl Serialize, body: &[Bytes]) -> Bytes {
    let header = serde_json::to_vec(header).expect("a header is numbers and names");
    let header_bytes = u32::try_from(header.len()).expect("a header is far below 4 GiB");
    let body_bytes: usize = body.iter().map(Bytes::len).sum();

    let mut object = BytesMut::with_capacity(HEADER_FROM + header.len() + body_bytes);
    object.put_slice(MAGIC);
    object.put_u64_le(0);
    object.put_u64_le(body_bytes as u64);
    object.put_u32_le(header_bytes);
    object.put_slice(&header);
    for piece in body {
        object.put_slice(piece);
    }
    let checksum = XxHash64::oneshot(SEED, &object[CHECKED_FROM..]);
    object[MAGIC.len()..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
    object.freeze()
}

/// The header and the body of the object `name`.
pub(crate) fn unseal<H: DeserializeOwned>(name: &str, object: &Bytes) -> Result<(H, Bytes), Error> {
    if object.len() < HEADER_FROM || !object.starts_with(MAGIC) {
        return Err(Error::corrupt(name, "it does not begin like an object of this version"));
    }
    let number = |from: usize| {
        let bytes = object[from..from + 8].try_into().expect("eight bytes, within the prefix");
        u64::from_le_bytes(bytes)
    };
    let body_bytes = number(CHECKED_FROM);
    let header_bytes = number(CHECKED_FROM + 4) >> 32;
    let bytes = body_bytes.saturating_add(header_bytes).saturating_add(HEADER_FROM as u64);
    if object.len() as u64 != bytes {
        let reason = format!("it has {} bytes and should have {bytes}", object.len());
        return Err(Error::corrupt(name, reason));
    }
    if XxHash64::oneshot(SEED, &object[CHECKED_FROM..]) != number(MAGIC.len()) {
        return Err(Error::corrupt(name, "its checksum is wrong"));
    }
    let body_from = object.len() - body_bytes as usize;
    let header = serde_json::from_slice(&object[HEADER_FROM..body_from])
        .map_err(|error| Error::corrupt(name, format!("its header is not ours: {error}")))?;
    Ok((header, object.slice(body_from..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Bytes {
        seal(&("commit", 7), &[Bytes::from_static(b"one"), Bytes::from_static(b"two")])
    }

    #[test]
    fn what_was_sealed_is_read_back() {
        let (header, body): ((String, u64), Bytes) = unseal("x", &object()).unwrap();
        assert_eq!(header, ("commit".to_string(), 7));
        assert_eq!(body, "onetwo");
    }

    #[test]
    fn every_torn_or_flipped_byte_is_noticed() {
        let object = object();
        let is_corrupt = |object: &Bytes| {
            let error = unseal::<(String, u64)>("x", object).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        };
        for length in 0..object.len() {
            is_corrupt(&object.slice(..length));
        }
        for at in 0..object.len() {
            let mut flipped = object.to_vec();
            flipped[at] ^= 0x10;
            is_corrupt(&Bytes::from(flipped));
        }
        is_corrupt(&Bytes::from([&object[..], b"more"].concat()));
    }
}
