//! Tables: files of whatever format, and the columns that SQL sees of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use caudal_csv::{Note, Options};

use crate::csv::Csv;
use crate::error::Error;
use crate::folders::Folders;
use crate::format::Format;
use crate::ipc::Ipc;
use crate::json::Json;
use crate::kind::Kind;
use crate::opened::Opened;
use crate::origin::Origin;
use crate::parquet::Parquet;
use crate::said::Said;
use crate::source::TableSource;

/// A table: its files, and what is known of them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in SQL.
    pub name: String,
    kind: Kind,
    format: Arc<dyn Format>,
}

impl Table {
    pub(crate) fn new(name: String, kind: Kind, format: Arc<dyn Format>) -> Table {
        Table { name, kind, format }
    }

    /// The table in these files, with the format that their first bytes tell, and the columns that they say or suggest.
    /// `-` is standard input.
    pub fn guessed(name: impl Into<String>, files: &[PathBuf]) -> Result<Table, Error> {
        Ok(Table::of(name, files, &Said::default())?.0)
    }

    /// The same of files of which something is known; and what there is to say about what was guessed.
    pub fn of(
        name: impl Into<String>,
        files: &[PathBuf],
        said: &Said,
    ) -> Result<(Table, Vec<Note>), Error> {
        let name = name.into();
        let origins = Origin::of_all(&name, files)?;
        let kind = Kind::of_all(&origins)?;
        let Some(folders) = Folders::of(&name, &origins, said)? else {
            let (format, notes) = format_of(&name, kind, origins, said)?;
            check_width(format.as_ref())?;
            return Ok((Table { name, kind, format }, notes));
        };
        let note = folders.note(&origins[0]);
        let (format, mut notes) = format_of(&name, kind, origins, &folders.others(said))?;
        let format = Arc::new(folders.around(&name, format)?);
        check_width(format.as_ref())?;
        notes.push(note);
        Ok((Table { name, kind, format }, notes))
    }

    /// The format of its files, and how they are compressed: `JSON, gzip`.
    pub fn format(&self) -> Result<String, Error> {
        let mut words = vec![self.kind.name()];
        for origin in &*self.format.origins()? {
            let codec = origin.codec()?.map(|codec| codec.name());
            words.extend(codec.filter(|name| !words.contains(name)));
        }
        Ok(words.join(", "))
    }

    /// Whether a file or a pipe of this name is one of its files.
    pub fn has_file(&self, path: &Path) -> bool {
        let origins = self.format.origins();
        origins.is_ok_and(|origins| origins.iter().any(|origin| &**origin.path() == path))
    }

    /// The table of CSV that it is, if it is one.
    pub fn as_csv(&self) -> Option<&caudal_csv::Table> {
        self.format.as_csv()
    }

    /// The columns that SQL sees.
    pub fn schema(&self) -> SchemaRef {
        self.format.schema()
    }

    /// Opens it for the columns that are needed, by their indexes.
    ///
    /// # Panics
    ///
    /// If one is beyond the columns.
    pub fn open(
        &self,
        needed: Vec<usize>,
        options: Options,
    ) -> Result<Arc<dyn TableSource>, Error> {
        Ok(Arc::new(Opened::new(self.name.clone(), Arc::clone(&self.format), needed, options)?))
    }
}

/// Fails if there are more columns than queries can be planned over.
fn check_width(format: &dyn Format) -> Result<(), Error> {
    let columns = format.schema().fields().len();
    if columns <= limits::TABLE_COLUMNS_MAX {
        return Ok(());
    }
    let origins = format.origins()?;
    let path = origins.first().map(|origin| origin.path().to_path_buf()).unwrap_or_default();
    Err(Error::TooManyColumns { path, columns })
}

/// Files of a format, with what is said of them, and what there is to say about what was guessed.
fn format_of(
    table: &str,
    kind: Kind,
    origins: Arc<[Origin]>,
    said: &Said,
) -> Result<(Arc<dyn Format>, Vec<Note>), Error> {
    if kind == Kind::Csv {
        let (csv, notes) = Csv::guessed(table, origins, said)?;
        return Ok((Arc::new(csv), notes));
    }
    said.check_is_no_csv(table, kind.name())?;
    if kind == Kind::Json {
        let (json, notes) = Json::guessed(origins, said)?;
        return Ok((Arc::new(json), notes));
    }
    said.check_no_types(table, kind.name())?;
    if kind == Kind::Parquet {
        let (parquet, notes) = Parquet::of(origins, said.union_by_name)?;
        return Ok((Arc::new(parquet), notes));
    }
    let (ipc, notes) = Ipc::of(origins, said.union_by_name)?;
    Ok((Arc::new(ipc), notes))
}

/// A table of CSV files whose columns are known; they may be compressed. Nothing is looked at before it is opened.
impl From<caudal_csv::Table> for Table {
    fn from(spec: caudal_csv::Table) -> Table {
        Table { name: spec.name.clone(), kind: Kind::Csv, format: Arc::new(Csv::new(spec)) }
    }
}
