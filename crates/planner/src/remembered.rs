//! Plans that a simulation has made before, so that its many nodes need not plan again and again. In
//! any other program there is none.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::{SessionPlan, SessionSpec};

static PLANS: Mutex<BTreeMap<String, SessionPlan>> = Mutex::new(BTreeMap::new());

/// From here on this is the plan of such a session, whenever it starts: it must not ask for the time.
pub fn remember(spec: &SessionSpec, plan: SessionPlan) {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner).insert(key(spec), plan);
}

pub fn find(spec: &SessionSpec) -> Option<SessionPlan> {
    let plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if plans.is_empty() { None } else { plans.get(&key(spec)).cloned() }
}

fn key(spec: &SessionSpec) -> String {
    format!("{:?}", (&spec.tables, &spec.queries, spec.shards))
}
