//! Tables to ask about.

use std::path::{Path, PathBuf};

use caudal_core::ParamValue;
use caudal_csv::{Note, Table};
use caudal_suite::TableOptions;

use crate::answer::Answer;
use crate::error::Error;
use crate::job::Job;
use crate::session::Session;

/// Tables and parameters of a [`Session`], to be asked one query after the other.
#[derive(Clone)]
pub struct Tables {
    session: Session,
    tables: Vec<Source>,
    params: Vec<(String, ParamValue)>,
}

#[derive(Clone)]
enum Source {
    Guessed { name: String, files: String, options: TableOptions },
    Known(Table),
}

impl Tables {
    pub(crate) fn of(session: Session) -> Self {
        Self { session, tables: vec![], params: vec![] }
    }

    /// Adds a table: one file, or all that a pattern (`*`, `?`, `[a-z]`, `**/`) matches. They are looked for, and their
    /// types guessed, whenever a query is asked.
    pub fn table(self, name: impl Into<String>, files: impl Into<String>) -> Self {
        self.table_with(name, files, TableOptions::new())
    }

    /// Adds a table of whose files something is known: how they are written, some types.
    pub fn table_with(
        mut self,
        name: impl Into<String>,
        files: impl Into<String>,
        options: TableOptions,
    ) -> Self {
        self.tables.push(Source::Guessed { name: name.into(), files: files.into(), options });
        self
    }

    /// Adds a table whose columns are known.
    pub fn typed_table(mut self, table: Table) -> Self {
        self.tables.push(Source::Known(table));
        self
    }

    /// Adds a value for `$name` in queries.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<ParamValue>) -> Self {
        self.params.push((name.into(), value.into()));
        self
    }

    /// Asks a query.
    pub async fn query(&self, sql: impl Into<String>) -> Result<Answer, Error> {
        let job = self.job()?.query("query", sql);
        Answer::of(self.session.run(&job).await?, &job)
    }

    /// The tables as they are now, for several queries in one pass: see [`Session::run`].
    pub fn job(&self) -> Result<Job, Error> {
        let mut job = Job { params: self.params.clone(), ..Job::default() };
        for table in &self.tables {
            job = match table {
                Source::Guessed { name, files, options } => {
                    job.table_with(name.clone(), files, options)?
                }
                Source::Known(table) => job.typed_table(table.clone()),
            };
        }
        Ok(job)
    }
}

/// The table in these files, with what is known of it and what their first rows suggest; and what makes one doubt that.
pub fn guessed(
    name: String,
    pattern: &str,
    options: &TableOptions,
) -> Result<(Table, Vec<Note>), Error> {
    let files = files_of(&name, pattern)?;
    let mut notes = vec![];
    let (dialect, sniffed) = caudal_csv::sniff(&files[0], options.dialect(), options.unsaid())?;
    notes.extend(sniffed);
    if let Some(why) = dialect.contradiction() {
        return Err(caudal_csv::Error::BadDialect { table: name, why }.into());
    }
    let inferred = caudal_csv::infer(&files, &dialect, options.field_count())?;
    notes.extend(inferred.notes);
    let mut columns = inferred.columns;
    for (column, ty) in options.types() {
        match columns.iter_mut().find(|known| known.name == *column) {
            Some(known) => known.ty = *ty,
            None => {
                let header = columns.into_iter().map(|column| column.name).collect();
                let (file, column) = (files[0].clone(), column.clone());
                let error = caudal_csv::Error::NoSuchColumn { table: name, file, column, header };
                return Err(error.into());
            }
        }
    }
    Ok((Table { name, files, columns, fields: options.field_count(), dialect }, notes))
}

/// The file of this name, or all that match; never none.
fn files_of(table: &str, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let literal = Path::new(pattern);
    if literal.exists() {
        return Ok(vec![literal.to_path_buf()]);
    }
    let files = caudal_suite::matching(Path::new("."), pattern)?;
    match files.is_empty() {
        false => Ok(files),
        true if pattern.contains(['*', '?', '[']) => {
            Err(Error::NoFiles { table: table.to_string(), pattern: pattern.to_string() })
        }
        true => Err(caudal_csv::Error::NoSuchFile(literal.to_path_buf()).into()),
    }
}
