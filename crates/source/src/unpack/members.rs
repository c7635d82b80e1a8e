//! The members of a compressed file, one after the other: what was appended to it is a part of it.

use std::io::{self, ErrorKind, Read};

use bzip2::bufread::MultiBzDecoder;
use caudal_core::limits;
use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;
use lzma_rust2::XzReader;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::codec::Codec;
use super::raw::Raw;

/// A decoder, of a member or of all of them.
#[allow(clippy::large_enum_variant, reason = "there is one a file")]
enum Decoder {
    Gzip(GzDecoder<Raw>),
    Zstd(ZstdDecoder<'static, Raw>),
    Bzip2(MultiBzDecoder<Raw>),
    Xz(XzReader<Raw>),
    Lz4(Box<FrameDecoder<Raw>>),
}

impl Decoder {
    fn new(codec: Codec, raw: Raw) -> io::Result<Decoder> {
        Ok(match codec {
            Codec::Gzip => Decoder::Gzip(GzDecoder::new(raw)),
            Codec::Zstd => {
                let mut decoder = ZstdDecoder::with_buffer(raw)?;
                decoder.window_log_max(limits::UNPACK_WINDOW_BYTES_MAX.ilog2())?;
                Decoder::Zstd(decoder)
            }
            Codec::Bzip2 => Decoder::Bzip2(MultiBzDecoder::new(raw)),
            Codec::Xz => {
                let memory_kib = (limits::UNPACK_WINDOW_BYTES_MAX >> 10) as u32;
                Decoder::Xz(XzReader::new_mem_limit(raw, true, memory_kib))
            }
            Codec::Lz4 => Decoder::Lz4(Box::new(FrameDecoder::new(raw))),
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Gzip(decoder) => decoder.read(into),
            Decoder::Zstd(decoder) => decoder.read(into),
            Decoder::Bzip2(decoder) => decoder.read(into),
            Decoder::Xz(decoder) => decoder.read(into),
            Decoder::Lz4(decoder) => decoder.read(into),
        }
    }

    fn raw(&mut self) -> Option<&mut Raw> {
        match self {
            Decoder::Gzip(decoder) => Some(decoder.get_mut()),
            Decoder::Zstd(decoder) => Some(decoder.get_mut()),
            Decoder::Bzip2(decoder) => Some(decoder.get_mut()),
            Decoder::Xz(_) => None,
            Decoder::Lz4(decoder) => Some(decoder.get_mut()),
        }
    }

    fn into_raw(self) -> Raw {
        match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
            Decoder::Xz(decoder) => decoder.into_inner(),
            Decoder::Lz4(decoder) => decoder.into_inner(),
        }
    }
}

/// All members of a file, decompressed.
pub struct Members {
    codec: Codec,
    /// None, after the last one.
    decoder: Option<Decoder>,
}

impl Members {
    pub fn new(codec: Codec, raw: Raw) -> io::Result<Members> {
        Ok(Members { codec, decoder: Some(Decoder::new(codec, raw)?) })
    }

    /// Whether the last error was of the file itself, not of what is in it.
    pub fn has_failed(&mut self) -> bool {
        let raw = self.decoder.as_mut().and_then(Decoder::raw);
        raw.is_some_and(|raw| raw.has_failed())
    }

    /// Goes on to the next member, if anything follows the one that has ended.
    fn next_member(&mut self, ended: Decoder) -> io::Result<()> {
        let mut raw = ended.into_raw();
        // lz4's decoder takes the end of the file for the end of a frame.
        if raw.is_short() && self.codec == Codec::Lz4 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if is_at_end(&mut raw, self.codec)? {
            return Ok(());
        }
        if Codec::of(raw.peek(super::codec::MAGIC_BYTES)?) != Some(self.codec) {
            let error = format!("what follows is not {}", self.codec.name());
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        self.decoder = Some(Decoder::new(self.codec, raw)?);
        Ok(())
    }
}

/// Whether nothing follows, or only what tapes are filled up with.
fn is_at_end(raw: &mut Raw, codec: Codec) -> io::Result<bool> {
    use io::BufRead;
    loop {
        let rest = raw.peek(1)?;
        if rest.is_empty() {
            return Ok(true);
        }
        let is_padding = codec == Codec::Gzip && rest.iter().all(|byte| *byte == 0);
        if !is_padding {
            return Ok(false);
        }
        let bytes = rest.len();
        raw.consume(bytes);
    }
}

impl Read for Members {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        while let Some(decoder) = &mut self.decoder {
            match decoder.read(into)? {
                0 => {
                    if let Some(ended) = self.decoder.take() {
                        self.next_member(ended)?;
                    }
                }
                bytes => return Ok(bytes),
            }
        }
        Ok(0)
    }
}
