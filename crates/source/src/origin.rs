//! Where a table's bytes come from: a file, an object on the net, or a pipe that gives them once.

use std::fs::{self, File, Metadata};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use caudal_core::limits;
use caudal_csv::Input;

use crate::abreast::abreast;
use crate::at::FileAt;
use crate::error::Error;
use crate::pipe::Pipe;
use crate::remote::{Address, Blocks, Object, Whole, is_address};
use crate::unpack::{MAGIC_BYTES, unpacked, unpacked_here};

/// Name of standard input, where a file is named.
pub const STDIN: &str = "-";

/// A file of a table, an object, or a pipe. Cheap to clone; what one clone has taken from a pipe is gone for all.
#[derive(Clone, Debug)]
pub struct Origin {
    /// As it is told: of an address without what lets others in.
    path: Arc<Path>,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    File,
    Object(Arc<Object>),
    Pipe(Arc<Pipe>),
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
            return Ok(Origin { path: path.into(), place: Place::Pipe(stdin) });
        }
        if let Some(text) = path.to_str().filter(|text| is_address(text)) {
            return Origin::of_address(text);
        }
        let kind = metadata(path)?.file_type();
        let place = if kind.is_fifo() || kind.is_char_device() {
            let file: Arc<Path> = path.into();
            Place::Pipe(Pipe::shared(path, move || Ok(Box::new(File::open(&file)?))))
        } else if kind.is_file() {
            Place::File
        } else {
            return Err(Error::Csv(caudal_csv::Error::NotAFile(path.to_path_buf())));
        };
        Ok(Origin { path: path.into(), place })
    }

    fn of_address(text: &str) -> Result<Origin, Error> {
        let bad = |why| Error::Address { address: text.into(), why };
        let address = Address::parse(text).map_err(bad)?;
        let object = Object::open(&address);
        let object = object.map_err(|failure| Error::remote(&address.shown(), failure))?;
        Ok(Origin { path: Arc::clone(object.shown()), place: Place::Object(Arc::new(object)) })
    }

    /// Of a table, which has some.
    pub fn of_all(table: &str, files: &[PathBuf]) -> Result<Arc<[Origin]>, Error> {
        if files.is_empty() {
            return Err(caudal_csv::Error::NoFiles(table.into()).into());
        }
        let are_far = files.iter().any(|file| file.to_str().is_some_and(is_address));
        let origins = abreast(are_far, files, |file| Origin::of(file))?;
        Ok(origins.into())
    }

    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Whether every look at it takes a while.
    pub fn is_far(&self) -> bool {
        matches!(self.place, Place::Object(_))
    }

    /// Whether it is a file of this machine, which readers may open by its path.
    pub fn is_file(&self) -> bool {
        matches!(self.place, Place::File)
    }

    /// Whether it can be read at any place.
    pub fn is_at_any_place(&self) -> bool {
        match &self.place {
            Place::File => true,
            Place::Object(object) => object.has_ranges(),
            Place::Pipe(_) => false,
        }
    }

    /// The size of a file; unknown of a pipe.
    pub fn total_bytes(&self) -> Result<Option<u64>, Error> {
        match &self.place {
            Place::Pipe(_) => Ok(None),
            Place::Object(object) => Ok(Some(object.bytes())),
            Place::File => metadata(&self.path).map(|metadata| Some(metadata.len())),
        }
    }

    /// All bytes, decompressed if they are compressed; `taken` counts them as they are in the file.
    pub fn open(&self, taken: Arc<AtomicU64>) -> Result<Input, Error> {
        let input = match &self.place {
            Place::Pipe(pipe) => pipe.take(&self.path)?,
            Place::Object(object) => {
                let ahead = limits::REMOTE_AHEAD_REQUESTS;
                self.object_input(object, object.bytes(), ahead)?
            }
            Place::File => Box::new(self.file()?),
        };
        unpacked(input, taken).map_err(|error| Error::read(&self.path, error))
    }

    /// The beginning of those bytes, and whether it is all of them. It can be asked for again and again.
    pub fn sample(&self, bytes: usize) -> Result<(Vec<u8>, bool), Error> {
        let (input, is_cut): (Input, bool) = match &self.place {
            Place::Pipe(pipe) => {
                let (kept, is_whole) = pipe.sample(&self.path)?;
                (Box::new(Cursor::new(kept)), !is_whole)
            }
            Place::Object(object) => (self.object_input(object, bytes as u64 + 1, 1)?, false),
            Place::File => (Box::new(self.file()?), false),
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
        let mut magic = match &self.place {
            Place::Pipe(pipe) => pipe.sample(&self.path)?.0,
            Place::Object(object) => object.head().to_vec(),
            Place::File => {
                let mut magic = vec![];
                let read = self.file()?.take(MAGIC_BYTES as u64).read_to_end(&mut magic);
                read.map_err(|error| Error::read(&self.path, error))?;
                magic
            }
        };
        magic.truncate(MAGIC_BYTES);
        Ok(magic)
    }

    /// The file at any place, where that can be had.
    pub fn at(&self) -> Result<FileAt, Error> {
        match &self.place {
            Place::Object(object) => Ok(FileAt::There(Arc::new(Blocks::new(Arc::clone(object))))),
            _ => FileAt::new(self.file()?).map_err(|error| Error::read(&self.path, error)),
        }
    }

    fn file(&self) -> Result<File, Error> {
        File::open(&self.path).map_err(|error| Error::read(&self.path, error))
    }

    /// An object from its beginning, of which so many bytes will be read, or a few more.
    fn object_input(&self, object: &Arc<Object>, bytes: u64, ahead: usize) -> Result<Input, Error> {
        let object = Arc::clone(object);
        if !object.has_ranges() {
            let whole = Whole::open(object);
            let whole = whole.map_err(|failure| Error::remote(&self.path, failure))?;
            return Ok(Box::new(whole));
        }
        let range = 0..bytes.min(object.bytes());
        let blocks = Blocks::in_order(object, range, ahead);
        Ok(Box::new(FileAt::There(Arc::new(blocks)).from(0)))
    }

    /// None of a pipe. An object has what it was opened as: every answer about it is compared with that.
    pub fn stamp(&self) -> Result<Option<Stamp>, Error> {
        match &self.place {
            Place::Pipe(_) => Ok(None),
            Place::Object(object) => Ok(Some(Stamp { bytes: object.bytes(), modified: None })),
            Place::File => {
                let metadata = metadata(&self.path)?;
                Ok(Some(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() }))
            }
        }
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
        match &self.place {
            Place::Pipe(pipe) if pipe.is_gone() => Err(Error::OnlyOnce(self.path.to_path_buf())),
            _ => Ok(()),
        }
    }
}

fn metadata(path: &Path) -> Result<Metadata, Error> {
    fs::metadata(path).map_err(|error| Error::read(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe(bytes: usize) -> Origin {
        let content: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
        let open = move || Ok(Box::new(Cursor::new(content.clone())) as Input);
        Origin { path: Path::new("-").into(), place: Place::Pipe(Arc::new(Pipe::new(open))) }
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
