//! Planning, which a gateway leaves to others: what tenants write must not be able to end the process that serves all of
//! them.
//!
//! ```text
//!  open ──▶ turns ──▶ pool ──▶ process ═══ pipe ═══▶ child: `caudal planner`
//!           whose     a few    stdin, stdout         plans, says the outline, or dies of it
//!           it is              └── death: of what it died
//! ```

pub mod child;
mod death;
mod error;
mod pipe;
mod pool;
mod process;
#[cfg(test)]
mod tests;
mod turns;

use std::sync::Arc;

use caudal_core::limits;
use caudal_planner::SessionSpec;
use caudal_protocol::manifest::Manifest;
use caudal_protocol::outline::Outline;
use caudal_runtime::{Level, task};

pub use self::error::Error;
use self::pool::{Bounds, Pool};
use crate::Settings;

/// Process in which sessions are planned.
pub enum Planning {
    /// In this process: that of a test, or of a simulation.
    Here,
    Planners(Arc<Pool>),
}

impl Planning {
    pub fn new(settings: &Settings, leaving: Level) -> Self {
        let Some(program) = settings.planner.clone() else { return Planning::Here };
        let bounds = Bounds::new(settings.tokens.is_some());
        Planning::Planners(Pool::new(settings.name.clone(), program, bounds, leaving))
    }

    pub async fn plan(&self, manifest: &Manifest) -> Result<Outline, crate::Error> {
        match self {
            Planning::Here => plan_here(manifest).await,
            Planning::Planners(pool) => pool.plan(manifest).await,
        }
    }
}

/// A while of pure computing: not on a thread that has heartbeats to answer.
async fn plan_here(manifest: &Manifest) -> Result<Outline, crate::Error> {
    let spec = SessionSpec::try_from(manifest).map_err(Error::from)?;
    let planning = async move { Ok::<_, Error>(caudal_planner::plan(&spec).await?.outline()) };
    Ok(task::compute_async(limits::PLANNING_STACK_BYTES, planning).await??)
}
