//! Addresses of a cluster's gateways, and credentials for them.

use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

use super::error::Error;
use super::line::Dial;
use super::refusal::root_cause;

/// Settings to reach a cluster.
#[derive(Clone)]
pub struct Settings {
    /// `host:port`, or with a scheme before it: `grpcs://` and `https://` ask for TLS.
    pub gateways: Vec<String>,
    pub token: Option<String>,
    /// Certificates that those of the gateways are checked against; asks for TLS.
    pub ca_pem: Option<Vec<u8>>,
    /// Time to go on without any gateway.
    pub away_max: Duration,
    /// Instead of the network: for simulations.
    pub dial: Option<Arc<dyn Dial>>,
}

const PORT_DEFAULT: u16 = 7070;

const PEM_MARK: &[u8] = b"-----BEGIN CERTIFICATE-----";

const CONNECT_MAX: Duration = Duration::from_millis(limits::GATEWAY_CONNECT_MS_MAX);

const KEEPALIVE: Duration = Duration::from_millis(limits::KEEPALIVE_MS);

impl Settings {
    pub fn new(gateways: Vec<String>) -> Self {
        let away_max = Duration::from_secs(limits::GATEWAY_AWAY_SECONDS_MAX);
        Self { gateways, token: None, ca_pem: None, away_max, dial: None }
    }

    pub fn bearer(&self) -> Result<Bearer, Error> {
        let header = |token: &String| format!("Bearer {token}").parse().map_err(|_| Error::Token);
        Ok(Bearer(self.token.as_ref().map(header).transpose()?))
    }

    pub fn endpoint(&self, address: &str) -> Result<Endpoint, Error> {
        let wrong = |reason: String| Error::Address { address: address.to_string(), reason };
        let (host, is_tls) = match address.split_once("://") {
            None => (address, self.ca_pem.is_some()),
            Some(("http" | "grpc" | "grpc+tcp", host)) => (host, false),
            Some(("https" | "grpcs" | "grpc+tls", host)) => (host, true),
            Some((scheme, _)) => return Err(wrong(format!("unknown scheme {scheme}"))),
        };
        let scheme = if is_tls { "https" } else { "http" };
        let parsed = Endpoint::from_shared(format!("{scheme}://{host}"));
        let endpoint = parsed.map_err(|error| wrong(root_cause(&error)))?;
        let endpoint = match endpoint.uri().port() {
            Some(_) => endpoint,
            None => Endpoint::from_shared(format!("{scheme}://{host}:{PORT_DEFAULT}"))
                .map_err(|error| wrong(root_cause(&error)))?,
        };
        let endpoint = endpoint
            .connect_timeout(CONNECT_MAX)
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(limits::CLIENT_STREAM_WINDOW_BYTES)
            .initial_connection_window_size(limits::CLIENT_CONNECTION_WINDOW_BYTES);
        if !is_tls {
            return Ok(endpoint);
        }
        let tls = match &self.ca_pem {
            // Nothing to check against would otherwise look like a certificate that fits nothing.
            Some(pem) if !pem.windows(PEM_MARK.len()).any(|bytes| bytes == PEM_MARK) => {
                return Err(Error::Tls {
                    reason: "no certificate in PEM form is given".to_string(),
                });
            }
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        endpoint.tls_config(tls).map_err(|error| Error::Tls { reason: root_cause(&error) })
    }
}

/// Shows the token with every call.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    fn uri(address: &str, ca_pem: Option<Vec<u8>>) -> Result<String, Error> {
        let settings = Settings { ca_pem, ..Settings::new(vec![]) };
        Ok(settings.endpoint(address)?.uri().to_string())
    }

    #[test]
    fn an_address_may_leave_out_what_is_usual() {
        assert_eq!(uri("a", None).unwrap(), "http://a:7070/");
        assert_eq!(uri("a:1", None).unwrap(), "http://a:1/");
        assert_eq!(uri("[::1]:2", None).unwrap(), "http://[::1]:2/");
        assert_eq!(uri("grpc://a:1", None).unwrap(), "http://a:1/");
        assert_eq!(uri("grpcs://a", None).unwrap(), "https://a:7070/");
        let ca = rcgen::generate_simple_self_signed(["a".to_string()]).unwrap().cert.pem();
        assert_eq!(uri("a:1", Some(ca.into_bytes())).unwrap(), "https://a:1/");
    }

    #[test]
    fn what_is_no_address_is_named() {
        let error = uri("ftp://a:1", None).unwrap_err();
        assert_eq!(error.code(), codes::BAD_ADDRESS);
        assert_eq!(
            error.to_string(),
            "\"ftp://a:1\" is not the address of a gateway: unknown scheme ftp"
        );
        assert_eq!(uri("", None).unwrap_err().code(), codes::BAD_ADDRESS);
        assert_eq!(uri("a b", None).unwrap_err().code(), codes::BAD_ADDRESS);
    }

    #[test]
    fn a_token_of_other_characters_is_refused_before_it_is_sent() {
        let settings = Settings { token: Some("con\nsalto".into()), ..Settings::new(vec![]) };
        assert!(matches!(settings.bearer(), Err(Error::Token)));
    }
}
