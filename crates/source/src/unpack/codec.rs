//! Compressions, known by the first bytes of what they made.

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lz4,
}

/// Bytes that tell a compression, and any format, by what a file begins with.
pub const MAGIC_BYTES: usize = 16;

impl Codec {
    /// Of a file that begins so; names say nothing.
    pub fn of(head: &[u8]) -> Option<Codec> {
        let is_zstd = |head: &[u8]| {
            // A frame, or one of sixteen that are to be skipped.
            head.starts_with(b"\x28\xb5\x2f\xfd")
                || matches!(head, [first, 0x2a, 0x4d, 0x18, ..] if first & 0xf0 == 0x50)
        };
        match head {
            [0x1f, 0x8b, 0x08, ..] => Some(Codec::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..]
                if block.starts_with(b"1AY&SY")
                    || block.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
            {
                Some(Codec::Bzip2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Some(Codec::Xz),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Codec::Lz4),
            head if is_zstd(head) => Some(Codec::Zstd),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
            Codec::Lz4 => "lz4",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_not_compressed() {
        for text in ["", "a,b\n1,2\n", "BZh9,title\n", "BZ", "{\"a\":1}", "\x04", "(\u{b5}/"] {
            assert_eq!(Codec::of(text.as_bytes()), None, "{text:?}");
        }
    }
}
