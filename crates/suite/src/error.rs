//! Errors in a suite or in how it is called, each with a stable code.

use std::path::PathBuf;

use caudal_core::{Code, Coded, codes};

use crate::params::ParamType;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("no suite is called `{name}`, and there is no such folder")]
    NoSuchSuite { name: String, nearest: Option<String> },
    #[error("cannot read {path}: {source}", path = path.display())]
    UnreadableManifest { path: PathBuf, source: std::io::Error },
    #[error("{path}:{line}: {message}", path = path.display())]
    BadManifest { path: PathBuf, line: usize, message: String },
    #[error("{path}:{line}: column `{column}` has unknown type `{ty}`", path = path.display())]
    UnknownType { path: PathBuf, line: usize, column: String, ty: String },
    #[error("{path}:{line}: there is already a {what} called `{name}`", path = path.display())]
    Duplicate { path: PathBuf, line: usize, what: &'static str, name: String },
    #[error("cannot read {path}, the SQL of query `{query}`: {source}", path = path.display())]
    UnreadableQuery { path: PathBuf, query: String, source: std::io::Error },
    #[error("suite `{suite}` has no query `{name}`")]
    UnknownQuery { suite: String, name: String, nearest: Option<String>, known: Vec<String> },
    #[error("there is no parameter `{name}`")]
    UnknownParam { name: String, nearest: Option<String> },
    #[error("parameter `{name}` is given twice")]
    ParamTwice { name: String },
    #[error("parameter `{name}` is of type {ty}, and `{value}` is not")]
    WrongParamType { name: String, value: String, ty: ParamType },
    #[error("parameter `{name}` has no default and was not given")]
    MissingParam { name: String, ty: ParamType, description: String },
    #[error(
        "no file for table `{table}` in {folder}: nothing matches {patterns}",
        folder = folder.display(),
        patterns = patterns.join(" or ")
    )]
    NoFiles { table: String, folder: PathBuf, patterns: Vec<String> },
    #[error("the columns of table `{table}` are those of its files")]
    ColumnsOfFiles { table: String },
    #[error("`{pattern}` is not a file pattern: {source}")]
    BadPattern { pattern: String, source: glob::PatternError },
    #[error("{text}: {message}")]
    BadOptions { text: String, message: String },
    #[error("`{text}` is not of the form name=value")]
    NotAnAssignment { text: String },
    #[error("cannot list {folder}: {source}", folder = folder.display())]
    UnreadableFolder { folder: PathBuf, source: std::io::Error },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Self::NoSuchSuite { .. } => codes::NO_SUCH_SUITE,
            Self::UnreadableManifest { .. } => codes::MANIFEST_UNREADABLE,
            Self::BadManifest { .. } => codes::BAD_MANIFEST,
            Self::UnknownType { .. } => codes::UNKNOWN_TYPE,
            Self::Duplicate { .. } => codes::MANIFEST_NAME_TWICE,
            Self::UnreadableQuery { .. } => codes::QUERY_FILE_UNREADABLE,
            Self::UnknownQuery { .. } => codes::NO_SUCH_QUERY,
            Self::UnknownParam { .. } => codes::NO_SUCH_PARAMETER,
            Self::ParamTwice { .. } => codes::NAME_GIVEN_TWICE,
            Self::WrongParamType { .. } => codes::WRONG_PARAMETER_TYPE,
            Self::MissingParam { .. } => codes::SUITE_PARAMETER_MISSING,
            Self::NoFiles { .. } => codes::NO_FILE_FOR_TABLE,
            Self::ColumnsOfFiles { .. } => codes::COLUMNS_NOT_SAID,
            Self::BadPattern { .. } => codes::BAD_PATTERN,
            Self::BadOptions { .. } => codes::BAD_DIALECT,
            Self::NotAnAssignment { .. } => codes::NOT_AN_ASSIGNMENT,
            Self::UnreadableFolder { .. } => codes::FOLDER_UNREADABLE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchSuite { nearest, .. } => Some(did_you_mean(nearest).unwrap_or_else(|| {
                let names = crate::NAMES.join(", ");
                format!("name one of {names}, or a folder that holds a suite.toml")
            })),
            Self::UnreadableManifest { .. } => {
                Some("a suite is a folder with a suite.toml in it".to_string())
            }
            Self::UnknownType { .. } => Some(
                "types are text, int, float, bool, decimal(precision,scale), date and timestamp"
                    .to_string(),
            ),
            Self::UnreadableQuery { .. } => {
                Some("`file` is relative to the suite's folder".to_string())
            }
            Self::UnknownQuery { nearest, known, .. } => Some(
                did_you_mean(nearest).unwrap_or_else(|| format!("it has {}", known.join(", "))),
            ),
            Self::UnknownParam { nearest, .. } => did_you_mean(nearest),
            Self::MissingParam { name, ty, description } => {
                Some(format!("give it as {name}=<{ty}>: {description}"))
            }
            Self::BadOptions { .. } => Some(
                "options are a table of TOML: {delimiter=\";\", null=\"NA\", header=false}; docs/files.md lists them"
                    .to_string(),
            ),
            Self::ColumnsOfFiles { .. } => {
                Some("say where they are: --data DIR".to_string())
            }
            Self::NoFiles { .. } => {
                Some("patterns are relative to the data folder: is it the right one?".to_string())
            }
            _ => None,
        }
    }
}

fn did_you_mean(nearest: &Option<String>) -> Option<String> {
    nearest.as_ref().map(|name| format!("did you mean `{name}`?"))
}
