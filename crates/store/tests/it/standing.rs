//! A session that ends between two looks at its records is never taken for one that never was.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use caudal_core::SessionId;
use caudal_protocol::manifest::{Manifest, Tombstone};
use caudal_store::{SessionRecords, Standing};

use crate::faulty_store::FaultyStore;
use crate::map_store::MapStore;

fn manifest(session: &SessionId) -> Manifest {
    Manifest {
        session: session.clone(),
        tables: vec![],
        queries: vec![],
        shards: 1,
        started_ms: 0,
        version: String::new(),
        fingerprint: String::new(),
        owner: String::new(),
    }
}

/// Ends wherever it may, seen from a look that is as far as `steps` operations.
async fn seen_after(steps: usize) -> Option<Standing> {
    let (map, session) = (MapStore::new(), SessionId("s".to_string()));
    let records = SessionRecords::new(map.clone() as _, session.clone());
    records.create_manifest(&manifest(&session)).await.unwrap();
    let stepped = FaultyStore::stepped(map);
    let slow = SessionRecords::new(Arc::clone(&stepped) as _, session.clone());
    let mut looking = pin!(slow.standing());
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..steps {
        stepped.step();
        if let Poll::Ready(standing) = looking.as_mut().poll(&mut context) {
            return standing.unwrap();
        }
    }
    records.create_tombstone(&Tombstone::of(&manifest(&session), None, 1)).await.unwrap();
    records.delete().await.unwrap();
    loop {
        stepped.step();
        if let Poll::Ready(standing) = looking.as_mut().poll(&mut context) {
            return standing.unwrap();
        }
    }
}

#[tokio::test]
async fn wherever_a_look_is_when_its_session_ends_it_finds_it_open_or_over() {
    assert!(matches!(seen_after(0).await, Some(Standing::Over(_))));
    assert!(matches!(seen_after(1).await, Some(Standing::Over(_))), "the manifest went first");
    assert!(matches!(seen_after(2).await, Some(Standing::Open(_))));
}
