//! Addresses: texts that name an object, or several, by the store that they are in.

use std::fmt;
use std::path::PathBuf;

use object_store::path::Path;

/// Names of schemes, and what they are.
const SCHEMES: [(&str, Scheme); 9] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("abfs", Scheme::Azure),
    ("abfss", Scheme::Azure),
    ("azure", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Http),
];

/// Kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    S3,
    Google,
    Azure,
    /// No store, but whoever answers: one object, of which nothing is known but its address.
    Http,
}

/// Whether a text is an address, known or not, and no path.
pub fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        let is_letter =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_letter)
    })
}

/// What a text names in which store.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub scheme: Scheme,
    /// `s3://bucket`; of http all of it, with its query.
    pub root: String,
    /// In the store, as it is called there; empty for http.
    pub key: String,
    /// What lets whoever knows it in: the query of an address, a name and a password before the host.
    pub secret: Option<String>,
    /// The text without that.
    shown: String,
}

impl Address {
    /// Fails with what is wrong.
    pub fn parse(text: &str) -> Result<Address, String> {
        let (name, rest) = text.split_once("://").ok_or("it has no scheme")?;
        let name = name.to_ascii_lowercase();
        let Some((_, scheme)) = SCHEMES.iter().find(|(known, _)| *known == name) else {
            return Err(match name.as_str() {
                "file" => "a file is named by its path alone".to_string(),
                other => format!(
                    "{other}:// is none of s3://, gs://, az://, abfs://, http:// and https://"
                ),
            });
        };
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            let what = if *scheme == Scheme::Http { "host" } else { "bucket" };
            return Err(format!("it names no {what}"));
        }
        match scheme {
            Scheme::Http => Ok(Address::of_http(text, rest)),
            _ if key.starts_with('/') || Path::parse(key).is_err() => Err(
                "no object is called so: a part of its key is empty, a dot, or a control character"
                    .into(),
            ),
            scheme => Ok(Address {
                scheme: *scheme,
                root: format!("{name}://{host}"),
                key: key.to_string(),
                secret: None,
                shown: text.to_string(),
            }),
        }
    }

    fn of_http(text: &str, rest: &str) -> Address {
        let url = text.split_once('#').map_or(text, |(before, _)| before);
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let user = host.rsplit_once('@').map(|(user, _)| user);
        let mut shown = match user {
            Some(user) => path.replacen(&format!("{user}@"), "", 1),
            None => path.to_string(),
        };
        if !query.is_empty() {
            shown.push_str("?…");
        }
        let secret = [query, user.unwrap_or_default()].into_iter().find(|text| !text.is_empty());
        Address {
            scheme: Scheme::Http,
            root: url.to_string(),
            key: String::new(),
            secret: secret.map(str::to_string),
            shown,
        }
    }

    /// As it may be told anybody.
    pub fn shown(&self) -> PathBuf {
        self.shown.clone().into()
    }

    /// Whether it may mean several objects.
    pub fn is_pattern(&self) -> bool {
        match self.scheme {
            // A question mark begins a query, and brackets are in the addresses of IPv6.
            Scheme::Http => self.shown.contains('*'),
            _ => self.key.contains(['*', '?', '[']),
        }
    }

    /// Whether it means all that is below.
    pub fn is_folder(&self) -> bool {
        self.scheme != Scheme::Http && (self.key.is_empty() || self.key.ends_with('/'))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_no_path() {
        for text in ["s3://b/k", "https://h", "ftp://x/y", "S3://b"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["a.csv", "/a/b", "C:/x", "a b://c", "://x", "./s3://x", "1a://b"] {
            assert!(!is_address(text), "{text}");
        }
    }

    #[test]
    fn a_key_is_taken_as_it_is_written() {
        let address = Address::parse("s3://bucket/a%20b/k=é ?/*.csv").unwrap();
        assert_eq!(
            (address.root.as_str(), address.key.as_str()),
            ("s3://bucket", "a%20b/k=é ?/*.csv")
        );
        assert!(address.is_pattern() && !address.is_folder());
        assert!(Address::parse("gs://b/x/").unwrap().is_folder());
        assert!(Address::parse("az://b").unwrap().is_folder());
    }

    #[test]
    fn what_lets_others_in_is_not_shown() {
        for (text, shown, secret) in [
            ("https://h/a.csv?sig=x%2F", "https://h/a.csv?…", Some("sig=x%2F")),
            ("http://me:word@h:80/a#b", "http://h:80/a", Some("me:word")),
            ("https://h/a@b", "https://h/a@b", None),
            ("https://h?x=1", "https://h?…", Some("x=1")),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.shown(), PathBuf::from(shown));
            assert_eq!(address.secret.as_deref(), secret);
            assert!(!format!("{address:?}").contains("word"));
        }
    }

    #[test]
    fn what_cannot_be_an_address_is_told() {
        for (text, why) in [
            ("ftp://h/x", "ftp:// is none of"),
            ("s3:///x", "names no bucket"),
            ("https:///x", "names no host"),
            ("file:///x", "by its path alone"),
            ("s3://b/a//b", "a part of its key is empty"),
            ("s3://b//a", "a part of its key is empty"),
            ("gs://b/../a", "a part of its key is empty"),
        ] {
            assert!(Address::parse(text).unwrap_err().contains(why), "{text}");
        }
    }
}
