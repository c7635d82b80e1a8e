//! A thread that decompresses ahead of whoever parses.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use caudal_core::limits;
use caudal_csv::Input;

/// What a thread has read, in its order. The thread ends with its input, or when this is dropped.
pub struct Ahead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// Buffers that have been used up.
    used: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
    /// The end or an error has been told.
    is_over: bool,
}

/// Its end is a piece of nothing: who only falls silent has not come to the end.
const DIED: &str = "the thread that decompresses it died";

impl Ahead {
    pub fn of(input: Input) -> io::Result<Ahead> {
        let (sender, pieces) = sync_channel(limits::UNPACK_AHEAD_BUFFERS);
        let (used, free) = sync_channel(limits::UNPACK_AHEAD_BUFFERS);
        let work = move || read_ahead(input, &sender, &free);
        thread::Builder::new().name("unpack".into()).spawn(work)?;
        Ok(Ahead { pieces, used, piece: vec![], at: 0, is_over: false })
    }
}

fn read_ahead(
    mut input: Input,
    pieces: &SyncSender<io::Result<Vec<u8>>>,
    free: &Receiver<Vec<u8>>,
) {
    loop {
        let mut piece = free.try_recv().unwrap_or_default();
        let ended = fill(&mut input, &mut piece);
        let is_end = piece.is_empty();
        // What came before an error is told before it. Nobody waits for either where the reader is gone.
        if (!is_end || ended.is_ok()) && pieces.send(Ok(piece)).is_err() {
            return;
        }
        if let Err(error) = ended {
            let _ = pieces.send(Err(error));
            return;
        }
        if is_end {
            return;
        }
    }
}

/// As much as comes at once, up to a buffer; nothing at the end.
fn fill(input: &mut Input, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.resize(limits::UNPACK_BUFFER_BYTES, 0);
    let mut len = 0;
    let ended = loop {
        match input.read(&mut buffer[len..]) {
            Ok(0) => break Ok(()),
            Ok(bytes) => len += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    buffer.truncate(len);
    ended
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            if self.is_over {
                return Ok(0);
            }
            let next = self.pieces.recv().unwrap_or_else(|_| Err(io::Error::other(DIED)));
            self.is_over = !matches!(&next, Ok(piece) if !piece.is_empty());
            let used = std::mem::replace(&mut self.piece, next?);
            self.at = 0;
            // One that is not wanted back is freed.
            let _ = self.used.try_send(used);
        }
        let bytes = into.len().min(self.piece.len() - self.at);
        into[..bytes].copy_from_slice(&self.piece[self.at..][..bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(usize);

    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("broken"));
            }
            let bytes = self.0.min(into.len());
            self.0 -= bytes;
            Ok(bytes)
        }
    }

    struct Panicking;

    impl Read for Panicking {
        fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
            std::panic::resume_unwind(Box::new("a mistake"))
        }
    }

    #[test]
    fn what_comes_before_an_error_is_read() {
        for bytes in [0, 1, limits::UNPACK_BUFFER_BYTES, 3 * limits::UNPACK_BUFFER_BYTES + 1] {
            let mut ahead = Ahead::of(Box::new(Failing(bytes))).unwrap();
            let mut read = vec![];
            let error = ahead.read_to_end(&mut read).unwrap_err();
            assert_eq!((read.len(), error.to_string()), (bytes, "broken".to_string()));
        }
    }

    #[test]
    fn a_thread_that_dies_is_no_end() {
        let mut ahead = Ahead::of(Box::new(Panicking)).unwrap();
        let error = ahead.read_to_end(&mut vec![]).unwrap_err();
        assert_eq!(error.to_string(), DIED);
    }

    #[test]
    fn all_of_it_comes_in_its_order() {
        let content: Vec<u8> = (0..1_000_000u32).flat_map(u32::to_le_bytes).collect();
        let mut ahead = Ahead::of(Box::new(io::Cursor::new(content.clone()))).unwrap();
        let mut read = vec![];
        ahead.read_to_end(&mut read).unwrap();
        assert_eq!(read, content);
        assert_eq!(ahead.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn a_reader_that_goes_ends_the_thread() {
        let ahead = Ahead::of(Box::new(io::repeat(7))).unwrap();
        let used = ahead.used.clone();
        drop(ahead);
        // Its end of that channel goes with the thread.
        while used.try_send(vec![]) != Err(std::sync::mpsc::TrySendError::Disconnected(vec![])) {
            thread::yield_now();
        }
    }
}
