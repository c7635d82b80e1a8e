//! Place where a command's queries are answered, from what was typed.

use std::num::NonZero;

use caudal::{Cluster, Session, codes};

use crate::args::{ClusterArgs, EngineArgs, InputArgs, TimeArgs};
use crate::error::Failed;

/// Address that `caudal up` gives its first gateway.
const GATEWAY_DEFAULT: &str = "127.0.0.1:7070";

/// In this process.
pub fn local(engine: EngineArgs, input: &InputArgs) -> Session {
    tuned(Session::local(), engine, input)
}

/// On a cluster.
pub fn remote(cluster: Cluster, engine: EngineArgs, input: &InputArgs) -> Session {
    tuned(Session::connect(cluster), engine, input)
}

fn tuned(session: Session, engine: EngineArgs, input: &InputArgs) -> Session {
    let mut session = session
        .strict(input.strict)
        .strict_rows(input.strict_rows)
        .keep_rejects(input.rejects.is_some());
    if input.lenient {
        session = session.rejected_max(None::<f64>);
    } else if let Some(percent) = input.rejected_max {
        session = session.rejected_max(percent);
    }
    if let Some(threads) = at_least_one(engine.threads) {
        session = session.threads(threads);
    }
    if let Some(shards) = at_least_one(engine.shards) {
        session = session.shards(shards);
    }
    if let Some(bytes) = engine.memory {
        session = session.memory_bytes(bytes);
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
    if let Some(file) = &args.ca {
        let pem = std::fs::read(file).map_err(|error| {
            let message = format!("cannot read the certificates in {}: {error}", file.display());
            Failed::new(codes::TLS_CANNOT_START, message)
        })?;
        cluster = cluster.ca_pem(pem);
    }
    if let Some(token) = &args.token {
        cluster = cluster.token(token);
        for gateway in cluster.exposed_gateways() {
            eprintln!(
                "warning: the token goes to {gateway} without TLS, for all on the way to read \
                 (grpcs:// or --ca asks for TLS)"
            );
        }
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
