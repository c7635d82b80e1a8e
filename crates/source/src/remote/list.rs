//! Objects that a pattern, or a folder, means.

use std::collections::BTreeMap;
use std::path::PathBuf;

use caudal_core::limits;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use glob::{MatchOptions, Pattern};
use object_store::path::Path;
use object_store::{ObjectMeta, Result};

use super::address::{Address, Scheme};
use super::failure::Failure;
use super::fetch::before_silence;
use super::store::store_of;
use super::wait;
use crate::error::Error;

/// The addresses of the objects that an address means, by their names; of one that is no pattern and no folder itself.
pub fn files_at(text: &str) -> Result<Vec<PathBuf>, Error> {
    let bad = |why: String| Error::Address { address: text.into(), why };
    let address = Address::parse(text).map_err(bad)?;
    let bad = |why: String| Error::Address { address: address.shown(), why };
    if !address.is_pattern() && !address.is_folder() {
        return Ok(vec![text.into()]);
    }
    if address.scheme == Scheme::Http {
        return Err(bad("who answers there cannot be asked for a list: name one file".into()));
    }
    let meant = Meant::of(&address).map_err(bad)?;
    let keys =
        keys_of(&address, meant).map_err(|failure| Error::remote(&address.shown(), failure))?;
    let bad = |why: String| Error::Address { address: address.shown(), why };
    if keys.len() > limits::REMOTE_NAMES_MAX {
        return Err(bad(format!("it means more than {} objects", limits::REMOTE_NAMES_MAX)));
    }
    Ok(keys.into_iter().map(|key| format!("{}/{key}", address.root).into()).collect())
}

/// Which of the keys below a folder are meant.
struct Meant {
    folder: String,
    /// None, if all are.
    pattern: Option<Pattern>,
    /// A name that has brackets or a star in it means itself.
    key: String,
    /// Whether none in the folders below the folder can be meant.
    is_flat: bool,
}

/// A star stands for no slash, as in the names of files.
const AS_PATHS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl Meant {
    fn of(address: &Address) -> Result<Meant, String> {
        let key = address.key.clone();
        if !address.is_pattern() {
            let folder = key.trim_end_matches('/').to_string();
            return Ok(Meant { folder, pattern: None, key, is_flat: false });
        }
        let pattern = Pattern::new(&key).map_err(|error| error.to_string())?;
        let plain = &key[..key.find(['*', '?', '[']).unwrap_or(key.len())];
        let (folder, _) = plain.rsplit_once('/').unwrap_or(("", plain));
        let below = key[folder.len()..].trim_start_matches('/');
        let is_flat = !below.contains('/') && !below.contains("**");
        Ok(Meant { folder: folder.to_string(), pattern: Some(pattern), is_flat, key: key.clone() })
    }

    fn has(&self, key: &str) -> bool {
        match &self.pattern {
            Some(pattern) => key == self.key || pattern.matches_with(key, AS_PATHS),
            // Those that begin so are the notes of whoever wrote the others.
            None => {
                let below = key.get(self.folder.len()..).unwrap_or_default();
                below.split('/').all(|name| !name.starts_with(['.', '_']))
            }
        }
    }
}

fn keys_of(address: &Address, meant: Meant) -> Result<Vec<String>, Failure> {
    let address = address.clone();
    wait(async move {
        let failed = |error| Failure::of(&error, None);
        let store = store_of(&address).map_err(failed)?;
        let folder = Path::parse(&meant.folder);
        let folder = folder.map_err(|error| Failure::Unreadable(error.to_string()))?;
        let mut listed: BoxStream<'_, Result<ObjectMeta>> = match meant.is_flat {
            true => {
                let listed = store.list_with_delimiter(Some(&folder));
                let listed = before_silence(listed).await?.map_err(failed)?;
                stream::iter(listed.objects.into_iter().map(Ok)).boxed()
            }
            false => store.list(Some(&folder)),
        };
        let mut sizes = BTreeMap::new();
        while let Some(found) = before_silence(listed.try_next()).await?.map_err(failed)? {
            if meant.has(found.location.as_ref()) {
                sizes.insert(found.location.to_string(), found.size);
            }
            if sizes.len() > limits::REMOTE_NAMES_MAX {
                break;
            }
        }
        if sizes.contains_key(&meant.key) {
            return Ok(vec![meant.key]);
        }
        Ok(without_folders(&sizes))
    })
}

/// An object of nothing that has others below it stands for a folder.
fn without_folders(sizes: &BTreeMap<String, u64>) -> Vec<String> {
    let is_folder = |key: &str| {
        let below = format!("{key}/");
        sizes.range(below.clone()..).next().is_some_and(|(next, _)| next.starts_with(&below))
    };
    let files = sizes.iter().filter(|(key, bytes)| **bytes > 0 || !is_folder(key));
    files.map(|(key, _)| key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(address: &str) -> Meant {
        Meant::of(&Address::parse(address).unwrap()).unwrap()
    }

    #[test]
    fn a_star_stands_for_no_slash() {
        let logs = meant("s3://b/logs/2024-*/*.csv");
        assert_eq!((logs.folder.as_str(), logs.is_flat), ("logs", false));
        assert!(logs.has("logs/2024-01/a.csv"));
        assert!(!logs.has("logs/2024-01/x/a.csv") && !logs.has("logs/2023-01/a.csv"));
        let flat = meant("s3://b/logs/a?.csv");
        assert!(flat.is_flat && flat.has("logs/a1.csv") && !flat.has("logs/x/a1.csv"));
        let deep = meant("s3://b/**/*.csv");
        assert!(!deep.is_flat && deep.has("a/b/c.csv") && deep.has("c.csv"));
        assert_eq!(meant("s3://b/*").folder, "");
    }

    #[test]
    fn a_folder_is_all_below_it_but_notes() {
        let all = meant("s3://b/logs/");
        assert!(all.has("logs/a") && all.has("logs/x/y/b.csv"));
        assert!(!all.has("logs/_SUCCESS") && !all.has("logs/_log/0.json") && !all.has("logs/.a"));
        let bucket = meant("s3://b");
        assert!(bucket.has("a/b") && !bucket.has("_a/b"));
    }

    #[test]
    fn what_stands_for_a_folder_is_no_file() {
        let sizes = [("a", 0), ("a/b", 5), ("a/c", 0), ("d", 0), ("e", 1), ("e/f", 1)];
        let sizes = sizes.into_iter().map(|(key, bytes)| (key.to_string(), bytes)).collect();
        assert_eq!(without_folders(&sizes), ["a/b", "a/c", "d", "e", "e/f"]);
    }

    #[test]
    fn one_object_is_not_listed() {
        assert_eq!(files_at("s3://b/k").unwrap(), [PathBuf::from("s3://b/k")]);
        assert_eq!(files_at("http://h/").unwrap(), [PathBuf::from("http://h/")]);
        assert!(matches!(files_at("https://h/*.csv"), Err(Error::Address { .. })));
        assert!(matches!(files_at("ftp://h/a"), Err(Error::Address { .. })));
    }
}
