//! Settings of a gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use caudal_core::limits;

use crate::Error;
use crate::tokens::Owner;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Unique among the gateways that run at the same time.
    pub name: String,
    pub listen: SocketAddr,
    /// Owners whose calls are answered. None: anybody's.
    pub tokens: Option<Vec<Owner>>,
    pub tls: Option<TlsFiles>,
    /// The program whose `planner`s plan for this gateway. None: it plans itself, and a query can be its end.
    pub planner: Option<PathBuf>,
    /// Other machines may reach it without TLS or tokens.
    pub insecure: bool,
    /// Sessions of the whole cluster at the same time; the same at all its gateways.
    pub sessions_max: usize,
    /// Shards of a session whose client does not say how many.
    pub shards: usize,
    /// Grace period: the time that a session may be without its client.
    pub grace: Duration,
    /// Longest time that a session may be open, whatever it does.
    pub session_max: Duration,
    /// Time that a session waits for its first worker.
    pub unclaimed_max: Duration,
}

/// Files of the certificate chain and its private key, as PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Settings {
    pub fn new(name: impl Into<String>, listen: SocketAddr) -> Self {
        Self {
            name: name.into(),
            listen,
            tokens: None,
            tls: None,
            planner: None,
            insecure: false,
            sessions_max: limits::SESSIONS_MAX,
            shards: limits::SHARDS_DEFAULT,
            grace: Duration::from_secs(limits::GRACE_SECONDS),
            session_max: Duration::from_secs(limits::SESSION_SECONDS_MAX),
            unclaimed_max: Duration::from_secs(limits::UNCLAIMED_SECONDS_MAX),
        }
    }

    /// Whose share a call counts for: its owner's, where several are accepted. Otherwise nobody has a share.
    pub fn tenant<'a>(&self, owner: &'a Owner) -> Option<&'a str> {
        let are_several = self.tokens.as_ref().is_some_and(|tokens| tokens.len() > 1);
        are_several.then(|| owner.as_str())
    }

    /// An error if anybody may call it, from other machines, and nobody has said that this is meant.
    pub fn check_strangers(&self) -> Result<(), Error> {
        if self.insecure || self.listen.ip().is_loopback() {
            return Ok(());
        }
        let missing = match (&self.tls, &self.tokens) {
            (Some(_), Some(_)) => return Ok(()),
            (None, Some(_)) => "no TLS",
            (Some(_), None) => "no tokens",
            (None, None) => "no TLS and no tokens",
        };
        Err(Error::Insecure { address: self.listen, missing })
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    #[test]
    fn a_gateway_that_others_reach_has_tls_and_tokens_or_is_told_otherwise() {
        let settings = |listen: &str| Settings::new("g", listen.parse().unwrap());
        for here in ["127.0.0.1:0", "127.9.9.9:0", "[::1]:0"] {
            settings(here).check_strangers().unwrap();
        }
        for there in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let tls = Some(TlsFiles { certificate: "c".into(), key: "k".into() });
            let tokens = Some(vec![Owner::of_token("t")]);
            let refused = |settings: Settings| {
                let error = settings.check_strangers().unwrap_err();
                assert_eq!(error.code(), codes::GATEWAY_INSECURE);
                error.to_string()
            };
            assert!(refused(settings(there)).ends_with("it has no TLS and no tokens"));
            let with_tls = Settings { tls: tls.clone(), ..settings(there) };
            assert!(refused(with_tls).ends_with("it has no tokens"));
            let with_tokens = Settings { tokens: tokens.clone(), ..settings(there) };
            assert!(refused(with_tokens).ends_with("it has no TLS"));
            Settings { tls, tokens, ..settings(there) }.check_strangers().unwrap();
            Settings { insecure: true, ..settings(there) }.check_strangers().unwrap();
        }
    }
}
