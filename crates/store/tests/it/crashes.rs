//! A process that dies at each of its operations in turn, and its successor.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use caudal_store::{Error, Store};
use futures::executor::block_on;

use crate::faulty_store::{Fault, FaultyStore};
use crate::map_store::MapStore;
use crate::tally::{BYTES_MAX, FOLDER, Tally};

/// Everything an owner does, twice: what it has come to is in `acked`.
async fn live(store: Arc<dyn Store>, acked: &mut Vec<u32>) -> Result<(), Error> {
    let mut tally = Tally::load(store).await?;
    for round in 0..3 {
        for number in 0..4 {
            tally.append(round * 10 + number).await?;
            acked.clone_from(&tally.numbers);
        }
        tally.snapshot().await?;
        tally.journal.compact().await?;
    }
    tally.append(100).await?;
    acked.clone_from(&tally.numbers);
    Ok(())
}

/// Lives for so many operations. Whether that was a whole life.
fn live_for(map: &Arc<MapStore>, operations: usize, acked: &mut Vec<u32>) -> bool {
    let store = FaultyStore::stepped(Arc::clone(map) as _);
    let mut life = Box::pin(live(Arc::clone(&store) as _, acked));
    for _ in 0..operations {
        store.step();
        match life.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => return result.map(|()| true).unwrap(),
            Poll::Pending => {}
        }
    }
    false
}

/// A successor finds what was acknowledged, and at most what was being written; it goes on, and in
/// the end all that its snapshot stands for is compacted.
fn succeed(map: &Arc<MapStore>, acked: &[u32], context: &str) {
    let mut tally = block_on(Tally::load(Arc::clone(map) as _)).unwrap();
    assert!(tally.numbers.starts_with(acked), "{context}: {:?} of {acked:?}", tally.numbers);
    assert!(tally.numbers.len() <= acked.len() + 1, "{context}: {:?}", tally.numbers);

    let expected = [&tally.numbers[..], &[1000, 1001]].concat();
    block_on(async {
        tally.append(1000).await.unwrap();
        tally.snapshot().await.unwrap();
        tally.journal.compact().await.unwrap();
        tally.append(1001).await.unwrap();
    });
    let records = map.objects();
    let placeholder_bytes = records.values().map(|record| record.len()).min().unwrap();
    let whole = records.values().filter(|record| record.len() > placeholder_bytes).count();
    assert_eq!(whole, 2, "{context}: a snapshot and an entry remain of {}", records.len());
    let after = block_on(Tally::load(Arc::clone(map) as _)).unwrap();
    assert_eq!(after.numbers, expected, "{context}");
}

#[test]
fn dying_between_any_two_operations_loses_nothing() {
    let mut operations = 0;
    loop {
        let map = MapStore::new();
        let mut acked = vec![];
        let is_whole_life = live_for(&map, operations, &mut acked);
        succeed(&map, &acked, &format!("died after {operations} operations"));
        if is_whole_life {
            break;
        }
        operations += 1;
    }
    assert!(operations > 25, "an incarnation has only {operations} operations");
}

#[test]
fn failing_at_any_operation_loses_nothing() {
    for fault in [Fault::NotDone, Fault::AnswerLost, Fault::AskedAgain] {
        let mut operations = 0;
        loop {
            let map = MapStore::new();
            let store = FaultyStore::new(Arc::clone(&map) as _);
            let mut acked = vec![];
            let context = format!("{fault:?} after {operations} operations");
            store.fail_at(operations, fault);
            let ended = block_on(live(Arc::clone(&store) as _, &mut acked));
            let is_beyond = store.faults() == 0;
            let survives = is_beyond || fault == Fault::AskedAgain;
            assert_eq!(ended.is_ok(), survives, "{context}: {ended:?}");
            succeed(&map, &acked, &context);
            if is_beyond {
                break;
            }
            operations += 1;
        }
        assert!(operations > 25, "an incarnation has only {operations} operations");
    }
}

/// It neither lists nor reads, and does no more than the unfinished one had left.
#[test]
fn compaction_goes_on_where_the_last_owner_knows_it_was() {
    let map = MapStore::new();
    let mut tally = block_on(Tally::load(Arc::clone(&map) as _)).unwrap();
    block_on(async {
        for round in 0..10 {
            tally.append(round).await.unwrap();
            tally.snapshot().await.unwrap();
            tally.journal.compact().await.unwrap();
        }
    });
    let store = FaultyStore::new(Arc::clone(&map) as _);
    let mut loader = block_on(async {
        caudal_store::Loader::open(Arc::clone(&store) as _, FOLDER, BYTES_MAX).await.unwrap()
    });
    block_on(async { while loader.next().await.unwrap().is_some() {} });
    let before = store.operations();
    block_on(loader.into_journal().compact()).unwrap();
    let compacted = store.operations() - before;
    assert_eq!(
        compacted, 2,
        "the last snapshot was written before its own compaction: two records to do"
    );
}
