//! The batches of one file: read in turn, decoded by whoever asked for them.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{read_dictionary, read_record_batch};

use super::NAME;
use super::footer::Footer;
use super::message::{Message, damaged};
use crate::at::FileAt;
use crate::columns::conformed;
use crate::error::Error;
use crate::guard::guarded;
use crate::lanes::Chunks;
use crate::position::Numbers;
use crate::progress::Taken;
use crate::size::array_bytes;
use crate::source::{Chunk, Parsed};

/// What is needed of a file.
#[derive(Debug)]
pub struct Needed {
    pub path: Arc<Path>,
    /// Of each needed column, its place in the file.
    pub columns: Vec<usize>,
    pub file_schema: SchemaRef,
    pub schema: SchemaRef,
    pub chunk_bytes: usize,
}

/// Where messages come from.
pub enum Feed {
    File { file: FileAt, footer: Arc<Footer>, next: usize },
    Stream(Box<dyn Read + Send>),
}

type Dictionaries = Arc<HashMap<i64, ArrayRef>>;

pub struct Batches {
    needs: Arc<Needed>,
    numbers: Numbers,
    lane: usize,
    taken: Taken,
    state: Mutex<State>,
}

struct State {
    feed: Feed,
    dictionaries: Dictionaries,
    /// The batch whose parts are the next chunks.
    divided: Option<Divided>,
    next_chunk: u64,
    is_over: bool,
}

/// A batch and where its next part begins. Parts are made one by one: how many rows it has is not known before it is decoded,
/// only said.
struct Divided {
    batch: Arc<Undecoded>,
    at: usize,
    rows_of_each: usize,
    bytes: usize,
}

struct Part {
    batch: Arc<Undecoded>,
    at: usize,
    rows: usize,
    bytes: usize,
}

/// A batch, decoded by the first who wants some of its rows.
struct Undecoded {
    needs: Arc<Needed>,
    message: Message,
    dictionaries: Dictionaries,
    rows: usize,
    decoded: OnceLock<Result<RecordBatch, String>>,
}

impl Batches {
    pub fn new(
        needs: Arc<Needed>,
        feed: Feed,
        taken: Taken,
        (numbers, lane): (Numbers, usize),
    ) -> Batches {
        let dictionaries = Arc::default();
        let state = State { feed, dictionaries, divided: None, next_chunk: 0, is_over: false };
        Batches { needs, numbers, lane, taken, state: Mutex::new(state) }
    }

    /// Takes messages until there are rows of one, or none are left.
    fn take_messages(&self, state: &mut State) -> Result<(), Error> {
        while state.divided.is_none() && !state.is_over {
            let next = state.feed.next(&self.needs.path, &self.taken);
            state.is_over = !matches!(next, Ok(Some(_)));
            let Some((message, bytes)) = next? else { break };
            self.take_message(state, message, bytes)?;
        }
        Ok(())
    }

    fn take_message(&self, state: &mut State, message: Message, bytes: usize) -> Result<(), Error> {
        let path = &*self.needs.path;
        let header = message.header(path)?;
        if let Some(dictionary) = header.header_as_dictionary_batch() {
            if let Some(batch) = dictionary.data() {
                message.decoded_bytes(&batch, path)?;
            }
            let dictionaries = Arc::make_mut(&mut state.dictionaries);
            let schema = &self.needs.file_schema;
            return guarded(path, NAME, || {
                read_dictionary(&message.body, dictionary, schema, dictionaries, &header.version())
            });
        }
        let Some(batch) = header.header_as_record_batch() else {
            return Err(damaged(path, "a message that is neither rows nor a dictionary"));
        };
        let rows = usize::try_from(batch.length());
        let rows = rows.map_err(|_| damaged(path, "a batch of a negative length"))?;
        // Where they have a dictionary, rows are keys here and values later.
        let values_bytes = state.dictionaries.values().map(bytes_of_each).sum::<usize>();
        let decoded_bytes = message.decoded_bytes(&batch, path)?;
        let values_bytes = (values_bytes as u64).saturating_mul(rows as u64);
        let decoded_bytes = decoded_bytes.saturating_add(values_bytes);
        let (needs, dictionaries) = (Arc::clone(&self.needs), Arc::clone(&state.dictionaries));
        let decoded = OnceLock::new();
        let batch = Arc::new(Undecoded { needs, message, dictionaries, rows, decoded });
        let count = decoded_bytes.div_ceil(2 * self.needs.chunk_bytes as u64).max(1) as usize;
        let rows_of_each = rows.div_ceil(count).max(1);
        state.divided = (rows > 0).then(|| Divided { batch, at: 0, rows_of_each, bytes });
        Ok(())
    }
}

fn bytes_of_each(dictionary: &ArrayRef) -> usize {
    array_bytes(dictionary) / dictionary.len().max(1)
}

impl State {
    fn next_part(&mut self) -> Option<Part> {
        let divided = self.divided.as_mut()?;
        let (at, rows) = (divided.at, divided.batch.rows);
        let part = Part {
            batch: Arc::clone(&divided.batch),
            at,
            rows: divided.rows_of_each.min(rows - at),
            // A file's progress need not be told more finely.
            bytes: if at == 0 { divided.bytes } else { 0 },
        };
        divided.at += part.rows;
        if divided.at == rows {
            self.divided = None;
        }
        Some(part)
    }
}

impl Feed {
    /// The next message, and the bytes that it takes of the file.
    fn next(&mut self, path: &Path, taken: &Taken) -> Result<Option<(Message, usize)>, Error> {
        match self {
            Feed::File { next, footer, .. } if *next == footer.count() => Ok(None),
            Feed::File { file, footer, next } => {
                *next += 1;
                footer.message(*next - 1, file, path).map(Some)
            }
            Feed::Stream(stream) => match Message::read(stream, path)? {
                Some(message) => Ok(Some((message, taken.untold()))),
                None => check_end(stream, path).map(|()| None),
            },
        }
    }
}

/// What comes after a stream's end would be lost.
fn check_end(stream: &mut dyn Read, path: &Path) -> Result<(), Error> {
    let mut more = vec![];
    let read = stream.take(1).read_to_end(&mut more);
    match read.map_err(|error| Error::read(path, error))? {
        0 => Ok(()),
        _ => Err(damaged(path, "more comes after its end")),
    }
}

impl Undecoded {
    fn batch(&self) -> Result<&RecordBatch, Error> {
        let path = &*self.needs.path;
        let why = |error| match error {
            Error::Damaged { why, .. } => why,
            other => other.to_string(),
        };
        let decoded = self.decoded.get_or_init(|| self.decode().map_err(why));
        decoded.as_ref().map_err(|why| damaged(path, why.clone()))
    }

    fn decode(&self) -> Result<RecordBatch, Error> {
        let path = &*self.needs.path;
        let header = self.message.header(path)?;
        let Some(batch) = header.header_as_record_batch() else {
            return Err(damaged(path, "a batch that is none"));
        };
        guarded(path, NAME, || {
            let (body, schema) = (&self.message.body, Arc::clone(&self.needs.file_schema));
            let columns = Some(&self.needs.columns[..]);
            read_record_batch(body, batch, schema, &self.dictionaries, columns, &header.version())
        })
    }

    fn rows(&self, part: &Part, chunk: u64) -> Result<RecordBatch, Error> {
        let path = &*self.needs.path;
        let part_of = self.batch()?.slice(part.at, part.rows);
        let column = |at: &usize| {
            let name = self.needs.file_schema.field(*at).name();
            part_of.column_by_name(name).cloned()
        };
        let columns: Option<Vec<_>> = self.needs.columns.iter().map(column).collect();
        let columns = columns.ok_or_else(|| damaged(path, "a batch without all of its columns"))?;
        guarded(path, NAME, || conformed(&columns, part.rows, &self.needs.schema, chunk))
    }
}

impl Chunks for Batches {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_messages(&mut state)?;
        let Some(part) = state.next_part() else { return Ok(None) };
        let number = self.numbers.number(self.lane, state.next_chunk)?;
        state.next_chunk += 1;
        Ok(Some(Chunk::new(number, move || {
            let batch = part.batch.rows(&part, number)?;
            Ok(Parsed { batch, bytes: part.bytes, rejects: vec![] })
        })))
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("lane", &self.lane).finish_non_exhaustive()
    }
}
