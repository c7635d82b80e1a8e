//! Tables of JSON: an object a line, one after the other, or in an array.

mod builder;
mod cursor;
mod cutter;
mod guess;
mod parse;
mod records;
mod untaken;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use caudal_core::limits;
use caudal_csv::{At, Column, Note, NoteKind, Options};

pub use self::cursor::Cursor;
use self::cutter::{Cut, Cutter, Piece};
use self::guess::Guess;
use self::parse::{Needed, parse};
use self::records::{Layout, Phase, Records};
use self::untaken::{AllUntaken, Names};
use crate::abreast::abreast;
use crate::error::Error;
use crate::format::{Content, Format};
use crate::guard::guarded;
use crate::lanes::{Chunks, Lanes, SideBySide};
use crate::origin::Origin;
use crate::position::{Numbers, with_position};
use crate::progress::Taken;
use crate::said::{Said, bad, no_such_column, of_json};
use crate::source::Chunk;

const NAME: &str = "JSON file";

/// A table of files of JSON.
#[derive(Clone, Debug)]
pub struct Json {
    origins: Arc<[Origin]>,
    layouts: Vec<Layout>,
    /// Under their names in the files, as they are parsed.
    fields: Fields,
    schema: SchemaRef,
}

impl Json {
    /// With the names that the objects at the beginning of each file have, and types that fit their values.
    pub fn guessed(origins: Arc<[Origin]>, said: &Said) -> Result<(Json, Vec<Note>), Error> {
        let Looked { guess, layouts, .. } = look_at_all(&origins)?;
        let no_table = |why: &str| Error::NoTable {
            path: origins[0].path().to_path_buf(),
            why: why.to_string(),
        };
        let (fields, notes) = match guess.data_type() {
            _ if guess.has_too_many_names() => {
                return Err(no_table("its objects have too many names"));
            }
            DataType::Struct(fields) => said.typed_fields(&origins[0], &fields)?,
            _ => return Err(no_table("there is no object in it that has names")),
        };
        let schema = Arc::new(Schema::new(fields.iter().map(column).collect::<Vec<_>>()));
        Ok((Json { origins, layouts, fields, schema }, notes))
    }

    /// With names and types that are said; and what there is to say of names that have not been seen.
    pub fn declared(
        spec: &caudal_csv::Table,
        origins: Arc<[Origin]>,
    ) -> Result<(Json, Vec<Note>), Error> {
        let Looked { guess, layouts, are_whole } = look_at_all(&origins)?;
        let known = match guess.data_type() {
            DataType::Struct(fields) => fields,
            _ => Fields::empty(),
        };
        let (mut fields, mut unseen) = (vec![], vec![]);
        for Column { name, at, ty } in &spec.columns {
            let At::Header(key) = at else {
                let why =
                    format!("column `{name}` has a place (at), and columns of JSON have none");
                return Err(bad(&spec.name, why));
            };
            if known.find(key).is_none() && !guess.has_too_many_names() {
                unseen.push(key.clone());
            }
            if fields.iter().any(|field: &Field| field.name() == key) {
                let why = format!("two columns are `{key}` of its objects, and can be one of JSON");
                return Err(bad(&spec.name, why));
            }
            fields.push(Field::new(key, of_json(*ty), true));
        }
        if let (Some(name), true) = (unseen.first(), are_whole) {
            let names = known.iter().map(|field| field.name().clone()).collect();
            return Err(no_such_column(&spec.name, &origins[0], name, names));
        }
        let kind = NoteKind::NamesNotSeen(unseen.clone());
        let file = origins[0].path().to_path_buf();
        let notes = (!unseen.is_empty()).then_some(Note { file, kind });
        let json = Json { origins, layouts, fields: fields.into(), schema: spec.schema() };
        Ok((json, notes.into_iter().collect()))
    }
}

/// What the beginnings of files say.
struct Looked {
    guess: Guess,
    layouts: Vec<Layout>,
    /// Whether the beginnings are all there is.
    are_whole: bool,
}

fn look_at_all(origins: &[Origin]) -> Result<Looked, Error> {
    let sample_bytes = (limits::INFER_BYTES / origins.len()).max(limits::INFER_FILE_BYTES_MIN);
    let mut looked = Looked { guess: Guess::default(), layouts: vec![], are_whole: true };
    for some in origins.chunks(limits::REMOTE_OPEN_REQUESTS) {
        let are_far = some.iter().any(Origin::is_far);
        for (sample, is_whole) in abreast(are_far, some, |origin| origin.sample(sample_bytes))? {
            let layout = layout_of(&sample);
            look_at(&sample, layout, is_whole, &mut looked.guess);
            looked.layouts.push(layout);
            looked.are_whole &= is_whole;
        }
    }
    Ok(looked)
}

/// Texts of a table are views.
fn column(field: &Arc<Field>) -> Field {
    let ty = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        other => other.clone(),
    };
    Field::new(field.name(), ty, true)
}

/// Lines, unless the first of them goes on after its object, or on the next line.
fn layout_of(sample: &[u8]) -> Layout {
    let Ok(Some(first)) = Records::new(sample, 1, Layout::Lines).next() else {
        return Layout::Lines;
    };
    if first.bytes.starts_with(b"[") {
        return Layout::Array(Phase::Begins);
    }
    let mut cursor = Cursor::new(first.bytes);
    let goes_on = match cursor.skip() {
        Ok(()) => cursor.peek() == Some(b'{'),
        Err(_) => matches!(first.bytes.last(), Some(b'{' | b'[' | b',' | b':')),
    };
    if goes_on { Layout::Values } else { Layout::Lines }
}

fn look_at(sample: &[u8], layout: Layout, is_whole: bool, guess: &mut Guess) {
    let whole = match (layout, is_whole) {
        // A line that is cut would be taken for a wrong one.
        (Layout::Lines, false) => memchr::memrchr(b'\n', sample).map_or(sample.len(), |at| at + 1),
        _ => sample.len(),
    };
    let mut records = Records::new(&sample[..whole], 1, layout);
    while let Ok(Some(record)) = records.next() {
        let is_object =
            record.bytes.starts_with(b"{") && simdutf8::basic::from_utf8(record.bytes).is_ok();
        let is_right = || Cursor::new(record.bytes).skip().is_ok();
        if is_object && is_right() {
            // What is wrong with it has been looked for.
            let _ = guess.look_at(&mut Cursor::new(record.bytes));
        }
    }
}

impl Format for Json {
    fn origins(&self) -> Result<Arc<[Origin]>, Error> {
        Ok(Arc::clone(&self.origins))
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error> {
        let of = |fields: &Fields, places: &[usize]| {
            places.iter().map(|at| fields[*at].clone()).collect::<Fields>()
        };
        let position = options.position.as_deref();
        let schema = with_position(of(self.schema.fields(), needed), position);
        let all: Vec<usize> = (0..self.fields.len()).collect();
        let (judged, picked) = match options.judge_all_columns {
            true => (&all[..], Some(needed.to_vec())),
            false => (needed, None),
        };
        let sizes = self.origins.iter().map(Origin::total_bytes);
        let sizes: Vec<Option<u64>> = sizes.collect::<Result<_, _>>()?;
        let files = Files {
            table: self.clone(),
            fields: of(&self.fields, judged),
            schema: with_position(of(self.schema.fields(), judged), position),
            picked,
            names: {
                let place = |at: &usize| judged.iter().position(|judged| judged == at);
                let name = |at: usize| (self.fields[at].name().as_str(), place(&at));
                Names::of(all.iter().map(|at| name(*at)))
            },
            untaken: Arc::default(),
            options: options.clone(),
            numbers: Numbers::of(self.origins.len()),
        };
        let untaken = Arc::clone(&files.untaken);
        let chunks = Box::new(Noted { chunks: SideBySide::new(files), untaken });
        Ok(Content { schema, total_bytes: sizes.into_iter().sum(), chunks })
    }
}

#[derive(Debug)]
struct Files {
    table: Json,
    fields: Fields,
    schema: SchemaRef,
    /// Which of them are handed on, if not all.
    picked: Option<Vec<usize>>,
    names: Arc<Names>,
    untaken: Arc<AllUntaken>,
    options: Options,
    numbers: Numbers,
}

/// All files, with what there is to say about them once they have been read.
#[derive(Debug)]
struct Noted {
    chunks: SideBySide,
    untaken: Arc<AllUntaken>,
}

impl Chunks for Noted {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        self.chunks.next_chunk()
    }

    fn notes(&self) -> Vec<Note> {
        self.untaken.notes()
    }
}

impl Lanes for Files {
    fn count(&self) -> usize {
        self.table.origins.len()
    }

    fn file(&self, lane: usize) -> usize {
        lane
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let (origin, taken) = (&self.table.origins[lane], Taken::default());
        let input = origin.open(taken.counter())?;
        let chunk_bytes = self.options.chunk_bytes.clamp(1, limits::CSV_CHUNK_BYTES_MAX);
        let record_bytes_max = self.options.record_bytes_max.clamp(1, limits::CSV_CHUNK_BYTES_MAX);
        let layout = self.table.layouts[lane];
        let cutter = Cutter::new(input, layout, chunk_bytes, record_bytes_max);
        let needs = Arc::new(Needed {
            path: Arc::clone(origin.path()),
            fields: self.fields.clone(),
            schema: Arc::clone(&self.schema),
            picked: self.picked.clone(),
            names: Arc::clone(&self.names),
            keep_raw: self.options.keep_raw_rejects,
            untaken: Arc::clone(&self.untaken),
        });
        let state = Mutex::new(State { cutter, next_chunk: 0 });
        let record_bytes_max = self.options.record_bytes_max;
        Ok(Arc::new(OneFile { needs, lane, numbers: self.numbers, record_bytes_max, taken, state }))
    }
}

struct OneFile {
    needs: Arc<Needed>,
    lane: usize,
    numbers: Numbers,
    record_bytes_max: usize,
    taken: Taken,
    state: Mutex<State>,
}

struct State {
    cutter: Cutter,
    next_chunk: u64,
}

impl OneFile {
    fn error(&self, cut: Cut) -> Error {
        let path: &Path = &self.needs.path;
        match cut {
            Cut::Read(error) => Error::read(path, error),
            Cut::TooLong(line) => {
                let (path, limit_bytes) = (path.to_path_buf(), self.record_bytes_max);
                Error::TooLong { path, line, limit_bytes }
            }
            Cut::Wrong(line, wrong) => {
                let why = format!("after line {line}: {wrong}");
                Error::Damaged { path: path.to_path_buf(), format: NAME, why }
            }
        }
    }

    fn next_piece(&self) -> Result<Option<(u64, Piece)>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(piece) = state.cutter.next().map_err(|cut| self.error(cut))? else {
            return Ok(None);
        };
        let number = self.numbers.number(self.lane, state.next_chunk)?;
        state.next_chunk += 1;
        Ok(Some((number, piece)))
    }
}

impl Chunks for OneFile {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let Some((number, piece)) = self.next_piece()? else { return Ok(None) };
        let (needs, bytes) = (Arc::clone(&self.needs), self.taken.untold());
        Ok(Some(Chunk::new(number, move || {
            guarded(&needs.path, NAME, || parse(&piece, &needs, number, bytes))
        })))
    }
}

impl std::fmt::Debug for OneFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneFile").field("path", &self.needs.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_how_the_file_is_arranged() {
        for (text, layout) in [
            ("{\"a\":1}\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":1}", Layout::Lines),
            ("{\"a\":1\n{\"a\":2}\n", Layout::Lines),
            ("{\"a\":1} x\n{\"a\":2}\n", Layout::Lines),
            ("{\n  \"a\": 1\n}\n", Layout::Values),
            ("{\"a\": 1,\n\"b\": 2}\n", Layout::Values),
            ("{\"a\":1}{\"a\":2}", Layout::Values),
            ("\n [\n{}", Layout::Array(Phase::Begins)),
        ] {
            assert_eq!(layout_of(text.as_bytes()), layout, "{text}");
        }
    }
}
