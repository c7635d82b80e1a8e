//! Decompression: by what a file begins with, in a thread of its own, ahead of whoever parses.

mod ahead;
mod codec;
mod members;
mod raw;

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use caudal_core::limits;
use caudal_csv::Input;
use thiserror::Error;

use self::ahead::Ahead;
pub use self::codec::{Codec, MAGIC_BYTES};
use self::members::Members;
use self::raw::{FailureOf, Raw};

/// What is wrong with compressed bytes. Comes within an [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Damage {
    #[error("the {} data ends too early, at byte {offset}", .codec.name())]
    Truncated { codec: Codec, offset: u64 },
    #[error("the {} data is damaged before byte {offset}: {why}", .codec.name())]
    Corrupt { codec: Codec, offset: u64, why: String },
    #[error("{offset} bytes of {} make more than {bytes}", .codec.name())]
    Bomb { codec: Codec, offset: u64, bytes: u64 },
}

/// The bytes of a file as they are meant: decompressed, if they are compressed. `taken` counts those of the file.
pub fn unpacked(input: Input, taken: Arc<AtomicU64>) -> io::Result<Input> {
    Ok(match unpacked_here(input, taken)? {
        (None, plain) => plain,
        (Some(_), packed) => Box::new(Ahead::of(packed)?),
    })
}

/// The same without a thread, for a few of them.
pub fn unpacked_here(input: Input, taken: Arc<AtomicU64>) -> io::Result<(Option<Codec>, Input)> {
    let mut raw = Raw::new(input, Arc::clone(&taken));
    let codec = Codec::of(raw.peek(MAGIC_BYTES)?);
    Ok(match codec {
        None => (None, Box::new(raw)),
        Some(codec) => {
            let failure = raw.failure();
            let members = Members::new(codec, raw)?;
            let bounded = Bounded { codec, members, failure, taken, made: 0, is_over: false };
            (Some(codec), Box::new(bounded))
        }
    })
}

/// What is decompressed, as long as it is right and not too much.
struct Bounded {
    codec: Codec,
    members: Members,
    failure: FailureOf,
    taken: Arc<AtomicU64>,
    made: u64,
    /// After an error nothing more comes: some decoders would go on.
    is_over: bool,
}

impl Bounded {
    fn damage(&mut self, error: io::Error) -> io::Error {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(failure) = failure {
            return failure.into();
        }
        if self.members.has_failed() {
            return error;
        }
        let (codec, offset) = (self.codec, self.taken.load(Ordering::Relaxed));
        let damage = match error.kind() {
            ErrorKind::UnexpectedEof => Damage::Truncated { codec, offset },
            _ => Damage::Corrupt { codec, offset, why: error.to_string() },
        };
        io::Error::other(damage)
    }

    /// Even what compresses best does not come to this much: who made it wants a disk or a day to be full.
    fn check_size(&self) -> io::Result<()> {
        let offset = self.taken.load(Ordering::Relaxed);
        let counted = offset.max(limits::UNPACK_BYTES_FREE);
        let bytes = counted.saturating_mul(limits::UNPACKED_BYTES_PER_BYTE_MAX);
        match self.made <= bytes {
            true => Ok(()),
            false => Err(io::Error::other(Damage::Bomb { codec: self.codec, offset, bytes })),
        }
    }
}

impl Read for Bounded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        let read = self.members.read(into).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => error,
            _ => self.damage(error),
        });
        self.made += *read.as_ref().unwrap_or(&0) as u64;
        let read = read.and_then(|bytes| self.check_size().map(|()| bytes));
        self.is_over = matches!(&read, Err(error) if error.kind() != ErrorKind::Interrupted);
        read
    }
}
