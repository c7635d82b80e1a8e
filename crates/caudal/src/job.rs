//! Jobs to run: tables on files, and queries.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use caudal_core::{ParamValue, limits};
use caudal_planner::{SessionSpec, TableSpec};
use caudal_protocol::manifest::QuerySpec;
use caudal_runtime::task;
use caudal_source::{Note, STDIN, Table};
use caudal_suite::{Query, Suite, TableOptions};

use crate::error::Error;
use crate::plan::Plan;
use crate::tables;

/// Tables, and queries that are answered together, in one pass over them.
///
/// ```
/// # fn doc() -> Result<(), caudal::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # std::env::set_current_dir(&folder).unwrap();
/// # std::fs::write("reviews.csv", "game,stars\n1,5\n").unwrap();
/// let job = caudal::Job::new()
///     .table("reviews", "reviews.csv")?
///     .query("good", "SELECT * FROM reviews WHERE stars >= $least")
///     .query("all", "SELECT count(*) FROM reviews")
///     .param("least", 4);
/// # assert_eq!(job.queries.len(), 2);
/// # Ok(())
/// # }
/// # doc().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Job {
    /// Tables that the queries can name.
    pub tables: Vec<Table>,
    /// In the order in which [`QueryId`](crate::QueryId)s count them.
    pub queries: Vec<Query>,
    /// Values for the `$name` placeholders of all queries.
    pub params: Vec<(String, ParamValue)>,
    /// What was guessed of the tables' files, and what makes one doubt it.
    pub notes: Vec<Note>,
    /// Names of the tables whose columns were guessed.
    pub guessed: Vec<String>,
}

impl Job {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The queries of a suite, to be chosen from.
    pub fn of_suite(suite: &Suite) -> SuiteJob<'_> {
        SuiteJob { suite, queries: vec![], params: vec![] }
    }

    /// Adds a table: one file, all in a folder, or all that a pattern matches; `-` is standard input. Its columns are
    /// those of the first file, their types those that it says, or the narrowest that fit the first rows of each.
    pub fn table(self, name: impl Into<String>, files: impl AsRef<str>) -> Result<Self, Error> {
        self.table_with(name, files, &TableOptions::new())
    }

    /// Adds a table of whose files something is known: how they are written, some types.
    pub fn table_with(
        mut self,
        name: impl Into<String>,
        files: impl AsRef<str>,
        options: &TableOptions,
    ) -> Result<Self, Error> {
        let (name, files): (String, &str) = (name.into(), files.as_ref());
        self.check_comes_once(&name, files)?;
        let (table, notes) = tables::guessed(name, files, options)?;
        self.notes.extend(notes);
        self.guessed.push(table.name.clone());
        Ok(self.typed_table(table))
    }

    /// Fails if these bytes are another table already, and come once: whichever began first would have them.
    fn check_comes_once(&self, name: &str, files: &str) -> Result<(), Error> {
        let path = Path::new(files);
        let is_stdin = files == STDIN;
        let is_pipe = || path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
        if !is_stdin && !is_pipe() {
            return Ok(());
        }
        match self.tables.iter().find(|table| table.has_file(path)) {
            None => Ok(()),
            Some(first) => Err(Error::OneInput {
                input: if is_stdin { "standard input".to_string() } else { files.to_string() },
                first: first.name.clone(),
                second: name.to_string(),
            }),
        }
    }

    /// Adds a table for every file that a query names where a table is expected: `SELECT * FROM 'games.csv'`, with a
    /// pattern or options in braces if need be, as [`Self::table_with`] has them. The texts of such queries open files of
    /// whoever calls this: it is not for queries of strangers.
    pub fn open_files(mut self) -> Result<Self, Error> {
        let queries = self.queries.iter();
        let named: Vec<String> =
            queries.flat_map(|query| caudal_planner::files_in_from(&query.sql)).collect();
        for name in named {
            if self.tables.iter().all(|table| table.name != name) {
                let (files, options) = TableOptions::split(&name)?;
                self = self.table_with(name.as_str(), files, &options)?;
            }
        }
        Ok(self)
    }

    /// Adds a table whose columns are known.
    pub fn typed_table(mut self, table: impl Into<Table>) -> Self {
        self.tables.push(table.into());
        self
    }

    /// Adds a query.
    pub fn query(mut self, name: impl Into<String>, sql: impl Into<String>) -> Self {
        self.queries.push(Query::new(name, sql));
        self
    }

    /// Adds a value for `$name`. A job in which one has two is neither planned nor run.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<ParamValue>) -> Self {
        self.params.push((name.into(), value.into()));
        self
    }

    /// A parameter that has a value and that no query mentions: probably a slip.
    pub fn unused_param(&self) -> Option<&str> {
        let is_used = |name: &str| self.queries.iter().any(|query| mentions(&query.sql, name));
        self.params.iter().map(|(name, _)| name.as_str()).find(|name| !is_used(name))
    }

    /// Divides it into stages over so many shards, without running it. Fails if not one query can be answered.
    pub async fn plan(&self, shards: usize) -> Result<Plan, Error> {
        self.check_params()?;
        let spec = SessionSpec { queries: self.specs(), shards, ..self.names() };
        let planning = async move { caudal_planner::plan(&spec).await };
        let planned = task::compute_async(limits::PLANNING_STACK_BYTES, planning).await;
        let died = |died| Error::Session(caudal_client::Error::Panicked(died));
        Ok(Plan { stages: planned.map_err(died)??.into() })
    }

    /// Fails if a parameter has two values.
    pub(crate) fn check_params(&self) -> Result<(), Error> {
        for (at, (name, _)) in self.params.iter().enumerate() {
            if self.params[..at].iter().any(|(known, _)| known == name) {
                return Err(caudal_suite::Error::ParamTwice { name: name.clone() }.into());
            }
        }
        Ok(())
    }

    /// Names that a query can use, as the planner takes them.
    pub(crate) fn names(&self) -> SessionSpec {
        let table = |table: &Table| TableSpec { name: table.name.clone(), schema: table.schema() };
        let tables = self.tables.iter().map(table).collect();
        SessionSpec { tables, queries: vec![], shards: 1, started: chrono::Utc::now() }
    }

    pub(crate) fn spec(&self, query: &Query) -> QuerySpec {
        let (name, sql) = (query.name.clone(), query.sql.clone());
        QuerySpec { name, sql, params: self.params.clone() }
    }

    pub(crate) fn specs(&self) -> Vec<QuerySpec> {
        self.queries.iter().map(|query| self.spec(query)).collect()
    }
}

/// Whether `$name` stands in the SQL.
fn mentions(sql: &str, name: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    sql.split('$').skip(1).any(|after| after.strip_prefix(name).is_some_and(|rest| !goes_on(rest)))
}

/// A job in the making: which queries of a suite, with which parameters, over which files.
#[derive(Clone, Debug)]
pub struct SuiteJob<'a> {
    suite: &'a Suite,
    queries: Vec<String>,
    params: Vec<String>,
}

impl SuiteJob<'_> {
    /// Only the queries of these names or groups. All of them, where none is named.
    pub fn queries(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queries.extend(names.into_iter().map(Into::into));
        self
    }

    /// Values of parameters, each as `name=value`; the others have their defaults.
    pub fn params(mut self, given: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.params.extend(given.into_iter().map(Into::into));
        self
    }

    /// The job over the suite's files in a folder, of whatever format they are.
    pub fn over(&self, folder: impl AsRef<Path>) -> Result<Job, Error> {
        let mut job = self.without_tables()?;
        for table in &self.suite.tables {
            let (table, notes) = Table::declared(table.in_folder(folder.as_ref())?)?;
            job.tables.push(table);
            job.notes.extend(notes);
        }
        Ok(job)
    }

    /// The job over no files: it can be planned, not run. Fails where only files say which columns a table has.
    pub fn without_files(&self) -> Result<Job, Error> {
        let mut job = self.without_tables()?;
        let tables = self.suite.tables.iter().map(|table| Ok(Table::from(table.without_files()?)));
        job.tables = tables.collect::<Result<_, Error>>()?;
        Ok(job)
    }

    fn without_tables(&self) -> Result<Job, Error> {
        let params = self.suite.assign(&self.params)?.into_iter().collect();
        let queries = self.suite.select(&self.queries)?.into_iter().cloned().collect();
        Ok(Job { queries, params, ..Job::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_used_where_its_whole_name_stands() {
        let job = |sql: &str| Job::new().query("q", sql).param("least", 1);
        assert_eq!(job("SELECT $least").unused_param(), None);
        assert_eq!(job("SELECT $least+1").unused_param(), None);
        assert_eq!(job("SELECT $least_of_all").unused_param(), Some("least"));
        assert_eq!(job("SELECT least").unused_param(), Some("least"));
    }
}
