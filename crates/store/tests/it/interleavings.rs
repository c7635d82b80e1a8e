//! Two or three owners of one shard at once, in any order of their operations on the store, with
//! deaths and lost answers in between: nothing acknowledged is lost, nothing is there twice.
//!
//! Every order where there are few operations ([`every_order`]: all of them, of two and of three owners, and of two with one
//! fault at every place); random ones where there are hundreds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use caudal_store::Error;
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::faulty_store::{Fault, FaultyStore};
use crate::map_store::MapStore;
use crate::tally::Tally;

const OWNERS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// One owner does one operation.
    Go { owner: usize },
    /// One owner dies, and another process takes its place.
    Die { owner: usize },
    /// One owner's next operation goes wrong.
    Fail { owner: usize, fault: Fault },
}

fn step() -> impl Strategy<Value = Step> {
    let fault = prop_oneof![Just(Fault::NotDone), Just(Fault::AnswerLost), Just(Fault::AskedAgain)];
    let owner = 0..OWNERS;
    prop_oneof![
        30 => owner.clone().prop_map(|owner| Step::Go { owner }),
        1 => owner.clone().prop_map(|owner| Step::Die { owner }),
        2 => (owner, fault).prop_map(|(owner, fault)| Step::Fail { owner, fault }),
    ]
}

/// Counts of what happened in all cases, so that a test knows that it tested something.
#[derive(Debug, Default)]
struct Happened {
    acked: Cell<usize>,
    snapshots: Cell<usize>,
    fenced: Cell<usize>,
    compacted_under_a_load: Cell<usize>,
    lost_answers_found: Cell<usize>,
    faults: Cell<usize>,
}

fn count(counter: &Cell<usize>) {
    counter.set(counter.get() + 1);
}

/// State of the shard, as known from outside.
struct Ledger {
    happened: Rc<Happened>,
    /// Numbers that are known to be there: all up to the last one acknowledged.
    acked: RefCell<Vec<u32>>,
    next: Cell<u32>,
    violation: RefCell<Option<String>>,
}

impl Ledger {
    fn new_number(&self) -> u32 {
        self.next.replace(self.next.get() + 1)
    }

    /// An owner may learn late that its write succeeded, when others have gone on from it.
    fn ack(&self, numbers: &[u32]) {
        count(&self.happened.acked);
        let mut acked = self.acked.borrow_mut();
        if numbers.starts_with(&acked) {
            *acked = numbers.to_vec();
        } else if !acked.starts_with(numbers) {
            let violation = format!("{acked:?} was acknowledged, and then {numbers:?}");
            self.violation.replace(Some(violation));
        }
    }
}

/// Life of an owner until it fails: it loads, and then does anything in any order.
async fn own(store: Arc<FaultyStore>, ledger: &Ledger, random: &mut fastrand::Rng) -> Error {
    let mut tally = match Tally::load(Arc::clone(&store) as _).await {
        Ok(tally) => tally,
        Err(error) => return error,
    };
    loop {
        let faults_before = store.faults();
        let done = match random.u8(0..10) {
            0..6 => {
                let appended = tally.append(ledger.new_number()).await;
                appended.map(|()| ledger.ack(&tally.numbers))
            }
            6..8 => tally.snapshot().await.map(|()| count(&ledger.happened.snapshots)),
            _ => tally.journal.compact().await,
        };
        match done {
            Err(error) => return error,
            Ok(()) if store.faults() > faults_before => count(&ledger.happened.lost_answers_found),
            Ok(()) => {}
        }
    }
}

async fn own_again_and_again(store: Arc<FaultyStore>, ledger: Rc<Ledger>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    loop {
        match own(Arc::clone(&store), &ledger, &mut random).await {
            Error::Fenced { .. } => count(&ledger.happened.fenced),
            Error::Compacted { .. } => count(&ledger.happened.compacted_under_a_load),
            Error::Store(_) => count(&ledger.happened.faults),
            error => {
                ledger.violation.replace(Some(error.to_string()));
            }
        }
    }
}

type Owner = Pin<Box<dyn Future<Output = ()>>>;

fn run(
    map: Arc<MapStore>,
    happened: Rc<Happened>,
    seed: u64,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let ledger = Rc::new(Ledger {
        happened,
        acked: RefCell::default(),
        next: Cell::default(),
        violation: RefCell::default(),
    });
    let stores: [_; OWNERS] = std::array::from_fn(|_| FaultyStore::stepped(Arc::clone(&map) as _));
    let mut lives = 0;
    let mut new_owner = |owner: usize| -> Owner {
        lives += 1;
        Box::pin(own_again_and_again(Arc::clone(&stores[owner]), Rc::clone(&ledger), seed + lives))
    };
    let mut owners: [_; OWNERS] = std::array::from_fn(&mut new_owner);
    let mut seen = vec![];
    for step in steps {
        match *step {
            Step::Go { owner } => {
                stores[owner].step();
                let mut context = Context::from_waker(Waker::noop());
                assert!(owners[owner].as_mut().poll(&mut context).is_pending(), "it has no end");
            }
            Step::Die { owner } => owners[owner] = new_owner(owner),
            Step::Fail { owner, fault } => stores[owner].fail_next(fault),
        }
        let violation = ledger.violation.take();
        prop_assert!(violation.is_none(), "{}", violation.unwrap_or_default());
        let seen_before = std::mem::replace(&mut seen, load(&map)?);
        check(&seen, &seen_before, &ledger.acked.borrow())?;
    }
    Ok(())
}

/// Numbers that a process loads which starts now.
fn load(map: &Arc<MapStore>) -> Result<Vec<u32>, TestCaseError> {
    let loaded = block_on(Tally::load(Arc::clone(map) as _));
    loaded.map(|tally| tally.numbers).map_err(|error| TestCaseError::fail(error.to_string()))
}

fn check(seen: &[u32], seen_before: &[u32], acked: &[u32]) -> Result<(), TestCaseError> {
    prop_assert!(seen.starts_with(acked), "{acked:?} was acknowledged, {seen:?} is there");
    prop_assert!(seen.starts_with(seen_before), "{seen_before:?} was there, now {seen:?}");
    let distinct: BTreeSet<_> = seen.iter().collect();
    prop_assert_eq!(distinct.len(), seen.len(), "something is there twice: {:?}", seen);
    Ok(())
}

fn run_cases(
    map: impl Fn() -> Arc<MapStore>,
    happened: &Rc<Happened>,
) -> Result<(), TestError<(u64, Vec<Step>)>> {
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let cases = (any::<u32>().prop_map(u64::from), vec(step(), 50..400));
    TestRunner::new(config)
        .run(&cases, |(seed, steps)| run(map(), Rc::clone(happened), seed, &steps))
}

#[test]
fn whatever_the_order_nothing_is_lost_and_nothing_is_there_twice() {
    let happened = Rc::default();
    run_cases(MapStore::new, &happened).unwrap_or_else(|error| panic!("{error}"));

    let Happened { acked, snapshots, fenced, compacted_under_a_load, lost_answers_found, faults } =
        &*happened;
    for count in [acked, snapshots, fenced, compacted_under_a_load, lost_answers_found, faults] {
        assert!(count.get() >= 20, "not everything was tested: {happened:?}");
    }
}

/// All sequences of so many steps of so many owners.
fn every_order(owners: usize, steps: u32) -> impl Iterator<Item = Vec<Step>> {
    (0..owners.pow(steps)).map(move |order| {
        (0..steps).map(|at| Step::Go { owner: order / owners.pow(at) % owners }).collect()
    })
}

/// The same with this done at every place.
fn with_one(
    orders: impl Iterator<Item = Vec<Step>>,
    what: Step,
) -> impl Iterator<Item = Vec<Step>> {
    orders.flat_map(move |order| {
        (0..order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, what);
            order
        })
    })
}

/// What owners do is drawn from the seed: with each other, the same orders are of other operations.
const PROGRAMS: u64 = 3;

fn every_case(
    map: impl Fn() -> Arc<MapStore>,
    happened: &Rc<Happened>,
    orders: impl Fn() -> Box<dyn Iterator<Item = Vec<Step>>>,
) -> Result<usize, String> {
    let mut cases = 0;
    for seed in 0..PROGRAMS {
        for steps in orders() {
            cases += 1;
            let ran = run(map(), Rc::clone(happened), 1000 * seed, &steps);
            ran.map_err(|error| format!("seed {seed}, {steps:?}: {error}"))?;
        }
    }
    Ok(cases)
}

#[test]
fn every_order_of_a_few_operations() {
    let happened = Rc::default();
    let fault = |fault| Step::Fail { owner: 0, fault };
    let two = || every_order(2, 9);
    let cases = [
        every_case(MapStore::new, &happened, || Box::new(every_order(2, 14))),
        every_case(MapStore::new, &happened, || Box::new(every_order(3, 8))),
        every_case(MapStore::new, &happened, || Box::new(with_one(two(), Step::Die { owner: 0 }))),
        every_case(MapStore::new, &happened, || Box::new(with_one(two(), fault(Fault::NotDone)))),
        every_case(MapStore::new, &happened, || {
            Box::new(with_one(two(), fault(Fault::AnswerLost)))
        }),
        every_case(MapStore::new, &happened, || {
            Box::new(with_one(two(), fault(Fault::AskedAgain)))
        }),
    ];
    let cases: usize =
        cases.map(|cases| cases.unwrap_or_else(|error| panic!("{error}"))).iter().sum();
    println!("{cases} cases: {happened:?}");
    for count in [&happened.acked, &happened.fenced, &happened.lost_answers_found, &happened.faults]
    {
        assert!(count.get() >= 1000, "not everything was tested: {happened:?}");
    }
}

#[test]
fn without_the_fence_some_order_goes_wrong() {
    let found =
        every_case(MapStore::without_fence, &Rc::default(), || Box::new(every_order(2, 14)));
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn without_the_fence_it_goes_wrong() {
    let found = run_cases(MapStore::without_fence, &Rc::default());
    assert!(matches!(found, Err(TestError::Fail(..))), "{found:?}");
}
