//! Gateways that are checked before they are trusted.

use std::net::TcpListener;
use std::time::Duration;

use caudal_client::remote::{self, Settings};
use caudal_core::Coded;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tonic::transport::Identity;

use crate::cluster::Cluster;
use crate::gateway::{Faults, Gateway};

fn certificate() -> (Vec<u8>, Identity) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let identity = Identity::from_pem(cert.pem(), signing_key.serialize_pem());
    (cert.pem().into_bytes(), identity)
}

fn settings(gateway: &Gateway, ca_pem: Option<Vec<u8>>) -> Settings {
    let address = format!("localhost:{}", gateway.address.port());
    Settings { ca_pem, away_max: Duration::from_secs(1), ..Settings::new(vec![address]) }
}

#[tokio::test]
async fn a_certificate_has_to_be_of_the_given_authority() {
    // Built with the whole workspace there are several providers, and a server has to choose.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (pem, identity) = certificate();
    let cluster = Cluster::with_queries(vec![]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = Gateway::start_on(listener, &cluster, Faults::default(), Some(identity));

    let trusted = settings(&gateway, Some(pem));
    assert_eq!(remote::sessions(&trusted).await.unwrap().len(), 1);

    let (other_pem, _) = certificate();
    let error = remote::sessions(&settings(&gateway, Some(other_pem))).await.unwrap_err();
    assert_eq!(error.code(), "CDL-9001");
    assert!(error.to_string().contains("invalid peer certificate"), "{error}");

    let error = remote::sessions(&settings(&gateway, None)).await.unwrap_err();
    assert_eq!(error.code(), "CDL-9001");
    assert!(error.hint().unwrap().contains("--ca"));
}

#[tokio::test]
async fn what_is_no_certificate_is_refused() {
    let cluster = Cluster::with_queries(vec![]);
    let gateway = Gateway::start(&cluster, Faults::default());
    let settings = settings(&gateway, Some(b"not PEM".to_vec()));
    let error = remote::sessions(&settings).await.unwrap_err();
    assert_eq!(error.code(), "CDL-9007");
}
