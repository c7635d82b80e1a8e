//! Place where a command's queries are answered, from what was typed.

use std::net::IpAddr;
use std::num::NonZero;

use caudal::{Cluster, Session, codes};

use crate::args::{ClusterArgs, EngineArgs, InputArgs, TimeArgs};
use crate::error::Failed;

/// Address that `caudal up` gives its first gateway.
const GATEWAY_DEFAULT: &str = "127.0.0.1:7070";

/// In this process.
pub fn local(engine: EngineArgs, input: &InputArgs) -> Session {
    let session = tuned(Session::local(), engine, input);
    match engine.memory {
        Some(bytes) => session.memory_bytes(bytes),
        None => session,
    }
}

/// On a cluster.
pub fn remote(cluster: Cluster, engine: EngineArgs, input: &InputArgs) -> Result<Session, Failed> {
    if engine.memory.is_some() {
        return Err(Failed::new(codes::NOT_FOR_A_CLUSTER, "--memory says nothing to a cluster")
            .hint("its workers have a --memory of their own".to_string()));
    }
    Ok(tuned(Session::connect(cluster), engine, input))
}

fn tuned(session: Session, engine: EngineArgs, input: &InputArgs) -> Session {
    let mut session = session.strict(input.strict).keep_rejects(input.rejects.is_some());
    if let Some(threads) = at_least_one(engine.threads) {
        session = session.threads(threads);
    }
    if let Some(shards) = at_least_one(engine.shards) {
        session = session.shards(shards);
    }
    session
}

/// For as long as was said.
pub fn timed(session: Session, times: TimeArgs) -> Session {
    let session = session.wait(times.wait);
    match times.timeout {
        Some(timeout) => session.timeout(timeout),
        None => session,
    }
}

fn at_least_one(count: Option<u32>) -> Option<NonZero<usize>> {
    NonZero::new(count? as usize)
}

/// The cluster that was named; the one on this machine, where none was.
pub fn cluster(args: &ClusterArgs) -> Result<Cluster, Failed> {
    let mut cluster = match args.gateway.is_empty() {
        true => Cluster::from(GATEWAY_DEFAULT),
        false => Cluster::at(&args.gateway),
    };
    if let Some(token) = &args.token {
        let exposed = args.gateway.iter().filter(|gateway| is_exposed(gateway, args.ca.is_some()));
        for gateway in exposed {
            eprintln!(
                "warning: the token goes to {gateway} without TLS, for all on the way to read \
                 (grpcs:// or --ca asks for TLS)"
            );
        }
        cluster = cluster.token(token);
    }
    if let Some(file) = &args.ca {
        let pem = std::fs::read(file).map_err(|error| {
            let message = format!("cannot read the certificates in {}: {error}", file.display());
            Failed::new(codes::TLS_CANNOT_START, message)
        })?;
        cluster = cluster.ca_pem(pem);
    }
    Ok(cluster)
}

/// The threads that do the work.
pub fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failed> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(|error| {
            Failed::new(codes::THREADS_CANNOT_START, format!("cannot start threads: {error}"))
        })
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

#[cfg(test)]
mod tests {
    use super::is_exposed;

    #[test]
    fn a_token_is_exposed_where_it_leaves_the_machine_without_tls() {
        for here in ["127.0.0.1:7070", "127.0.0.1", "localhost:1", "grpc://[::1]:2", "[::1]"] {
            assert!(!is_exposed(here, false), "{here}");
        }
        for there in ["gateway:7070", "192.0.2.1", "http://localhost.example:1", "[2001:db8::1]:2"]
        {
            assert!(is_exposed(there, false), "{there}");
        }
        assert!(!is_exposed("grpcs://gateway:1", false) && !is_exposed("gateway:1", true));
        assert!(is_exposed("grpc://gateway:1", true), "the scheme decides");
    }
}
