//! Tables to ask about.

use std::path::{Path, PathBuf};

use caudal_core::ParamValue;
use caudal_source::{Note, STDIN, Said, Table};
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
#[allow(clippy::large_enum_variant, reason = "there are few of them")]
enum Source {
    Guessed { name: String, files: String, options: TableOptions },
    Known(Table),
}

impl Tables {
    pub(crate) fn of(session: Session) -> Self {
        Self { session, tables: vec![], params: vec![] }
    }

    /// Adds a table: one file, all in a folder, or all that a pattern (`*`, `?`, `[a-z]`, `**/`) matches; `-` is standard
    /// input; `s3://`, `gs://`, `az://` and `https://` are where they say. They are looked for, and their types guessed, whenever a query is asked.
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
    pub fn typed_table(mut self, table: impl Into<Table>) -> Self {
        self.tables.push(Source::Known(table.into()));
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

/// A name for the table in these files, where nobody gives it one: that of the file, folder or pattern without its endings, as SQL
/// takes names.
///
/// ```
/// use caudal::name_of_files;
///
/// assert_eq!(name_of_files("data/games.csv.gz"), "games");
/// assert_eq!(name_of_files("reviews_*.csv{delimiter=\";\"}"), "reviews");
/// assert_eq!(name_of_files("s3://bucket/sales 2024/"), "sales_2024");
/// assert_eq!(name_of_files("2024.csv"), "t_2024");
/// assert_eq!(name_of_files("*.csv"), "t");
/// ```
pub fn name_of_files(files: &str) -> String {
    let files = TableOptions::split(files).map_or(files, |(files, _)| files);
    let files = files.trim_end_matches('/');
    let last = files.rsplit_once('/').map_or(files, |(_, last)| last);
    let stem = last.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let words: Vec<_> =
        stem.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match words.join("_") {
        name if name.is_empty() || last.starts_with("*.") => "t".to_string(),
        name if name.starts_with(|c: char| c.is_numeric()) => format!("t_{name}"),
        name => name,
    }
}

/// The table in these files, with what is known of it and what they say or their first rows suggest; and what makes one
/// doubt that.
pub fn guessed(
    name: String,
    pattern: &str,
    options: &TableOptions,
) -> Result<(Table, Vec<Note>), Error> {
    let Found { files, is_one } = found(&name, pattern)?;
    // A file that is named alone need not tell where it is.
    let unsaid = is_one.then_some(false);
    let said = Said {
        dialect: options.dialect().clone(),
        unsaid: options.unsaid(),
        fields: options.field_count(),
        types: options.types().clone(),
        union_by_name: options.is_union_by_name(),
        hive_partitioning: options.are_folders_columns().or(unsaid),
    };
    let (table, mut notes) = Table::of(name, &files, &said)?;
    notes.extend(caudal_source::notes_of_copies(&files));
    Ok((table, notes))
}

struct Found {
    files: Vec<PathBuf>,
    /// Whether it was named as one file.
    is_one: bool,
}

/// Standard input, the file of this name, all that are in the folder of this name, or all that match; never none.
fn found(table: &str, pattern: &str) -> Result<Found, Error> {
    let literal = Path::new(pattern);
    let is_address = caudal_source::is_address(pattern);
    let is_folder = !is_address && literal.is_dir();
    let files = if is_address {
        caudal_source::files_at(pattern)?
    } else if is_folder {
        caudal_source::files_in(literal)?
    } else if pattern == STDIN || literal.exists() {
        vec![literal.to_path_buf()]
    } else {
        caudal_suite::matching(Path::new("."), pattern)?
    };
    let is_one = files == [literal];
    match files.is_empty() {
        false => Ok(Found { files, is_one }),
        true if is_address || is_folder || pattern.contains(['*', '?', '[']) => {
            Err(Error::NoFiles { table: table.to_string(), pattern: pattern.to_string() })
        }
        true => Err(caudal_source::Error::no_such_file(literal).into()),
    }
}
