//! Tables: files of whatever format, and the columns that SQL sees of them.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use caudal_csv::Options;

use crate::csv::Csv;
use crate::error::Error;
use crate::format::Format;
use crate::ipc::Ipc;
use crate::json::Json;
use crate::kind::Kind;
use crate::opened::Opened;
use crate::origin::Origin;
use crate::parquet::Parquet;
use crate::source::TableSource;

/// A table: its files, and what is known of them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in SQL.
    pub name: String,
    format: Arc<dyn Format>,
}

impl Table {
    /// The table in these files, with the format that their first bytes tell, and the columns that they say or suggest.
    /// `-` is standard input.
    pub fn guessed(name: impl Into<String>, files: &[PathBuf]) -> Result<Table, Error> {
        let name = name.into();
        let origins = Origin::of_all(&name, files)?;
        let format: Arc<dyn Format> = match Kind::of_all(&origins)? {
            Kind::Csv => Arc::new(Csv::guessed(&name, origins)?),
            Kind::Json => Arc::new(Json::guessed(origins)?),
            Kind::Parquet => Arc::new(Parquet::of(origins)?),
            Kind::Ipc => Arc::new(Ipc::of(origins)?),
        };
        Ok(Table { name, format })
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
        Ok(Arc::new(Opened::new(Arc::clone(&self.format), needed, options)?))
    }
}

/// A table of CSV files whose columns are known; they may be compressed. Nothing is looked at before it is opened.
impl From<caudal_csv::Table> for Table {
    fn from(spec: caudal_csv::Table) -> Table {
        Table { name: spec.name.clone(), format: Arc::new(Csv::new(spec)) }
    }
}
