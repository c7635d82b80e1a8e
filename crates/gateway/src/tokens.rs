//! Authentication: a bearer token, known here only by its hash.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Error;

/// The owner of a session: SHA-256 of a token, in hexadecimal.
#[derive(Clone)]
pub struct Owner(String);

impl Owner {
    pub fn of_token(token: &str) -> Self {
        Self(hex(&Sha256::digest(token.as_bytes())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes the same time whatever the difference.
    pub fn is(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

/// A hash gives nothing away, but a log is no place for it.
impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner")
    }
}

/// The owner that an `authorization` header names. With no list of accepted ones anybody may call, and
/// nobody can see what another token has opened.
pub fn authenticate(header: Option<&str>, accepted: Option<&[Owner]>) -> Result<Owner, Error> {
    let token = match header {
        Some(header) => bearer_token(header).ok_or(Error::Unauthenticated)?,
        None => "",
    };
    let owner = Owner::of_token(token);
    match accepted {
        Some(accepted) if !accepted.iter().any(|known| owner.is(known.as_str())) => {
            Err(Error::Unauthenticated)
        }
        _ => Ok(owner),
    }
}

fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_token_is_let_in() {
        let accepted = [Owner::of_token("one"), Owner::of_token("two")];
        let let_in = |header| authenticate(header, Some(&accepted)).is_ok();
        assert!(let_in(Some("Bearer two")) && let_in(Some("bearer one")));
        for refused in [None, Some(""), Some("Bearer"), Some("Bearer three"), Some("Basic one")] {
            assert!(!let_in(refused), "{refused:?}");
        }
    }

    #[test]
    fn where_anybody_is_let_in_tokens_still_tell_owners_apart() {
        let owner = |header| authenticate(header, None).unwrap();
        assert!(owner(Some("Bearer a")).is(owner(Some("Bearer a")).as_str()));
        assert!(!owner(Some("Bearer a")).is(owner(Some("Bearer b")).as_str()));
        assert!(!owner(Some("Bearer a")).is(owner(None).as_str()));
    }

    #[test]
    fn a_hash_is_as_anybody_computes_it() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Owner::of_token("").as_str(), empty);
    }
}
