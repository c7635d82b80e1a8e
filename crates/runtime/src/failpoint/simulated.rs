//! Switches that tests set in the code that they run, a simulation on its own thread, others for a process: a defect that
//! has to be found, and bounds so small that tiny data reaches them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

thread_local! {
    static MUTANT: Cell<Option<&'static str>> = const { Cell::new(None) };
    static KNOBS: RefCell<BTreeMap<&'static str, RangeInclusive<usize>>> =
        const { RefCell::new(BTreeMap::new()) };
    static HITS: RefCell<BTreeMap<&'static str, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Switches a deliberate defect on, for this thread.
pub fn set_mutant(name: Option<&'static str>) {
    MUTANT.set(name);
}

/// Bounds for this thread, by their names; others stay as they are.
pub fn set_knobs(knobs: impl IntoIterator<Item = (&'static str, RangeInclusive<usize>)>) {
    KNOBS.set(knobs.into_iter().collect());
}

/// How often this thread has come to each fail point since this was asked before.
pub fn take_hits() -> BTreeMap<&'static str, u64> {
    HITS.take()
}

pub(super) fn count_hit(point: &'static str) {
    HITS.with_borrow_mut(|hits| *hits.entry(point).or_default() += 1);
}

/// Whether a simulation has switched on a deliberate defect, which it then has to find.
pub fn mutant(name: &'static str) -> bool {
    MUTANT.get() == Some(name)
}

/// A bound; a simulation may draw a smaller one each time it is asked for, and a process may be started with
/// others.
pub fn knob(name: &'static str, bound: usize) -> usize {
    let range = KNOBS.with_borrow(|knobs| knobs.get(name).cloned());
    let of_process = || OF_PROCESS.get(name).copied().unwrap_or(bound);
    range.map_or_else(of_process, fastrand::usize)
}

/// `CAUDAL_KNOBS=snapshot_records=4;message_bytes=1000`
static OF_PROCESS: LazyLock<BTreeMap<String, usize>> = LazyLock::new(|| {
    let text = std::env::var("CAUDAL_KNOBS").unwrap_or_default();
    let knob = |text: &str| {
        let (name, bound) = text.split_once('=')?;
        Some((name.to_string(), bound.parse().ok()?))
    };
    let texts = text.split(';').filter(|text| !text.is_empty());
    texts.map(|text| knob(text).unwrap_or_else(|| panic!("CAUDAL_KNOBS: {text}"))).collect()
});
