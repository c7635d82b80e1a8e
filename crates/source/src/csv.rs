//! Tables of CSV files, compressed or not.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use caudal_csv::{Beginning, Dialect, Note, Options, Reader};

use crate::error::Error;
use crate::format::{Content, Format};
use crate::lanes::{Chunks, Lanes, SideBySide};
use crate::origin::Origin;
use crate::position::Numbers;
use crate::progress::Taken;
use crate::said::Said;
use crate::source::{Chunk, Parsed};

/// A table of CSV files.
#[derive(Debug)]
pub struct Csv {
    spec: caudal_csv::Table,
    /// Once they have been looked for.
    origins: OnceLock<Arc<[Origin]>>,
}

impl Csv {
    pub fn new(spec: caudal_csv::Table) -> Csv {
        Csv { spec, origins: OnceLock::new() }
    }

    /// Whose columns are known, in files that have been looked for.
    pub fn declared(spec: caudal_csv::Table, origins: Arc<[Origin]>) -> Csv {
        Csv { spec, origins: origins.into() }
    }

    /// With the columns of the first file's header, and the types that the beginnings of all suggest.
    pub fn guessed(
        name: &str,
        origins: Arc<[Origin]>,
        said: &Said,
    ) -> Result<(Csv, Vec<Note>), Error> {
        let files: Vec<PathBuf> =
            origins.iter().map(|origin| origin.path().to_path_buf()).collect();
        let (dialect, mut notes) = sniffed(&origins[0], said)?;
        if let Some(why) = dialect.contradiction() {
            return Err(caudal_csv::Error::BadDialect { table: name.into(), why }.into());
        }
        let fields = said.fields;
        let look = |at: usize| beginning(&origins[at]);
        let inferred = caudal_csv::infer_inputs(&files, &dialect, fields, look)?;
        notes.extend(inferred.notes);
        let mut columns = inferred.columns;
        said.type_columns(name, &origins[0], &mut columns)?;
        let spec = caudal_csv::Table { name: name.into(), files, columns, fields, dialect };
        Ok((Csv { spec, origins: origins.into() }, notes))
    }
}

fn sniffed(origin: &Origin, said: &Said) -> Result<(Dialect, Vec<Note>), Error> {
    let (head, is_whole) = origin.sample(limits::SNIFF_BYTES)?;
    let Said { dialect, unsaid, .. } = said;
    Ok(caudal_csv::sniff_head(origin.path(), head, is_whole, dialect, *unsaid))
}

/// What types are guessed from.
fn beginning(origin: &Origin) -> Result<Beginning, Error> {
    if is_plain(origin)? {
        return Ok(Beginning::File);
    }
    let bytes = limits::INFER_BYTES.max(limits::INFER_FILE_BYTES_MIN);
    let (bytes, is_whole) = origin.sample(bytes)?;
    Ok(Beginning::Bytes { bytes, is_whole })
}

/// Whether they can be read at several places at once.
fn are_plain(origins: &[Origin]) -> Result<bool, Error> {
    for origin in origins {
        if !is_plain(origin)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_plain(origin: &Origin) -> Result<bool, Error> {
    Ok(!origin.is_pipe() && origin.codec()?.is_none())
}

impl Format for Csv {
    fn origins(&self) -> Result<Arc<[Origin]>, Error> {
        if let Some(origins) = self.origins.get() {
            return Ok(Arc::clone(origins));
        }
        let origins = Origin::of_all(&self.spec.name, &self.spec.files)?;
        Ok(Arc::clone(self.origins.get_or_init(|| origins)))
    }

    fn schema(&self) -> SchemaRef {
        self.spec.schema()
    }

    fn as_csv(&self) -> Option<&caudal_csv::Table> {
        Some(&self.spec)
    }

    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error> {
        let origins = self.origins()?;
        if are_plain(&origins)? {
            let reader = Reader::open(self.spec.clone(), needed.to_vec(), options.clone())?;
            let (schema, total_bytes) = (reader.schema(), Some(reader.total_bytes()));
            return Ok(Content { schema, total_bytes, chunks: Box::new(Plain(Arc::new(reader))) });
        }
        let files = Files {
            spec: self.spec.clone(),
            origins: Arc::clone(&origins),
            needed: needed.to_vec(),
            options: options.clone(),
            numbers: Numbers::of(origins.len()),
        };
        let sizes = origins.iter().map(Origin::total_bytes);
        let sizes: Vec<Option<u64>> = sizes.collect::<Result<_, _>>()?;
        Ok(Content {
            schema: files.schema(),
            total_bytes: sizes.into_iter().sum(),
            chunks: Box::new(SideBySide::new(files)),
        })
    }
}

/// Files that threads read at several places at once.
#[derive(Debug)]
struct Plain(Arc<Reader>);

impl Chunks for Plain {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let Some(chunk) = self.0.next_chunk()? else { return Ok(None) };
        let reader = Arc::clone(&self.0);
        Ok(Some(Chunk::new(chunk.number(), move || parsed(&reader, chunk))))
    }
}

fn parsed(reader: &Reader, chunk: caudal_csv::Chunk) -> Result<Parsed, Error> {
    let caudal_csv::Parsed { batch, bytes, rejects, .. } = reader.parse(chunk)?;
    Ok(Parsed { batch, bytes, rejects: rejects.into_iter().map(Into::into).collect() })
}

/// Files whose bytes come in their order.
#[derive(Debug)]
struct Files {
    spec: caudal_csv::Table,
    origins: Arc<[Origin]>,
    needed: Vec<usize>,
    options: Options,
    numbers: Numbers,
}

impl Files {
    fn schema(&self) -> SchemaRef {
        let all = self.spec.schema();
        let columns: Vec<_> = self.needed.iter().map(|at| all.fields()[*at].clone()).collect();
        crate::position::with_position(columns, self.options.position.as_deref())
    }
}

impl Lanes for Files {
    fn count(&self) -> usize {
        self.origins.len()
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let origin = &self.origins[lane];
        let files = vec![origin.path().to_path_buf()];
        let spec = caudal_csv::Table { files, ..self.spec.clone() };
        let taken = Taken::default();
        let input = origin.open(taken.counter())?;
        let (needed, options) = (self.needed.clone(), self.options.clone());
        let reader = Arc::new(Reader::of_input(spec, needed, options, input)?);
        Ok(Arc::new(OneFile { reader, lane, numbers: self.numbers, taken }))
    }
}

#[derive(Debug)]
struct OneFile {
    reader: Arc<Reader>,
    lane: usize,
    numbers: Numbers,
    taken: Taken,
}

impl Chunks for OneFile {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let Some(chunk) = self.reader.next_chunk()? else { return Ok(None) };
        let number = self.numbers.number(self.lane, chunk.number())?;
        let (reader, bytes) = (Arc::clone(&self.reader), self.taken.untold());
        let work = move || Ok(Parsed { bytes, ..parsed(&reader, chunk.numbered(number))? });
        Ok(Some(Chunk::new(number, work)))
    }
}
