//! Where a table's bytes come from: a file, or a pipe that gives them once.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;
use std::{fmt, fs};

use caudal_core::limits;
use caudal_csv::Input;

use crate::error::Error;
use crate::unpack::{MAGIC_BYTES, unpacked, unpacked_here};

/// Name of standard input, where a file is named.
pub const STDIN: &str = "-";

/// A file of a table, or a pipe. Cheap to clone; what one clone has taken from a pipe is gone for all.
#[derive(Clone, Debug)]
pub struct Origin {
    path: Arc<Path>,
    pipe: Option<Arc<Pipe>>,
}

/// Facts by which a file is known to be the one that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Origin {
    /// A pipe is not opened before it has to be: that waits for its writer.
    pub fn of(path: &Path) -> Result<Origin, Error> {
        if path == Path::new(STDIN) {
            let stdin = Pipe::shared(path, || Ok(Box::new(io::stdin())));
            return Ok(Origin { path: path.into(), pipe: Some(stdin) });
        }
        let kind = metadata(path)?.file_type();
        let pipe = if kind.is_fifo() || kind.is_char_device() {
            let file: Arc<Path> = path.into();
            Some(Pipe::shared(path, move || Ok(Box::new(File::open(&file)?))))
        } else if kind.is_file() {
            None
        } else {
            return Err(Error::Csv(caudal_csv::Error::NotAFile(path.to_path_buf())));
        };
        Ok(Origin { path: path.into(), pipe })
    }

    /// Of a table, which has some.
    pub fn of_all(table: &str, files: &[PathBuf]) -> Result<Arc<[Origin]>, Error> {
        if files.is_empty() {
            return Err(caudal_csv::Error::NoFiles(table.into()).into());
        }
        files.iter().map(|file| Origin::of(file)).collect()
    }

    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    pub fn is_pipe(&self) -> bool {
        self.pipe.is_some()
    }

    /// The size of a file; unknown of a pipe.
    pub fn total_bytes(&self) -> Result<Option<u64>, Error> {
        match self.pipe {
            Some(_) => Ok(None),
            None => metadata(&self.path).map(|metadata| Some(metadata.len())),
        }
    }

    /// All bytes, decompressed if they are compressed; `taken` counts them as they are in the file.
    pub fn open(&self, taken: Arc<AtomicU64>) -> Result<Input, Error> {
        let input = match &self.pipe {
            Some(pipe) => pipe.take(&self.path)?,
            None => Box::new(self.file()?),
        };
        unpacked(input, taken).map_err(|error| Error::read(&self.path, error))
    }

    /// The beginning of those bytes, and whether it is all of them. It can be asked for again and again.
    pub fn sample(&self, bytes: usize) -> Result<(Vec<u8>, bool), Error> {
        let (input, is_cut): (Input, bool) = match &self.pipe {
            Some(pipe) => {
                let (kept, is_whole) = pipe.sample(&self.path)?;
                (Box::new(Cursor::new(kept)), !is_whole)
            }
            None => (Box::new(self.file()?), false),
        };
        let read = |error| Error::read(&self.path, error);
        let (_, mut input) = unpacked_here(input, Arc::default()).map_err(read)?;
        let mut sample = vec![];
        match (&mut input).take(bytes as u64 + 1).read_to_end(&mut sample) {
            // What was kept of a pipe ends anywhere.
            Err(_) if is_cut => {}
            Err(error) => return Err(read(error)),
            Ok(_) => {}
        }
        let is_whole = sample.len() <= bytes && !is_cut;
        sample.truncate(bytes);
        Ok((sample, is_whole))
    }

    /// The first bytes, as they are in the file.
    pub fn magic(&self) -> Result<Vec<u8>, Error> {
        let mut magic = match &self.pipe {
            Some(pipe) => pipe.sample(&self.path)?.0,
            None => {
                let mut magic = vec![];
                let read = self.file()?.take(MAGIC_BYTES as u64).read_to_end(&mut magic);
                read.map_err(|error| Error::read(&self.path, error))?;
                magic
            }
        };
        magic.truncate(MAGIC_BYTES);
        Ok(magic)
    }

    /// The file, where it is one.
    pub fn file(&self) -> Result<File, Error> {
        File::open(&self.path).map_err(|error| Error::read(&self.path, error))
    }

    pub fn stamp(&self) -> Result<Option<Stamp>, Error> {
        if self.is_pipe() {
            return Ok(None);
        }
        let metadata = metadata(&self.path)?;
        Ok(Some(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() }))
    }

    /// Fails unless it is what it was then.
    pub fn check_unchanged(&self, then: &Option<Stamp>) -> Result<(), Error> {
        match self.stamp()? == *then {
            true => Ok(()),
            false => Err(Error::Changed(self.path.to_path_buf())),
        }
    }

    /// Fails if it has been read and cannot be again.
    pub fn check_again(&self) -> Result<(), Error> {
        match &self.pipe {
            Some(pipe) if pipe.is_gone() => Err(Error::OnlyOnce(self.path.to_path_buf())),
            _ => Ok(()),
        }
    }
}

fn metadata(path: &Path) -> Result<Metadata, Error> {
    fs::metadata(path).map_err(|error| Error::read(path, error))
}

type Open = Box<dyn Fn() -> io::Result<Input> + Send + Sync>;

/// Bytes that come once, with the first of them kept.
struct Pipe {
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
    fn new(open: impl Fn() -> io::Result<Input> + Send + Sync + 'static) -> Pipe {
        Pipe { open: Box::new(open), state: Mutex::new(State::Closed) }
    }

    /// One for all who name it, while there are any: two readers would each get a part of what comes.
    fn shared(
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
    fn sample(&self, path: &Path) -> Result<(Vec<u8>, bool), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.begin(&mut state).map_err(|error| Error::read(path, error))?;
        match &*state {
            State::Begun { kept, rest } => Ok((kept.clone(), rest.is_none())),
            _ => Err(Error::OnlyOnce(path.to_path_buf())),
        }
    }

    /// All bytes. Of few, which are all kept, it can be asked again.
    fn take(&self, path: &Path) -> Result<Input, Error> {
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

    fn is_gone(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*state, State::Gone)
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pipe")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe(bytes: usize) -> Origin {
        let content: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
        let open = move || Ok(Box::new(Cursor::new(content.clone())) as Input);
        Origin { path: Path::new("-").into(), pipe: Some(Arc::new(Pipe::new(open))) }
    }

    fn read(origin: &Origin) -> Result<usize, Error> {
        let mut content = vec![];
        let mut input = origin.open(Arc::default())?;
        input.read_to_end(&mut content).map_err(|error| Error::read(origin.path(), error))?;
        assert!(content.iter().enumerate().all(|(at, byte)| at as u8 == *byte));
        Ok(content.len())
    }

    #[test]
    fn few_bytes_of_a_pipe_can_be_read_again() {
        for bytes in [0, 10, limits::PIPE_SAMPLE_BYTES - 1] {
            let origin = pipe(bytes);
            assert_eq!(origin.sample(4).unwrap().1, bytes <= 4);
            assert_eq!((read(&origin).unwrap(), read(&origin).unwrap()), (bytes, bytes));
            origin.check_again().unwrap();
        }
    }

    #[test]
    fn many_bytes_of_a_pipe_come_once() {
        let bytes = limits::PIPE_SAMPLE_BYTES + 3;
        let origin = pipe(bytes);
        assert_eq!(origin.sample(4).unwrap(), (vec![0, 1, 2, 3], false));
        assert_eq!(origin.sample(usize::MAX - 1).unwrap().0.len(), limits::PIPE_SAMPLE_BYTES);
        origin.check_again().unwrap();
        assert_eq!(read(&origin).unwrap(), bytes);
        assert!(matches!(read(&origin), Err(Error::OnlyOnce(_))));
        assert!(matches!(origin.sample(4), Err(Error::OnlyOnce(_))));
        assert!(matches!(origin.check_again(), Err(Error::OnlyOnce(_))));
    }

    #[test]
    fn a_folder_and_a_missing_file_are_told() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            Origin::of(folder.path()),
            Err(Error::Csv(caudal_csv::Error::NotAFile(_)))
        ));
        let missing = folder.path().join("t.csv");
        assert!(matches!(Origin::of(&missing), Err(Error::Csv(caudal_csv::Error::NoSuchFile(_)))));
    }

    #[test]
    fn a_file_that_changes_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let origin = Origin::of(file.path()).unwrap();
        let then = origin.stamp().unwrap();
        origin.check_unchanged(&then).unwrap();
        fs::write(file.path(), "more").unwrap();
        assert!(matches!(origin.check_unchanged(&then), Err(Error::Changed(_))));
    }
}
