//! What can be wrong with a suite or with how it is called, each with a stable code.

use std::path::PathBuf;

use crate::params::ParamType;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("no suite is called `{name}`, and there is no such folder")]
    NoSuchSuite { name: String, nearest: Option<String> },
    #[error("cannot read {path}", path = path.display())]
    UnreadableManifest { path: PathBuf, source: std::io::Error },
    #[error("{path}:{line}: {message}", path = path.display())]
    BadManifest { path: PathBuf, line: usize, message: String },
    #[error("{path}:{line}: column `{column}` has unknown type `{ty}`", path = path.display())]
    UnknownType { path: PathBuf, line: usize, column: String, ty: String },
    #[error("{path}:{line}: there is already a {what} called `{name}`", path = path.display())]
    Duplicate { path: PathBuf, line: usize, what: &'static str, name: String },
    #[error("cannot read {path}, the SQL of query `{query}`", path = path.display())]
    UnreadableQuery { path: PathBuf, query: String, source: std::io::Error },
    #[error("suite `{suite}` has no query `{name}`")]
    UnknownQuery { suite: String, name: String, nearest: Option<String>, known: Vec<String> },
    #[error("there is no parameter `{name}`")]
    UnknownParam { name: String, nearest: Option<String> },
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
    #[error("`{pattern}` is not a file pattern")]
    BadPattern { pattern: String, source: glob::PatternError },
    #[error("`{text}` is not of the form name=value")]
    NotAnAssignment { text: String },
    #[error("cannot list {folder}", folder = folder.display())]
    UnreadableFolder { folder: PathBuf, source: std::io::Error },
}

impl Error {
    /// The code under which the error is documented.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchSuite { .. } => "CDL-1101",
            Self::UnreadableManifest { .. } => "CDL-1102",
            Self::BadManifest { .. } => "CDL-1103",
            Self::UnknownType { .. } => "CDL-1104",
            Self::Duplicate { .. } => "CDL-1105",
            Self::UnreadableQuery { .. } => "CDL-1106",
            Self::UnknownQuery { .. } => "CDL-1107",
            Self::UnknownParam { .. } => "CDL-1108",
            Self::WrongParamType { .. } => "CDL-1109",
            Self::MissingParam { .. } => "CDL-1110",
            Self::NoFiles { .. } => "CDL-1111",
            Self::BadPattern { .. } => "CDL-1112",
            Self::NotAnAssignment { .. } => "CDL-1113",
            Self::UnreadableFolder { .. } => "CDL-1114",
        }
    }

    /// What to do about it, where that can be said.
    pub fn hint(&self) -> Option<String> {
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
            Self::NoFiles { .. } => {
                Some("patterns are relative to the data folder: is it the right one?".to_string())
            }
            _ => None,
        }
    }
}

/// The candidate that `name` was probably meant to be, if any is close.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| distance * 3 <= candidate.len().max(name.len()))
        .map(|(_, candidate)| candidate.to_string())
}

fn did_you_mean(nearest: &Option<String>) -> Option<String> {
    nearest.as_ref().map(|name| format!("did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_close_name_is_suggested() {
        let names = || ["steam", "movies", "books"].into_iter();
        assert_eq!(nearest("stema", names()).as_deref(), Some("steam"));
        assert_eq!(nearest("movie", names()).as_deref(), Some("movies"));
        assert_eq!(nearest("weather", names()), None);
    }
}
