//! A cluster as its users know it: addresses, and a token.

use std::fmt;

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

    /// The sessions that were opened with this token and go on.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>, Error> {
        Ok(remote::sessions(&self.settings).await?)
    }

    /// Ends a session, whoever waits for its answers.
    pub async fn cancel(&self, session: &SessionId) -> Result<(), Error> {
        Ok(remote::cancel(&self.settings, session.clone()).await?)
    }
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
