//! Outputs: small and large, twice, damaged, and with faults at every operation.

use std::sync::Arc;

use bytes::Bytes;
use caudal_core::{SessionId, ShardId, StageId, limits};
use caudal_store::{
    Allowance, Committed, Error, Loader, OutputWriter, SessionRecords, Store, committed,
};

use crate::faulty_store::{Fault, FaultyStore};
use crate::map_store::MapStore;
use crate::tally::FOLDER;

const SMALL: &[usize] = &[0, 10, 1000];
const LARGE: &[usize] = &[10, 1000, limits::OUTPUT_INLINE_BYTES, 0, 5];

/// Bodies that tell their writer.
fn bodies(writer: u8, lengths: &[usize]) -> Vec<Bytes> {
    lengths.iter().map(|length| vec![writer; *length].into()).collect()
}

async fn write(store: Arc<dyn Store>, bodies: &[Bytes]) -> Result<Committed, Error> {
    let mut writer = OutputWriter::new(store, FOLDER, "s1");
    for body in bodies {
        writer.push(body.clone()).await?;
    }
    writer.commit().await
}

async fn read(output: &Committed) -> Result<Vec<Bytes>, Error> {
    let mut bodies = vec![];
    for index in 0..output.len() {
        bodies.push(output.read(index).await?);
    }
    Ok(bodies)
}

async fn read_committed(map: &Arc<MapStore>) -> Option<Vec<Bytes>> {
    let output = committed(Arc::clone(map) as _, FOLDER, "s1").await.unwrap()?;
    Some(read(&output).await.unwrap())
}

#[tokio::test]
async fn what_is_committed_is_read_back() {
    for (lengths, objects) in [(&[][..], 1), (SMALL, 1), (LARGE, LARGE.len() + 1)] {
        let map = MapStore::new();
        assert_eq!(read_committed(&map).await, None);
        let output = write(Arc::clone(&map) as _, &bodies(1, lengths)).await.unwrap();
        assert_eq!(output.is_empty(), lengths.is_empty());
        assert_eq!(read(&output).await.unwrap(), bodies(1, lengths));
        assert_eq!(read_committed(&map).await.unwrap(), bodies(1, lengths));
        assert_eq!(map.objects().len(), objects, "{lengths:?}");
    }
}

/// The journal and the outputs of a shard have what they may take together.
#[tokio::test]
async fn outputs_count_like_the_journal_beside_them() {
    let map = MapStore::new();
    let body = |bytes: usize| Bytes::from(vec![7; bytes]);
    let large = limits::OUTPUT_INLINE_BYTES;
    let most = 2 * large as u64 + 4000;
    let mut journal = Loader::open(map.clone(), FOLDER, most).await.unwrap().into_journal();
    journal.append(body(1000)).await.unwrap();

    let writer = |key: &str| {
        OutputWriter::new(Arc::clone(&map) as _, FOLDER, key).within(journal.allowance())
    };
    let mut first = writer("s1");
    first.push(body(large)).await.unwrap();
    let first = first.commit().await.unwrap();
    assert!((large as u64..large as u64 + 200).contains(&first.bytes()), "{}", first.bytes());
    let found = committed(Arc::clone(&map) as _, FOLDER, "s1").await.unwrap().unwrap();
    assert_eq!(found.bytes(), first.bytes(), "who takes over knows it");

    let mut second = writer("s2");
    second.push(body(large)).await.unwrap();
    let objects = map.objects().len();
    let refused = second.push(body(large)).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    assert_eq!(map.objects().len(), objects, "nothing was written");
    let refused = journal.append(body(3000)).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");

    // A successor begins with what it finds: the first output, not what was never committed.
    let mut loader = Loader::open(map.clone(), FOLDER, most).await.unwrap();
    while loader.next().await.unwrap().is_some() {}
    let mut journal = loader.into_journal();
    journal.allowance().add_output(found.bytes());
    journal.append(body(1000)).await.unwrap();
    let refused = journal.append(body(large + 4000)).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
}

#[tokio::test]
async fn early_rows_are_found_by_their_attempt_and_count() {
    let map = MapStore::new();
    let records = SessionRecords::new(Arc::clone(&map) as _, SessionId("s".into()));
    let (shard, stage, allowance) = (ShardId(1), StageId(2), Allowance::new(1000));
    let rows = |byte: u8| Bytes::from(vec![byte; 300]);
    let one = records.write_early(shard, stage, rows(1), &allowance).await.unwrap();
    let two = records.write_early(shard, stage, rows(2), &allowance).await.unwrap();
    assert_eq!(records.read_early(shard, stage, one).await.unwrap(), rows(1));
    assert_eq!(records.read_early(shard, stage, two).await.unwrap(), rows(2));
    assert!(records.committed_output(shard, stage).await.unwrap().is_none());
    let refused = records.write_early(shard, stage, rows(3), &allowance).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    assert_eq!(map.objects().len(), 2);
    let none = records.read_early(shard, stage, one ^ two).await.unwrap_err();
    assert!(matches!(none, Error::Gone { .. }), "{none}");
}

#[tokio::test]
async fn of_two_attempts_the_first_commit_counts_for_both() {
    for (first, second) in [(SMALL, SMALL), (SMALL, LARGE), (LARGE, SMALL), (LARGE, LARGE)] {
        let map = MapStore::new();
        let winner = write(Arc::clone(&map) as _, &bodies(1, first)).await.unwrap();
        let loser = write(Arc::clone(&map) as _, &bodies(2, second)).await.unwrap();
        assert_eq!(read(&winner).await.unwrap(), bodies(1, first));
        assert_eq!(read(&loser).await.unwrap(), bodies(1, first));
    }
}

#[tokio::test]
async fn a_fault_at_any_operation_leaves_all_or_nothing() {
    for lengths in [SMALL, LARGE] {
        for fault in [Fault::NotDone, Fault::AnswerLost, Fault::AskedAgain] {
            for operation in 0.. {
                let map = MapStore::new();
                let store = FaultyStore::new(Arc::clone(&map) as _);
                store.fail_at(operation, fault);
                let first = write(Arc::clone(&store) as _, &bodies(1, lengths)).await;
                let before = read_committed(&map).await;
                let is_beyond = store.faults() == 0;
                let survives = is_beyond || fault == Fault::AskedAgain;
                assert_eq!(first.is_ok(), survives, "{fault:?} {operation}");
                assert!(before.is_none() || before == Some(bodies(1, lengths)));
                assert!(first.is_err() || before.is_some(), "what was told is there");

                let second = write(Arc::clone(&map) as _, &bodies(2, SMALL)).await.unwrap();
                let expected = before.unwrap_or(bodies(2, SMALL));
                assert_eq!(read(&second).await.unwrap(), expected);
                if is_beyond {
                    assert!(operation > 0, "nothing was tested");
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_could_not_be_pushed_is_still_committed() {
    let map = MapStore::new();
    let store = FaultyStore::new(Arc::clone(&map) as _);
    let mut writer = OutputWriter::new(Arc::clone(&store) as _, FOLDER, "s1");
    let bodies = bodies(1, LARGE);
    let mut failures = 0;
    for body in &bodies {
        store.fail_next(Fault::NotDone);
        failures += u32::from(writer.push(body.clone()).await.is_err());
    }
    assert_eq!(failures, 3, "from the third body on they are objects");
    store.fail_next(Fault::AskedAgain);
    writer.commit().await.unwrap();
    assert_eq!(read_committed(&map).await.unwrap(), bodies);
}

#[tokio::test]
async fn damage_is_noticed() {
    for lengths in [SMALL, LARGE] {
        let map = MapStore::new();
        write(Arc::clone(&map) as _, &bodies(1, lengths)).await.unwrap();
        let whole = map.objects();
        for name in whole.keys() {
            map.change(|objects| {
                objects.clone_from(&whole);
                let object = objects.get_mut(name).unwrap();
                *object = object.slice(..object.len() - 1);
            });
            let error = read_all(&map).await.unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn bodies_in_each_others_place_are_noticed() {
    let map = MapStore::new();
    write(Arc::clone(&map) as _, &bodies(1, LARGE)).await.unwrap();
    map.change(|objects| {
        let names: Vec<_> = objects.keys().cloned().collect();
        let first = objects[&names[0]].clone();
        objects.insert(names[1].clone(), first);
    });
    assert!(matches!(read_all(&map).await, Err(Error::Corrupt { .. })));
    map.change(|objects| objects.retain(|name, _| name.ends_with(".commit")));
    assert!(matches!(read_all(&map).await, Err(Error::Gone { .. })));
}

async fn read_all(map: &Arc<MapStore>) -> Result<Vec<Bytes>, Error> {
    let output = committed(Arc::clone(map) as _, FOLDER, "s1").await?.unwrap();
    read(&output).await
}
