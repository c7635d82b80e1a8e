//! A suite: its tables, its queries, its parameters.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use caudal_core::ParamValue;
use caudal_core::error::nearest;
use caudal_csv::{Column, Dialect, Table};

use crate::manifest::{self, Manifest};
use crate::params::{self, Param};
use crate::{Error, NAMES, builtin, files};

/// Queries that belong together, and the tables and parameters that they are about.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Name by which a user calls it: a built-in suite's name, or the name of the folder.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Parameters of all queries.
    pub params: Vec<Param>,
    /// Tables that the queries can name.
    pub tables: Vec<TablePattern>,
    /// Queries, in the order of the manifest.
    pub queries: Vec<Query>,
}

/// A table of a suite, before its files are looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct TablePattern {
    /// Name of the table in SQL.
    pub name: String,
    /// Alternatives, relative to the data folder: the first that matches anything is the table.
    pub files: Vec<String>,
    /// Number of fields of a row, where the header is wrong about it.
    pub fields: Option<usize>,
    /// Columns that SQL sees; none are those that the files say.
    pub columns: Vec<Column>,
    /// How its files are written.
    pub dialect: Dialect,
}

/// A question and what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Also the name of its result's file.
    pub name: String,
    /// Several results of one question share a group, by which they can be chosen together.
    pub group: Option<String>,
    /// Title for people; empty, if it has none.
    pub title: String,
    /// Text of the query.
    pub sql: String,
}

impl Suite {
    /// A suite that ships with the product, or else the folder of that name.
    pub fn find(name_or_folder: &str) -> Result<Self, Error> {
        match Self::builtin(name_or_folder) {
            Err(Error::NoSuchSuite { .. }) if Path::new(name_or_folder).is_dir() => {
                Self::load(Path::new(name_or_folder))
            }
            found_or_failed => found_or_failed,
        }
    }

    /// One of [`NAMES`].
    pub fn builtin(name: &str) -> Result<Self, Error> {
        let embedded = builtin::find(name).ok_or_else(|| Error::NoSuchSuite {
            name: name.to_string(),
            nearest: nearest(name, NAMES).map(str::to_string),
        })?;
        let path = Path::new(name).join(manifest::FILE);
        let manifest = manifest::parse(&path, embedded.manifest)?;
        Self::assemble(name, Path::new(name), manifest, |file| {
            let query = embedded.queries.iter().find(|(name, _)| *name == file);
            let (_, sql) = query.ok_or(io::ErrorKind::NotFound)?;
            Ok(sql.to_string())
        })
    }

    /// The suite in `folder`.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(manifest::FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| Error::UnreadableManifest { path: path.clone(), source })?;
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let name = name.file_name().unwrap_or(folder.as_os_str());
        let manifest = manifest::parse(&path, &text)?;
        Self::assemble(&name.to_string_lossy(), folder, manifest, |file| {
            std::fs::read_to_string(folder.join(file))
        })
    }

    fn assemble(
        name: &str,
        folder: &Path,
        manifest: Manifest,
        read: impl Fn(&str) -> io::Result<String>,
    ) -> Result<Self, Error> {
        let mut queries = Vec::with_capacity(manifest.queries.len());
        for entry in manifest.queries {
            let sql = read(&entry.file).map_err(|source| Error::UnreadableQuery {
                path: folder.join(&entry.file),
                query: entry.name.clone(),
                source,
            })?;
            queries.push(Query { name: entry.name, group: entry.group, title: entry.title, sql });
        }
        Ok(Self {
            name: name.to_string(),
            title: manifest.title,
            params: manifest.params,
            tables: manifest.tables,
            queries,
        })
    }

    /// The queries of these names or groups, in the suite's order; all of them when none is named.
    pub fn select(&self, wanted: &[impl AsRef<str>]) -> Result<Vec<&Query>, Error> {
        for name in wanted.iter().map(AsRef::as_ref) {
            if !self.queries.iter().any(|query| query.answers_to(name)) {
                return Err(self.unknown_query(name));
            }
        }
        let chosen = |query: &&Query| {
            wanted.is_empty() || wanted.iter().any(|name| query.answers_to(name.as_ref()))
        };
        Ok(self.queries.iter().filter(chosen).collect())
    }

    fn unknown_query(&self, name: &str) -> Error {
        let names = self.queries.iter().map(|query| query.name.as_str());
        let groups = self.queries.iter().filter_map(|query| query.group.as_deref());
        Error::UnknownQuery {
            suite: self.name.clone(),
            name: name.to_string(),
            nearest: nearest(name, names.clone().chain(groups)).map(str::to_string),
            known: names.map(str::to_string).collect(),
        }
    }

    /// The value of every parameter, after `name=value` assignments and defaults.
    pub fn assign(&self, given: &[impl AsRef<str>]) -> Result<BTreeMap<String, ParamValue>, Error> {
        params::assign(&self.params, given)
    }
}

impl Query {
    /// A query of no suite.
    pub fn new(name: impl Into<String>, sql: impl Into<String>) -> Self {
        Self { name: name.into(), group: None, title: String::new(), sql: sql.into() }
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.group.as_deref() == Some(name)
    }
}

impl TablePattern {
    /// The table in a folder with the suite's data.
    pub fn in_folder(&self, folder: &Path) -> Result<Table, Error> {
        Ok(self.of_files(self.files_in(folder)?))
    }

    /// The table as far as it is known without data: not, if its columns are said by its files.
    pub fn without_files(&self) -> Result<Table, Error> {
        match self.columns.is_empty() {
            true => Err(Error::ColumnsOfFiles { table: self.name.clone() }),
            false => Ok(self.of_files(vec![])),
        }
    }

    fn of_files(&self, files: Vec<PathBuf>) -> Table {
        let Self { name, fields, columns, dialect, .. } = self.clone();
        Table { name, files, columns, fields, dialect }
    }

    /// The table's files in `folder`, sorted by path; never none.
    pub fn files_in(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        for pattern in &self.files {
            let found = files::matching(folder, pattern)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Err(Error::NoFiles {
            table: self.name.clone(),
            folder: folder.to_path_buf(),
            patterns: self.files.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    #[test]
    fn every_builtin_suite_is_well_formed() {
        let queries = NAMES.map(|name| Suite::builtin(name).unwrap().queries.len());
        assert_eq!(queries, [5, 5, 5, 5]);
    }

    #[test]
    fn embedded_and_loaded_suites_are_the_same() {
        for name in NAMES {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites").join(name);
            let loaded = Suite::load(&folder).unwrap();
            let builtin = Suite::builtin(name).unwrap();
            assert_eq!(loaded.name, builtin.name);
            assert_eq!(loaded.queries, builtin.queries);
            assert_eq!(loaded.tables, builtin.tables);
        }
    }

    #[test]
    fn questions_that_share_work_share_their_text() {
        let common = |suite: &str, query: &str, from: &str, to: &str| {
            let suite = Suite::builtin(suite).unwrap();
            let sql = suite.select(&[query]).unwrap()[0].sql.clone();
            let start = sql.find(from).unwrap();
            let end = start + sql[start..].find(to).unwrap();
            sql[start..end].to_string()
        };
        let nineties = |query| common("books", query, "    SELECT books.title", ") AS nineties");
        assert_eq!(nineties("q3"), nineties("q4"));
        let sold = |query| common("coffee", query, "        SELECT\n            date", ") AS sold");
        assert_eq!(sold("q2_best_selling"), sold("q2_most_profitable"));
    }

    #[test]
    fn queries_are_chosen_by_name_or_group_in_the_suites_order() {
        let suite = Suite::builtin("coffee").unwrap();
        let names = |wanted: &[&str]| -> Vec<String> {
            let chosen = suite.select(wanted).unwrap();
            chosen.iter().map(|query| query.name.clone()).collect()
        };
        assert_eq!(names(&["q3", "q2"]), ["q2_best_selling", "q2_most_profitable", "q3"]);
        assert_eq!(names(&["q2_most_profitable"]), ["q2_most_profitable"]);
        assert_eq!(names(&[]).len(), 5);
    }

    #[test]
    fn an_unknown_query_is_answered_with_the_nearest() {
        let suite = Suite::builtin("coffee").unwrap();
        let error = suite.select(&["q2_best_seling"]).unwrap_err();
        assert_eq!(error.code(), codes::NO_SUCH_QUERY);
        assert_eq!(error.hint().unwrap(), "did you mean `q2_best_selling`?");
        let error = suite.select(&["everything"]).unwrap_err();
        assert!(error.hint().unwrap().starts_with("it has q1, q2_best_selling"));
    }

    #[test]
    fn an_unknown_suite_is_answered_with_the_nearest() {
        let error = Suite::find("stema").unwrap_err();
        assert_eq!(error.code(), codes::NO_SUCH_SUITE);
        assert_eq!(error.hint().unwrap(), "did you mean `steam`?");
    }

    #[test]
    fn a_table_is_the_first_pattern_that_matches() {
        let data = tempfile::tempdir().unwrap();
        let suite = Suite::builtin("steam").unwrap();
        let reviews = &suite.tables[1];
        let error = reviews.files_in(data.path()).unwrap_err();
        assert_eq!(error.code(), codes::NO_FILE_FOR_TABLE);
        assert!(error.to_string().ends_with("nothing matches reviews.csv or dataset.csv"));
        for file in ["dataset.csv", "reviews.csv"] {
            std::fs::write(data.path().join(file), "").unwrap();
            let found = reviews.files_in(data.path()).unwrap();
            assert_eq!(found, [data.path().join(file)]);
        }
    }

    #[test]
    fn a_folder_without_its_files_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let error = Suite::load(folder.path()).unwrap_err();
        assert_eq!(error.code(), codes::MANIFEST_UNREADABLE);
        let manifest = "title = 'x'\n[[query]]\nname = 'q'\ntitle = 'Q'\nfile = 'none.sql'\n";
        std::fs::write(folder.path().join("suite.toml"), manifest).unwrap();
        let error = Suite::find(&folder.path().to_string_lossy()).unwrap_err();
        assert_eq!(error.code(), codes::QUERY_FILE_UNREADABLE);
        assert!(error.to_string().contains("none.sql, the SQL of query `q`"));
    }
}
