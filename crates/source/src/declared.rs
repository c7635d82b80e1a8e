//! Tables whose columns are said before their files are looked at, as those of a suite are: of any format.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use caudal_csv::{At, Column, Note, Options};

use crate::convert::converted;
use crate::csv::Csv;
use crate::error::Error;
use crate::format::{Content, Format};
use crate::ipc::Ipc;
use crate::json::Json;
use crate::kind::Kind;
use crate::lanes::Chunks;
use crate::origin::Origin;
use crate::parquet::Parquet;
use crate::position::with_position;
use crate::said::Said;
use crate::source::{Chunk, Parsed};
use crate::table::Table;
use crate::types::holds;

impl Table {
    /// The table in these files, of whatever format, with the columns that are said of it. Types of CSV and JSON are what
    /// values are read as. Parquet and Arrow say their own, which have to be those or such as they hold exactly; of these
    /// formats no column need be said, and then all are there as they are.
    pub fn declared(spec: caudal_csv::Table) -> Result<(Table, Vec<Note>), Error> {
        let origins = Origin::of_all(&spec.name, &spec.files)?;
        let kind = Kind::of_all(&origins)?;
        if spec.columns.is_empty() && matches!(kind, Kind::Csv | Kind::Json) {
            return Err(Error::ColumnsNotSaid { table: spec.name, format: kind.name() });
        }
        let name = spec.name.clone();
        if kind == Kind::Csv {
            return Ok((Table::new(name, kind, Arc::new(Csv::declared(spec, origins))), vec![]));
        }
        let said = Said { dialect: spec.dialect.clone(), fields: spec.fields, ..Said::default() };
        said.check_is_no_csv(&name, kind.name())?;
        if kind == Kind::Json {
            let (json, notes) = Json::declared(&spec, origins)?;
            return Ok((Table::new(name, kind, Arc::new(json)), notes));
        }
        let (own, notes): (Arc<dyn Format>, _) = match kind {
            Kind::Parquet => {
                let (parquet, notes) = Parquet::of(Arc::clone(&origins), false)?;
                (Arc::new(parquet), notes)
            }
            _ => {
                let (ipc, notes) = Ipc::of(Arc::clone(&origins), false)?;
                (Arc::new(ipc), notes)
            }
        };
        // Where columns are said, nobody asks for others.
        if spec.columns.is_empty() {
            return Ok((Table::new(name, kind, own), notes));
        }
        let declared = Declared::of(own, &spec, &origins[0])?;
        Ok((Table::new(name, kind, Arc::new(declared)), vec![]))
    }
}

/// Files that say their columns, as a table that has some of them, under other names and of wider types.
#[derive(Debug)]
struct Declared {
    table: Arc<str>,
    files: Arc<dyn Format>,
    /// Of each column, which it is of those that the files have.
    places: Vec<usize>,
    schema: SchemaRef,
}

impl Declared {
    fn of(
        files: Arc<dyn Format>,
        spec: &caudal_csv::Table,
        first: &Origin,
    ) -> Result<Declared, Error> {
        let own = files.schema();
        let place = |column: &Column| {
            let at = place(&own, column, spec, first)?;
            let (ty, said) = (own.field(at).data_type(), column.ty.data_type());
            match *ty == said || holds(&said, ty) {
                true => Ok(at),
                false => Err(Error::OtherType {
                    path: first.path().to_path_buf(),
                    table: spec.name.clone(),
                    column: column.name.clone(),
                    ty: ty.clone(),
                    said: column.ty,
                }),
            }
        };
        let places = spec.columns.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Declared { table: spec.name.as_str().into(), files, places, schema: spec.schema() })
    }
}

/// Where a column is among those of the files.
fn place(
    own: &SchemaRef,
    column: &Column,
    spec: &caudal_csv::Table,
    first: &Origin,
) -> Result<usize, Error> {
    let (table, file) = (spec.name.clone(), first.path().to_path_buf());
    match &column.at {
        At::Index(index) if *index < own.fields().len() => Ok(*index),
        At::Index(index) => {
            let (column, fields) = (column.name.clone(), own.fields().len());
            let beyond =
                caudal_csv::Error::IndexBeyondFields { table, file, column, index: *index, fields };
            Err(beyond.into())
        }
        At::Header(name) => own.index_of(name).map_err(|_| {
            let header = own.fields().iter().map(|field| field.name().clone()).collect();
            let column = name.clone();
            caudal_csv::Error::NoSuchColumn { table, file, column, header }.into()
        }),
    }
}

impl Format for Declared {
    fn origins(&self) -> Result<Arc<[Origin]>, Error> {
        self.files.origins()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error> {
        // A column of the files may be two of the table.
        let mut own: Vec<usize> = vec![];
        let mut pick = |at: usize| match own.iter().position(|known| *known == at) {
            Some(known) => known,
            None => {
                own.push(at);
                own.len() - 1
            }
        };
        let mut picks: Vec<usize> = needed.iter().map(|at| pick(self.places[*at])).collect();
        if options.position.is_some() {
            picks.push(own.len());
        }
        let content = self.files.open(&own, &passed_on(options))?;
        let fields: Vec<_> = needed.iter().map(|at| self.schema.fields()[*at].clone()).collect();
        let schema = with_position(fields, options.position.as_deref());
        let (chunks, table) = (content.chunks, Arc::clone(&self.table));
        let typed = Typed { chunks, table, picks: picks.into(), schema: Arc::clone(&schema) };
        Ok(Content { schema, total_bytes: content.total_bytes, chunks: Box::new(typed) })
    }
}

/// What the files are opened with. Whoever adds an option decides here whether it means the same of them, whose columns have
/// other places and other types.
fn passed_on(options: &Options) -> Options {
    // A filter names columns of the declared table, and values of its types.
    Options { rows: None, ..options.clone() }
}

/// Chunks of the files, as those of the table.
#[derive(Debug)]
struct Typed {
    chunks: Box<dyn Chunks>,
    table: Arc<str>,
    picks: Arc<[usize]>,
    schema: SchemaRef,
}

impl Chunks for Typed {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let Some(chunk) = self.chunks.next_chunk()? else { return Ok(None) };
        let (table, picks) = (Arc::clone(&self.table), Arc::clone(&self.picks));
        let schema = Arc::clone(&self.schema);
        Ok(Some(chunk.then(move |parsed| {
            let batch = typed(&parsed.batch, &picks, &schema).map_err(|error| {
                let (table, why) = (table.to_string(), error.to_string());
                Error::NotExact { table, why }
            })?;
            Ok(Parsed { batch, ..parsed })
        })))
    }

    fn notes(&self) -> Vec<Note> {
        self.chunks.notes()
    }
}

fn typed(
    batch: &RecordBatch,
    picks: &[usize],
    schema: &SchemaRef,
) -> Result<RecordBatch, arrow::error::ArrowError> {
    let columns = picks.iter().zip(schema.fields());
    let columns = columns.map(|(pick, field)| converted(batch.column(*pick), field.data_type()));
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = columns.collect::<Result<_, _>>()?;
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)
}
