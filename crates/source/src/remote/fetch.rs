//! Bytes of an object, asked for again where the answer breaks off or falls silent.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use caudal_core::limits;
use futures::StreamExt;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::failure::Failure;
use super::object::Object;
use super::spawn;

/// What is awaited, unless it takes too long.
pub async fn before_silence<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let patience = Duration::from_millis(limits::REMOTE_SILENT_MS_MAX);
    let silent = || format!("nothing came for {} s", patience.as_secs());
    timeout(patience, work).await.map_err(|_| Failure::Cut(silent()))
}

/// Tries that are left, and how long to wait before the next.
pub struct Tries(usize);

impl Tries {
    pub fn new() -> Tries {
        Tries(0)
    }

    /// Waits before another try; fails if there were enough. Whatever has come since counts as a new beginning.
    pub async fn again(&mut self, has_come: bool, why: Failure) -> Result<(), Failure> {
        if has_come {
            self.0 = 0;
        }
        if self.0 == limits::REMOTE_CUTS_RETRIES {
            return Err(why);
        }
        sleep(Duration::from_millis(limits::REMOTE_CUT_WAIT_MS << self.0)).await;
        self.0 += 1;
        Ok(())
    }
}

/// A range of an object that is on its way. It is given up when nobody wants it any more.
pub struct Fetch {
    slot: Arc<Slot>,
    task: AbortHandle,
}

#[derive(Default)]
struct Slot {
    come: Mutex<Option<Result<Bytes, Failure>>>,
    changed: Condvar,
}

/// Tells of whatever becomes of a request, also that it died.
struct Telling(Arc<Slot>);

impl Fetch {
    pub fn start(object: Arc<Object>, range: Range<u64>) -> Result<Fetch, Failure> {
        let slot = Arc::<Slot>::default();
        let telling = Telling(Arc::clone(&slot));
        let task = spawn(async move {
            let come = bytes_of(&object, range).await;
            telling.tell(come);
        })?;
        Ok(Fetch { slot, task })
    }

    /// The bytes, once they are all there.
    pub fn wait(&self) -> Result<Bytes, Failure> {
        let mut come = self.slot.come.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(come) = &*come {
                return come.clone();
            }
            come = self.slot.changed.wait(come).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Telling {
    fn tell(&self, come: Result<Bytes, Failure>) {
        let mut slot = self.0.come.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(come);
        self.0.changed.notify_all();
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.tell(Err(Failure::Unreadable("its request died".into())));
    }
}

async fn bytes_of(object: &Object, range: Range<u64>) -> Result<Bytes, Failure> {
    let wanted = (range.end - range.start) as usize;
    let (mut bytes, mut tries) = (Vec::with_capacity(wanted), Tries::new());
    loop {
        let had = bytes.len();
        let rest = range.start + had as u64..range.end;
        match append(object, rest, &mut bytes).await {
            Ok(()) => return Ok(bytes.into()),
            Err(why @ Failure::Cut(_)) => tries.again(bytes.len() > had, why).await?,
            Err(why) => return Err(why),
        }
    }
}

/// Appends a range, or as much of it as comes.
async fn append(object: &Object, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    let end = bytes.len() + (range.end - range.start) as usize;
    let mut stream = object.get(Some(range)).await?.into_stream();
    loop {
        match before_silence(stream.next()).await? {
            Some(Ok(piece)) if piece.len() <= end - bytes.len() => bytes.extend_from_slice(&piece),
            Some(Ok(_)) => return Err(Failure::Unreadable("more comes than was asked for".into())),
            Some(Err(error)) => return Err(object.failed(&error).cut()),
            None if bytes.len() == end => return Ok(()),
            None => return Err(Failure::ended()),
        }
    }
}
