//! Tables of Arrow IPC: files, whose footer says where the batches are, and streams, which may come from pipes.

mod batches;
mod footer;
mod message;

use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use caudal_csv::Options;

use self::batches::{Batches, Feed, Needed};
use self::footer::Footer;
use self::message::Message;
use crate::columns::{self, Described};
use crate::error::Error;
use crate::format::{Content, Format};
use crate::lanes::{Chunks, Lanes, SideBySide};
use crate::origin::{Origin, Stamp};
use crate::position::{Numbers, with_position};
use crate::progress::Taken;

const NAME: &str = "Arrow file";

/// A table of Arrow IPC files and streams.
#[derive(Clone, Debug)]
pub struct Ipc {
    origins: Arc<[Origin]>,
    files: Arc<[IpcFile]>,
    schema: SchemaRef,
}

#[derive(Clone, Debug)]
struct IpcFile {
    origin: Origin,
    stamp: Option<Stamp>,
    schema: SchemaRef,
    /// Of a file; a stream has none.
    footer: Option<Arc<Footer>>,
}

impl Ipc {
    pub fn of(origins: Arc<[Origin]>) -> Result<Ipc, Error> {
        let files = origins.iter().map(IpcFile::of).collect::<Result<Arc<[_]>, _>>()?;
        let described: Vec<_> = files.iter().map(IpcFile::described).collect();
        let schema = columns::of_files(&described)?;
        Ok(Ipc { origins, files, schema })
    }
}

impl IpcFile {
    fn of(origin: &Origin) -> Result<IpcFile, Error> {
        let (origin, stamp) = (origin.clone(), origin.stamp()?);
        if origin.magic()?.starts_with(footer::MAGIC) {
            if origin.is_pipe() {
                let path = origin.path().to_path_buf();
                return Err(Error::NeedsFile { path, format: "an Arrow file" });
            }
            let (schema, footer) = Footer::read(&origin)?;
            return Ok(IpcFile { origin, stamp, schema, footer: Some(Arc::new(footer)) });
        }
        let (sample, _) = origin.sample(limits::PIPE_SAMPLE_BYTES)?;
        let first = Message::read(&mut &sample[..], origin.path())?;
        let schema = match first {
            Some(message) => message.schema(origin.path())?,
            None => return Err(Error::NoColumns(origin.path().to_path_buf())),
        };
        Ok(IpcFile { origin, stamp, schema, footer: None })
    }

    fn described(&self) -> Described<'_> {
        Described { path: self.origin.path(), schema: &self.schema }
    }

    fn feed(&self, taken: &Taken) -> Result<Feed, Error> {
        self.origin.check_unchanged(&self.stamp)?;
        match &self.footer {
            Some(footer) => {
                Ok(Feed::File { file: self.origin.file()?, footer: Arc::clone(footer), next: 0 })
            }
            None => {
                let mut input = self.origin.open(taken.counter())?;
                // Its schema, which is known.
                Message::read(&mut input, self.origin.path())?;
                Ok(Feed::Stream(Box::new(input) as Box<dyn Read + Send>))
            }
        }
    }
}

impl Format for Ipc {
    fn origins(&self) -> Result<Arc<[Origin]>, Error> {
        Ok(Arc::clone(&self.origins))
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error> {
        let fields: Vec<_> = needed.iter().map(|at| self.schema.fields()[*at].clone()).collect();
        let schema = with_position(fields, options.position.as_deref());
        let sizes = self.files.iter().map(|file| file.origin.total_bytes());
        let sizes: Vec<Option<u64>> = sizes.collect::<Result<_, _>>()?;
        let needs = self.files.iter().map(|file| self.needed(file, needed, &schema, options));
        let lanes = Files {
            needs: needs.collect::<Result<_, _>>()?,
            files: Arc::clone(&self.files),
            numbers: Numbers::of(self.files.len()),
        };
        let chunks = Box::new(SideBySide::new(lanes));
        Ok(Content { schema, total_bytes: sizes.into_iter().sum(), chunks })
    }
}

impl Ipc {
    fn needed(
        &self,
        file: &IpcFile,
        needed: &[usize],
        schema: &SchemaRef,
        options: &Options,
    ) -> Result<Arc<Needed>, Error> {
        let first = self.files[0].origin.path();
        let place = |at: &usize| {
            let name = self.schema.field(*at).name();
            columns::place(&file.described(), name, first).map(|(at, _)| at)
        };
        Ok(Arc::new(Needed {
            path: Arc::clone(file.origin.path()),
            columns: needed.iter().map(place).collect::<Result<_, _>>()?,
            file_schema: Arc::clone(&file.schema),
            schema: Arc::clone(schema),
            chunk_bytes: options.chunk_bytes.max(1),
        }))
    }
}

#[derive(Debug)]
struct Files {
    files: Arc<[IpcFile]>,
    needs: Vec<Arc<Needed>>,
    numbers: Numbers,
}

impl Lanes for Files {
    fn count(&self) -> usize {
        self.files.len()
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let taken = Taken::default();
        let feed = self.files[lane].feed(&taken)?;
        let needs = Arc::clone(&self.needs[lane]);
        Ok(Arc::new(Batches::new(needs, feed, taken, (self.numbers, lane))))
    }
}
