//! Pipes: bytes that come once.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use caudal_core::limits;
use caudal_csv::Input;

use crate::error::Error;

type Open = Box<dyn Fn() -> io::Result<Input> + Send + Sync>;

/// Bytes that come once, with the first of them kept.
pub struct Pipe {
    open: Open,
    state: Mutex<State>,
}

enum State {
    Closed,
    /// None of the rest, if that is all.
    Begun {
        kept: Vec<u8>,
        rest: Option<Input>,
    },
    Gone,
}

impl Pipe {
    pub fn new(open: impl Fn() -> io::Result<Input> + Send + Sync + 'static) -> Pipe {
        Pipe { open: Box::new(open), state: Mutex::new(State::Closed) }
    }

    /// One for all who name it, while there are any: two readers would each get a part of what comes.
    pub fn shared(
        path: &Path,
        open: impl Fn() -> io::Result<Input> + Send + Sync + 'static,
    ) -> Arc<Pipe> {
        static PIPES: Mutex<BTreeMap<PathBuf, Weak<Pipe>>> = Mutex::new(BTreeMap::new());
        let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
        pipes.retain(|_, pipe| pipe.strong_count() > 0);
        if let Some(pipe) = pipes.get(path).and_then(Weak::upgrade) {
            return pipe;
        }
        let pipe = Arc::new(Pipe::new(open));
        pipes.insert(path.to_path_buf(), Arc::downgrade(&pipe));
        pipe
    }

    /// The first bytes, and whether there are no others.
    pub fn sample(&self, path: &Path) -> Result<(Vec<u8>, bool), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.begin(&mut state).map_err(|error| Error::read(path, error))?;
        match &*state {
            State::Begun { kept, rest } => Ok((kept.clone(), rest.is_none())),
            _ => Err(Error::OnlyOnce(path.to_path_buf())),
        }
    }

    /// All bytes. Of few, which are all kept, it can be asked again.
    pub fn take(&self, path: &Path) -> Result<Input, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.begin(&mut state).map_err(|error| Error::read(path, error))?;
        if let State::Begun { kept, rest: None } = &*state {
            return Ok(Box::new(Cursor::new(kept.clone())));
        }
        match std::mem::replace(&mut *state, State::Gone) {
            State::Begun { kept, rest: Some(rest) } => Ok(Box::new(Cursor::new(kept).chain(rest))),
            _ => Err(Error::OnlyOnce(path.to_path_buf())),
        }
    }

    fn begin(&self, state: &mut State) -> io::Result<()> {
        if let State::Closed = state {
            let mut input = (self.open)()?;
            let mut kept = vec![];
            let bytes = limits::PIPE_SAMPLE_BYTES as u64;
            let read = (&mut input).take(bytes).read_to_end(&mut kept)?;
            let rest = (read as u64 == bytes).then_some(input);
            *state = State::Begun { kept, rest };
        }
        Ok(())
    }

    pub fn is_gone(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*state, State::Gone)
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pipe")
    }
}
