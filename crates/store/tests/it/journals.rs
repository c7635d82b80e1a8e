//! Results and errors that a journal gives its owner.

use std::sync::Arc;

use bytes::Bytes;
use caudal_core::{Coded, codes};
use caudal_store::{Error, Loader, Record, Size, Store};

use crate::faulty_store::{Fault, FaultyStore};
use crate::map_store::MapStore;
use crate::tally::{BYTES_MAX, FOLDER, Tally, encode};

fn record(number: u64) -> String {
    format!("{FOLDER}/log/{number:020}")
}

async fn with_entries(map: &Arc<MapStore>, count: u32) -> Tally {
    let mut tally = Tally::load(Arc::clone(map) as _).await.unwrap();
    for number in 0..count {
        tally.append(number).await.unwrap();
    }
    tally
}

#[tokio::test]
async fn a_load_yields_the_snapshot_and_what_came_after() {
    let map = MapStore::new();
    let mut tally = with_entries(&map, 3).await;
    tally.snapshot().await.unwrap();
    tally.append(3).await.unwrap();

    let mut loader = Loader::open(map, FOLDER, BYTES_MAX).await.unwrap();
    assert_eq!(loader.next().await.unwrap(), Some(Record::Snapshot(encode(&[0, 1, 2]))));
    assert_eq!(loader.next().await.unwrap(), Some(Record::Entry(encode(&[3]))));
    assert_eq!(loader.next().await.unwrap(), None);
    assert_eq!(loader.into_journal().size(), tally.journal.size());
}

#[tokio::test]
async fn a_journal_may_begin_with_a_snapshot() {
    let map = MapStore::new();
    let mut tally = with_entries(&map, 0).await;
    tally.snapshot().await.unwrap();
    tally.journal.compact().await.unwrap();
    tally.append(7).await.unwrap();
    assert_eq!(Tally::load(map).await.unwrap().numbers, [7]);
}

#[tokio::test]
async fn the_second_owner_fences_the_first() {
    let map = MapStore::new();
    let mut zombie = with_entries(&map, 1).await;
    let mut owner = Tally::load(Arc::clone(&map) as _).await.unwrap();
    owner.append(10).await.unwrap();
    let objects = map.objects();
    for fenced in [zombie.append(20).await, zombie.snapshot().await] {
        let error = fenced.unwrap_err();
        assert!(matches!(error, Error::Fenced { number: 1, .. }), "{error}");
        assert_eq!((error.code(), error.is_retryable()), (codes::FENCED, true));
    }
    assert_eq!(map.objects(), objects, "the zombie has written nothing");

    // Its number stays taken when it is compacted.
    owner.snapshot().await.unwrap();
    tokio::spawn(async move { owner.journal.compact().await }).await.unwrap().unwrap();
    assert!(matches!(zombie.append(20).await, Err(Error::Fenced { number: 1, .. })));
    assert_eq!(Tally::load(map).await.unwrap().numbers, [0, 10]);
}

#[tokio::test]
async fn a_lost_answer_to_our_own_write_is_no_fence() {
    let map = MapStore::new();
    let store = FaultyStore::new(Arc::clone(&map) as _);
    let mut tally = Tally::load(Arc::clone(&store) as _).await.unwrap();
    store.fail_next(Fault::AskedAgain);
    tally.append(1).await.unwrap();
    store.fail_next(Fault::AskedAgain);
    tally.snapshot().await.unwrap();
    tally.append(2).await.unwrap();
    assert_eq!(store.faults(), 2);
    assert_eq!(Tally::load(map).await.unwrap().numbers, [1, 2]);
}

/// The same numbers, but another record: an owner that goes on after an error must not take what it
/// wrote before for what it writes now.
#[tokio::test]
async fn after_an_error_our_own_record_fences_us() {
    let map = MapStore::new();
    let store = FaultyStore::new(Arc::clone(&map) as _);
    let mut tally = Tally::load(Arc::clone(&store) as _).await.unwrap();
    store.fail_next(Fault::AnswerLost);
    assert!(matches!(tally.append(1).await, Err(Error::Store(_))));
    assert!(matches!(tally.append(1).await, Err(Error::Fenced { number: 0, .. })));
    assert_eq!(Tally::load(map).await.unwrap().numbers, [1]);
}

#[tokio::test]
async fn a_loader_that_was_overtaken_by_compaction_begins_again() {
    let map = MapStore::new();
    let mut owner = with_entries(&map, 20).await;
    let mut loader = Loader::open(Arc::clone(&map) as _, FOLDER, BYTES_MAX).await.unwrap();
    loader.next().await.unwrap();
    owner.snapshot().await.unwrap();
    owner.journal.compact().await.unwrap();
    let error = loop {
        match loader.next().await {
            Ok(record) => assert!(record.is_some(), "it came to an end"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Compacted { .. }), "{error}");
    assert_eq!((error.code(), error.is_retryable()), (codes::COMPACTED, true));
    assert_eq!(Tally::load(map).await.unwrap().numbers, owner.numbers);
}

#[tokio::test]
async fn a_journal_keeps_within_its_bytes() {
    let map = MapStore::new();
    let mut journal = Loader::open(map.clone(), FOLDER, 1000).await.unwrap().into_journal();
    let body = || Bytes::from(vec![7; 300]);
    journal.append(body()).await.unwrap();
    journal.append(body()).await.unwrap();
    let objects = map.objects();
    let stored: u64 = objects.values().map(|object| object.len() as u64).sum();
    let size = Size { snapshot_bytes: 0, entries: 2, entries_bytes: stored };
    assert_eq!(journal.size(), size);

    let error = journal.append(body()).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { bytes_max: 1000, .. }), "{error}");
    assert_eq!((error.code(), error.is_retryable()), (codes::JOURNAL_TOO_LARGE, false));
    assert_eq!(map.objects(), objects, "nothing was written");

    journal.snapshot(body()).await.unwrap();
    assert_eq!(journal.size().entries, 0);
    journal.append(body()).await.unwrap();
    assert!(journal.snapshot(Bytes::from(vec![7; 1000])).await.is_err());
}

#[tokio::test]
async fn damage_is_noticed() {
    let torn = |object: &Bytes| object.slice(..object.len() - 1);
    let flipped = |object: &Bytes| {
        let mut bytes = object.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        Bytes::from(bytes)
    };
    let empty = |_: &Bytes| Bytes::new();
    let damages: [&dyn Fn(&Bytes) -> Bytes; 3] = [&torn, &flipped, &empty];
    for damage in damages {
        for number in 0..3 {
            let map = MapStore::new();
            with_entries(&map, 3).await;
            map.change(|objects| {
                let object = objects.get_mut(&record(number)).unwrap();
                *object = damage(object);
            });
            let error = Tally::load(map).await.err().unwrap();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            assert_eq!(error.code(), "CDL-7008");
        }
    }
}

#[tokio::test]
async fn a_record_in_the_wrong_place_is_noticed() {
    let map = MapStore::new();
    let mut tally = with_entries(&map, 2).await;
    tally.snapshot().await.unwrap();
    tally.append(2).await.unwrap();
    let whole = map.objects();
    for (from, to) in [(0, 3), (1, 2), (2, 3), (3, 2), (3, 4)] {
        map.change(|objects| {
            objects.clone_from(&whole);
            objects.insert(record(to), whole[&record(from)].clone());
        });
        let error = Tally::load(Arc::clone(&map) as _).await.err().unwrap();
        assert!(matches!(error, Error::Corrupt { .. }), "{from} as {to}: {error}");
    }
    map.change(|objects| {
        objects.clone_from(&whole);
        objects.insert(format!("{FOLDER}/log/what"), Bytes::new());
    });
    assert!(matches!(Tally::load(map).await, Err(Error::Corrupt { .. })));
}

#[tokio::test]
async fn a_session_removed_under_a_loader_is_told() {
    let map = MapStore::new();
    with_entries(&map, 20).await;
    let mut loader = Loader::open(Arc::clone(&map) as _, FOLDER, BYTES_MAX).await.unwrap();
    map.delete_folder("sessions/test").await.unwrap();
    let error = loader.next().await.unwrap_err();
    assert!(matches!(error, Error::Gone { .. }), "{error}");
    assert_eq!((error.code(), error.is_retryable()), (codes::OBJECT_GONE, false));
}
