//! Tables of Arrow IPC: files, whose footer says where the batches are, and streams, which may come from pipes.

mod batches;
mod footer;
mod message;

use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::{FieldRef, SchemaRef};
use caudal_core::limits;
use caudal_csv::{Note, Options};

use self::batches::{Batches, Feed, Needed};
use self::footer::Footer;
use self::message::Message;
use crate::abreast::abreast;
use crate::columns::{self, Described, Laid};
use crate::error::Error;
use crate::fill::{Fill, filled};
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
    /// With the columns that its files say, and what there is to say about them.
    pub fn of(origins: Arc<[Origin]>, union_by_name: bool) -> Result<(Ipc, Vec<Note>), Error> {
        let are_far = origins.iter().any(Origin::is_far);
        let files: Arc<[_]> = abreast(are_far, &origins, IpcFile::of)?.into();
        let described: Vec<_> = files.iter().map(IpcFile::described).collect();
        let (schema, notes) = columns::of_files(&described, union_by_name)?;
        Ok((Ipc { origins, files, schema }, notes))
    }
}

impl IpcFile {
    fn of(origin: &Origin) -> Result<IpcFile, Error> {
        let (origin, stamp) = (origin.clone(), origin.stamp()?);
        if origin.magic()?.starts_with(footer::MAGIC) {
            if !origin.is_at_any_place() {
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

    fn needed(
        &self,
        fields: &[FieldRef],
        position: Option<&str>,
        options: &Options,
    ) -> Result<Needs, Error> {
        let Laid { columns, schema, fill } = Laid::of(&self.described(), fields, position)?;
        let needed = Needed {
            path: Arc::clone(self.origin.path()),
            columns,
            file_schema: Arc::clone(&self.schema),
            schema,
            chunk_bytes: options.chunk_bytes.max(1),
        };
        Ok((Arc::new(needed), fill))
    }

    fn feed(&self, taken: &Taken) -> Result<Feed, Error> {
        self.origin.check_unchanged(&self.stamp)?;
        match &self.footer {
            Some(footer) => {
                let file = self.origin.at()?;
                let expected = file.expect(|| vec![footer.range()]);
                expected.map_err(|error| Error::read(self.origin.path(), error))?;
                Ok(Feed::File { file, footer: Arc::clone(footer), next: 0 })
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
        let position = options.position.as_deref();
        let sizes = self.files.iter().map(|file| file.origin.total_bytes());
        let sizes: Vec<Option<u64>> = sizes.collect::<Result<_, _>>()?;
        let needs = self.files.iter().map(|file| file.needed(&fields, position, options));
        let lanes = Files {
            needs: needs.collect::<Result<_, _>>()?,
            files: Arc::clone(&self.files),
            numbers: Numbers::of(self.files.len()),
        };
        let chunks = Box::new(SideBySide::new(lanes));
        let schema = with_position(fields, position);
        Ok(Content { schema, total_bytes: sizes.into_iter().sum(), chunks })
    }
}

type Needs = (Arc<Needed>, Option<Arc<Fill>>);

#[derive(Debug)]
struct Files {
    files: Arc<[IpcFile]>,
    /// Of each file, with what has to be added to its rows.
    needs: Vec<Needs>,
    numbers: Numbers,
}

impl Lanes for Files {
    fn count(&self) -> usize {
        self.files.len()
    }

    fn file(&self, lane: usize) -> usize {
        lane
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let taken = Taken::default();
        let feed = self.files[lane].feed(&taken)?;
        let (needs, fill) = &self.needs[lane];
        let batches = Batches::new(Arc::clone(needs), feed, taken, (self.numbers, lane));
        Ok(filled(Arc::new(batches), fill.as_ref()))
    }
}
