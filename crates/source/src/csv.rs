//! Tables of CSV files, compressed or not.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use caudal_csv::{At, Beginning, Column, Dialect, Note, Options, Reader};

use crate::abreast::abreast;
use crate::error::Error;
use crate::fill::{Fill, Filled, filled};
use crate::format::{Content, Format};
use crate::lanes::{Chunks, Lanes, SideBySide};
use crate::origin::Origin;
use crate::position::{Numbers, with_position};
use crate::progress::Taken;
use crate::said::Said;
use crate::source::{Chunk, Parsed};

/// A table of CSV files.
#[derive(Debug)]
pub struct Csv {
    spec: caudal_csv::Table,
    /// Once they have been looked for.
    origins: OnceLock<Arc<[Origin]>>,
    /// Of each file, the names of its columns, where not all have to have the same.
    headers: Option<Arc<[Vec<String>]>>,
}

impl Csv {
    pub fn new(spec: caudal_csv::Table) -> Csv {
        Csv { spec, origins: OnceLock::new(), headers: None }
    }

    /// Whose columns are known, in files that have been looked for.
    pub fn declared(spec: caudal_csv::Table, origins: Arc<[Origin]>) -> Csv {
        Csv { spec, origins: origins.into(), headers: None }
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
        let sample_bytes = (limits::INFER_BYTES / origins.len()).max(limits::INFER_FILE_BYTES_MIN);
        let next = VecDeque::new();
        let mut beginnings =
            Beginnings { origins: &origins, dialect: &dialect, sample_bytes, next };
        let look = |at: usize| beginnings.of(at);
        let union_by_name = said.union_by_name;
        let inferred = caudal_csv::infer_inputs(&files, &dialect, fields, union_by_name, look)?;
        notes.extend(inferred.notes);
        let mut columns = inferred.columns;
        said.type_columns(name, &origins[0], &mut columns)?;
        let spec = caudal_csv::Table { name: name.into(), files, columns, fields, dialect };
        let headers = union_by_name.then(|| inferred.headers.into());
        Ok((Csv { spec, origins: origins.into(), headers }, notes))
    }
}

fn sniffed(origin: &Origin, said: &Said) -> Result<(Dialect, Vec<Note>), Error> {
    let (head, is_whole) = origin.sample(limits::SNIFF_BYTES)?;
    let Said { dialect, unsaid, .. } = said;
    Ok(caudal_csv::sniff_head(origin.path(), head, is_whole, dialect, *unsaid))
}

/// What types are guessed from, looked at in the order of the files.
struct Beginnings<'a> {
    origins: &'a [Origin],
    dialect: &'a Dialect,
    sample_bytes: usize,
    /// Of those that come next.
    next: VecDeque<Beginning>,
}

impl Beginnings<'_> {
    fn of(&mut self, at: usize) -> Result<Beginning, Error> {
        if self.next.is_empty() {
            let rest = &self.origins[at..];
            let some = &rest[..rest.len().min(limits::REMOTE_OPEN_REQUESTS)];
            let are_far = some.iter().all(Origin::is_far);
            let some = if are_far { some } else { &some[..1] };
            self.next = abreast(are_far, some, |origin| self.look_at(origin))?.into();
        }
        Ok(self.next.pop_front().expect("at least one was looked at"))
    }

    fn look_at(&self, origin: &Origin) -> Result<Beginning, Error> {
        if is_plain(origin)? {
            return Ok(Beginning::File);
        }
        let (mut bytes, mut is_whole) = origin.sample(self.sample_bytes)?;
        if !is_whole && !Beginning::has_header(&bytes, origin.path(), self.dialect) {
            let longer = self.sample_bytes.max(limits::CSV_HEADER_BYTES_MAX);
            (bytes, is_whole) = origin.sample(longer)?;
        }
        Ok(Beginning::Bytes { bytes, is_whole })
    }
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
    Ok(origin.is_file() && origin.codec()?.is_none())
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
        if self.headers.is_none() && are_plain(&origins)? {
            let reader = Reader::open(self.spec.clone(), needed.to_vec(), options.clone())?;
            let (schema, total_bytes) = (reader.schema(), Some(reader.total_bytes()));
            let chunks = Box::new(Plain { reader: Arc::new(reader), files: places(&origins) });
            return Ok(Content { schema, total_bytes, chunks });
        }
        let all = self.spec.schema();
        let fields: Vec<_> = needed.iter().map(|at| all.fields()[*at].clone()).collect();
        let schema = with_position(fields, options.position.as_deref());
        let files = Files {
            spec: self.spec.clone(),
            origins: Arc::clone(&origins),
            headers: self.headers.clone(),
            needed: needed.to_vec(),
            schema: Arc::clone(&schema),
            options: options.clone(),
            numbers: Numbers::of(origins.len()),
        };
        let sizes = origins.iter().map(Origin::total_bytes);
        let sizes: Vec<Option<u64>> = sizes.collect::<Result<_, _>>()?;
        let (total_bytes, chunks) = (sizes.into_iter().sum(), Box::new(SideBySide::new(files)));
        Ok(Content { schema, total_bytes, chunks })
    }
}

/// Files that threads read at several places at once.
#[derive(Debug)]
struct Plain {
    reader: Arc<Reader>,
    files: BTreeMap<Arc<Path>, usize>,
}

/// Of each file, its place among them; one that is named twice is the same file.
fn places(origins: &[Origin]) -> BTreeMap<Arc<Path>, usize> {
    origins.iter().enumerate().map(|(at, origin)| (Arc::clone(origin.path()), at)).collect()
}

impl Chunks for Plain {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let Some(chunk) = self.reader.next_chunk()? else { return Ok(None) };
        let (reader, file) = (Arc::clone(&self.reader), self.files.get(chunk.path()).copied());
        let chunk = Chunk::new(chunk.number(), move || parsed(&reader, chunk));
        Ok(Some(match file {
            Some(file) => chunk.of_file(file),
            None => chunk,
        }))
    }
}

fn parsed(reader: &Reader, chunk: caudal_csv::Chunk) -> Result<Parsed, Error> {
    let caudal_csv::Parsed { batch, bytes, rejects, .. } = reader.parse(chunk)?;
    Ok(Parsed { batch, bytes, rejects: rejects.into_iter().map(Into::into).collect() })
}

/// Files of which each is read for itself: their bytes come in their order, or they have other columns.
#[derive(Debug)]
struct Files {
    spec: caudal_csv::Table,
    origins: Arc<[Origin]>,
    headers: Option<Arc<[Vec<String>]>>,
    needed: Vec<usize>,
    schema: SchemaRef,
    options: Options,
    numbers: Numbers,
}

/// What is read of one of them.
struct Part {
    spec: caudal_csv::Table,
    needed: Vec<usize>,
    fill: Option<Arc<Fill>>,
}

impl Files {
    fn part(&self, file: usize) -> Part {
        let files = vec![self.origins[file].path().to_path_buf()];
        let spec = caudal_csv::Table { files, ..self.spec.clone() };
        let Some(headers) = &self.headers else {
            return Part { spec, needed: self.needed.clone(), fill: None };
        };
        let names: HashSet<&String> = headers[file].iter().collect();
        let has = |column: &Column| match &column.at {
            At::Header(name) => names.contains(name),
            At::Index(at) => *at < headers[file].len(),
        };
        // Of each column, its place among those that the file has.
        let mut next = 0..;
        let places: Vec<Option<usize>> =
            spec.columns.iter().map(|column| has(column).then(|| next.next()).flatten()).collect();
        let (mut needed, mut columns) = (vec![], vec![]);
        for at in &self.needed {
            columns.push(match places[*at] {
                Some(place) => {
                    needed.push(place);
                    Filled::Own(needed.len() - 1)
                }
                None => Filled::null(&spec.columns[*at].ty.data_type()),
            });
        }
        let is_whole = needed.len() == self.needed.len();
        let fill =
            (!is_whole).then(|| Arc::new(Fill { schema: Arc::clone(&self.schema), columns }));
        let columns = spec.columns.iter().filter(|column| has(column)).cloned().collect();
        Part { spec: caudal_csv::Table { columns, ..spec }, needed, fill }
    }
}

impl Lanes for Files {
    fn count(&self) -> usize {
        self.origins.len()
    }

    fn file(&self, lane: usize) -> usize {
        lane
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let (origin, options) = (&self.origins[lane], self.options.clone());
        let Part { spec, needed, fill } = self.part(lane);
        let (reader, taken) = if is_plain(origin)? {
            (Reader::open(spec, needed, options)?, None)
        } else {
            let taken = Taken::default();
            let input = origin.open(taken.counter())?;
            (Reader::of_input(spec, needed, options, input)?, Some(taken))
        };
        let file = OneFile { reader: Arc::new(reader), lane, numbers: self.numbers, taken };
        Ok(filled(Arc::new(file), fill.as_ref()))
    }
}

#[derive(Debug)]
struct OneFile {
    reader: Arc<Reader>,
    lane: usize,
    numbers: Numbers,
    /// Of what comes in its order: chunks know nothing of the bytes that they are made of.
    taken: Option<Taken>,
}

impl Chunks for OneFile {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let Some(chunk) = self.reader.next_chunk()? else { return Ok(None) };
        let number = self.numbers.number(self.lane, chunk.number())?;
        let (reader, taken) = (Arc::clone(&self.reader), self.taken.as_ref().map(Taken::untold));
        let work = move || {
            let parsed = parsed(&reader, chunk.numbered(number))?;
            Ok(Parsed { bytes: taken.unwrap_or(parsed.bytes), ..parsed })
        };
        Ok(Some(Chunk::new(number, work)))
    }
}
