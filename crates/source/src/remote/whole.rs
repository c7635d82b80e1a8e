//! All of an object from its beginning, where no parts of it can be had.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::{Buf, Bytes};
use caudal_core::limits;
use futures::StreamExt;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::failure::Failure;
use super::fetch::{Tries, before_silence};
use super::object::Object;
use super::spawn;

/// Reads an object that comes in one answer, a bounded number of bytes ahead.
pub struct Whole {
    pieces: Receiver<Result<Bytes, Failure>>,
    piece: Bytes,
    /// Bytes that may still be on their way.
    room: Arc<Semaphore>,
    left: u64,
    task: AbortHandle,
    failed: Option<Failure>,
}

const ROOM_BYTES: usize = limits::REMOTE_REQUEST_BYTES;

impl Whole {
    pub fn open(object: Arc<Object>) -> Result<Whole, Failure> {
        let (sender, pieces) = channel();
        let room = Arc::new(Semaphore::new(ROOM_BYTES));
        let (left, their_room) = (object.bytes(), Arc::clone(&room));
        let task = spawn(async move {
            if let Err(why) = pass_on(&object, &sender, &their_room).await {
                // Nobody may wait for it any more.
                drop(sender.send(Err(why)));
            }
        })?;
        Ok(Whole { pieces, piece: Bytes::new(), room, left, task, failed: None })
    }

    fn next_piece(&mut self) -> Result<Bytes, Failure> {
        if let Some(why) = &self.failed {
            return Err(why.clone());
        }
        let piece = self.pieces.recv().unwrap_or_else(|_| Err(Failure::ended()));
        piece.inspect_err(|why| self.failed = Some(why.clone()))
    }
}

/// Passes it on; where it breaks off, it comes once more, and what has come of it already is passed over.
async fn pass_on(
    object: &Object,
    to: &Sender<Result<Bytes, Failure>>,
    room: &Semaphore,
) -> Result<(), Failure> {
    let (mut passed, mut tries) = (0, Tries::new());
    loop {
        let before = passed;
        match pass_on_from(object, &mut passed, to, room).await {
            Err(why @ Failure::Cut(_)) if object.is_pinned() => {
                tries.again(passed > before, why).await?;
            }
            ended => return ended,
        }
    }
}

async fn pass_on_from(
    object: &Object,
    passed: &mut u64,
    to: &Sender<Result<Bytes, Failure>>,
    room: &Semaphore,
) -> Result<(), Failure> {
    let mut stream = object.get(None).await?.into_stream();
    let mut over = *passed;
    while *passed < object.bytes() {
        let mut piece = match before_silence(stream.next()).await? {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => return Err(object.failed(&error).cut()),
            None => return Err(Failure::ended()),
        };
        let again = over.min(piece.len() as u64);
        piece.advance(again as usize);
        over -= again;
        while !piece.is_empty() {
            let part = piece.split_to(piece.len().min(ROOM_BYTES));
            let Ok(taken) = room.acquire_many(part.len() as u32).await else { return Ok(()) };
            taken.forget();
            *passed += part.len() as u64;
            if to.send(Ok(part)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

impl Read for Whole {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || into.is_empty() {
            return Ok(0);
        }
        if self.piece.is_empty() {
            self.piece = self.next_piece()?;
        }
        let bytes = self.piece.len().min(into.len());
        self.piece.copy_to_slice(&mut into[..bytes]);
        self.room.add_permits(bytes);
        self.left = self.left.saturating_sub(bytes as u64);
        Ok(bytes)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.task.abort();
    }
}
