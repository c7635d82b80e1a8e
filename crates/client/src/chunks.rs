//! The chunks of a table, for tasks that must not wait for them as threads do.

use std::sync::Arc;

use caudal_source::{Chunk, TableSource};
use tokio::sync::{Mutex, mpsc};

use crate::Error;

type Next = Result<Chunk, caudal_source::Error>;

/// A table's chunks, shared by the tasks that send it.
#[derive(Clone)]
pub enum Chunks {
    /// Of files, which can be read at once.
    Now(Arc<dyn TableSource>),
    /// Of pipes, and of the net, from which nothing may come for long.
    Later(Arc<Mutex<mpsc::Receiver<Next>>>),
}

impl Chunks {
    pub fn of(source: &Arc<dyn TableSource>) -> Self {
        match source.waiting_threads() {
            0 => Self::Now(Arc::clone(source)),
            threads => Self::Later(Arc::new(Mutex::new(waited_for(source, threads)))),
        }
    }

    /// The next one, or none at the end and after an error.
    pub async fn next(&self) -> Result<Option<Chunk>, Error> {
        match self {
            Self::Now(source) => Ok(source.next_chunk()?),
            Self::Later(chunks) => Ok(chunks.lock().await.recv().await.transpose()?),
        }
    }
}

/// What threads of its own wait for. They are none of the runtime's, which would not end before the pipe does.
#[allow(clippy::disallowed_methods, reason = "a simulation has no pipes")]
fn waited_for(source: &Arc<dyn TableSource>, threads: usize) -> mpsc::Receiver<Next> {
    let (sender, chunks) = mpsc::channel(1);
    for _ in 0..threads {
        let (source, sender) = (Arc::clone(source), sender.clone());
        std::thread::spawn(move || {
            while let Some(next) = source.next_chunk().transpose() {
                let is_over = next.is_err();
                if sender.blocking_send(next).is_err() || is_over {
                    return;
                }
            }
        });
    }
    chunks
}
