//! Codes of errors.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::codes;

/// A stable error code, such as `CDL-2001`: see [`codes`].
///
/// One that another version sent, and this one does not declare, is a code all the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    number: u16,
    title: &'static str,
    kind: Kind,
    retryable: bool,
}

/// Subject of an error, which decides with what a process exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The call, or what was given to it, is wrong.
    Usage,
    /// A service that the call needs cannot be reached, or does not let it in.
    Connection,
    /// The call was right, and a query could not be answered.
    Query,
}

pub(super) const fn usage(text: &str, title: &'static str) -> Code {
    Code { number: number_in(text), title, kind: Kind::Usage, retryable: false }
}

pub(super) const fn connection(text: &str, title: &'static str) -> Code {
    Code { number: number_in(text), title, kind: Kind::Connection, retryable: false }
}

pub(super) const fn query(text: &str, title: &'static str) -> Code {
    Code { number: number_in(text), title, kind: Kind::Query, retryable: false }
}

const fn number_in(text: &str) -> u16 {
    match parse(text.as_bytes()) {
        Some(number) => number,
        None => panic!("codes are like CDL-2001"),
    }
}

const fn parse(text: &[u8]) -> Option<u16> {
    let [b'C', b'D', b'L', b'-', digits @ ..] = text else { return None };
    if digits.len() != 4 {
        return None;
    }
    let (mut number, mut at) = (0, 0);
    while at < digits.len() {
        if !digits[at].is_ascii_digit() {
            return None;
        }
        number = number * 10 + (digits[at] - b'0') as u16;
        at += 1;
    }
    Some(number)
}

impl Code {
    /// The same call may succeed later.
    pub(super) const fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    /// Meaning of the code, in a line.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// Subject of the error.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(self) -> bool {
        self.retryable
    }

    /// The page that says what to do about it, within the project.
    pub fn page(self) -> String {
        format!("docs/errors/{self}.md")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CDL-{:04}", self.number)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// By its text, which is what scripts and tests match on.
impl PartialEq<&str> for Code {
    fn eq(&self, text: &&str) -> bool {
        parse(text.as_bytes()) == Some(self.number)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an error code")]
pub struct NotACode(String);

/// A code that came from elsewhere: the declared one, or one that only its sender knows.
impl FromStr for Code {
    type Err = NotACode;

    fn from_str(text: &str) -> Result<Self, NotACode> {
        let number = parse(text.as_bytes()).ok_or_else(|| NotACode(text.to_string()))?;
        let declared = codes::ALL.iter().find(|code| code.number == number);
        Ok(declared.copied().unwrap_or(Code {
            number,
            title: "an error that this version does not know",
            kind: Kind::Query,
            retryable: false,
        }))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_code_is_its_text_and_what_was_declared_of_it() {
        let code: Code = "CDL-4001".parse().unwrap();
        assert_eq!(code, codes::QUEUE_FULL);
        assert!(code.is_retryable() && code.kind() == Kind::Query);
        assert_eq!((code.to_string().as_str(), code.title()), ("CDL-4001", "a queue is full"));
        assert_eq!(code.page(), "docs/errors/CDL-4001.md");
        assert!(code == "CDL-4001" && code != "CDL-4002" && code != "4001");
    }

    #[test]
    fn a_code_of_another_version_keeps_its_text() {
        let code: Code = serde_json::from_str("\"CDL-0999\"").unwrap();
        assert_eq!(serde_json::to_string(&code).unwrap(), "\"CDL-0999\"");
        assert!(!code.is_retryable() && !codes::ALL.contains(&code));
        for garbage in ["", "CDL-", "CDL-12", "CDL-12345", "cdl-2001", "CDL-20x1", "error"] {
            assert!(garbage.parse::<Code>().is_err(), "{garbage}");
        }
    }

    #[test]
    fn no_number_is_declared_twice() {
        let numbers: BTreeSet<_> = codes::ALL.iter().map(|code| code.number).collect();
        assert_eq!(numbers.len(), codes::ALL.len());
    }
}
