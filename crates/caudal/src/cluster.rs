//! A cluster as its users know it: addresses, and a token.

use std::fmt;
use std::net::IpAddr;

use caudal_client::remote::{self, Settings};
use caudal_core::SessionId;
use caudal_protocol::calls::SessionEntry;

use crate::error::Error;

/// The gateways of a cluster, and how to be let in.
///
/// ```
/// let cluster = caudal::Cluster::at(["host:7070", "host2:7070"]).token("secret");
/// let session = caudal::Session::connect(cluster);
/// ```
#[derive(Clone)]
pub struct Cluster {
    pub(crate) settings: Settings,
}

impl Cluster {
    /// The cluster of these gateways; when one is lost, another goes on. The port is 7070 if it is left out; `grpcs://`
    /// before the host asks for TLS.
    pub fn at(gateways: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let gateways = gateways.into_iter().map(Into::into).collect();
        Self { settings: Settings::new(gateways) }
    }

    /// Shows this token to the gateways.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.settings.token = Some(token.into());
        self
    }

    /// Uses TLS, and checks the gateways against these certificates.
    pub fn ca_pem(mut self, certificates: impl Into<Vec<u8>>) -> Self {
        self.settings.ca_pem = Some(certificates.into());
        self
    }

    /// Addresses of its gateways.
    pub fn gateways(&self) -> &[String] {
        &self.settings.gateways
    }

    /// Gateways on other machines that are called without TLS: a token is there for all on the way to read.
    pub fn exposed_gateways(&self) -> impl Iterator<Item = &str> {
        let has_ca = self.settings.ca_pem.is_some();
        let gateways = self.gateways().iter().map(String::as_str);
        gateways.filter(move |gateway| is_exposed(gateway, has_ca))
    }

    /// The sessions that were opened with this token and go on.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>, Error> {
        Ok(remote::sessions(&self.settings).await?)
    }

    /// Ends a session, whoever waits for its answers.
    pub async fn cancel(&self, session: &SessionId) -> Result<(), Error> {
        Ok(remote::cancel(&self.settings, session.clone()).await?)
    }
}

/// Whether what is sent to a gateway crosses a network as it is.
fn is_exposed(gateway: &str, has_ca: bool) -> bool {
    let (is_tls, rest) = match gateway.split_once("://") {
        Some((scheme, rest)) => (matches!(scheme, "https" | "grpcs" | "grpc+tls"), rest),
        None => (has_ca, gateway),
    };
    let host = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => rest.rsplit_once(':').map_or(rest, |(host, _)| host),
    };
    let is_here = match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    };
    !is_tls && !is_here
}

/// Without the token.
impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("gateways", &self.gateways()).finish_non_exhaustive()
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Cluster {
    fn from(gateways: [T; N]) -> Self {
        Self::at(gateways)
    }
}

impl<T: Into<String>> From<Vec<T>> for Cluster {
    fn from(gateways: Vec<T>) -> Self {
        Self::at(gateways)
    }
}

impl From<&str> for Cluster {
    fn from(gateway: &str) -> Self {
        Self::at([gateway])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_exposed_where_it_leaves_the_machine_without_tls() {
        let exposed = |gateway: &str| Cluster::from(gateway).exposed_gateways().count() == 1;
        for here in ["127.0.0.1:7070", "127.0.0.1", "localhost:1", "grpc://[::1]:2", "[::1]"] {
            assert!(!exposed(here), "{here}");
        }
        for there in ["gateway:7070", "192.0.2.1", "http://localhost.example:1", "[2001:db8::1]:2"]
        {
            assert!(exposed(there), "{there}");
        }
        assert!(!exposed("grpcs://gateway:1"));
        let cluster = Cluster::at(["gateway:1", "grpc://gateway:2"]).ca_pem("");
        assert!(cluster.exposed_gateways().eq(["grpc://gateway:2"]), "the scheme decides");
    }
}
