//! A few planners, and the sessions that wait for them.
//!
//! Whose turn it is [`Turns`] decide, what a planner died of [`Death`]; this is what lies between them and the
//! processes. A planner is started when it is needed, used again, and replaced when it has died or planned for long.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use caudal_core::limits;
use caudal_protocol::manifest::Manifest;
use caudal_protocol::outline::Outline;
use caudal_runtime::failpoint::knob;
use caudal_runtime::time::{Instant, now, sleep_until, timeout};
use caudal_runtime::{Level, task};
use tracing::{info, warn};

use super::child::what;
use super::death::Death;
use super::error::Error;
use super::pipe::{self, Said};
use super::process::{Begun, Planner};
use super::turns::{Ticket, TurnBounds, Turns};

pub struct Pool {
    gateway: String,
    program: PathBuf,
    bounds: Bounds,
    state: Mutex<State>,
    /// Raised whenever it may have become somebody's turn.
    changed: Level,
    /// Above zero, the gateway leaves.
    leaving: Level,
}

struct State {
    turns: Turns,
    idle: Vec<Planner>,
    /// Earliest time at which the next planner may be started.
    next_start: Instant,
}

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub turns: TurnBounds,
    pub waiting: Duration,
    pub planning: Duration,
    pub requests: usize,
}

impl Bounds {
    /// Those of a gateway; where owners are told apart, none of them may have all planners.
    pub fn new(has_owners: bool) -> Self {
        let at_once = limits::PLANNERS_MAX;
        let planning_ms = knob("planning_ms_max", limits::PLANNING_MS_MAX as usize);
        Self {
            turns: TurnBounds {
                at_once,
                at_once_of_owner: if has_owners { at_once - 1 } else { at_once },
                waiting: limits::PLANNINGS_WAITING_MAX,
                waiting_of_owner: limits::PLANNINGS_WAITING_OWNER_MAX,
            },
            waiting: Duration::from_millis(limits::PLANNING_WAIT_MS_MAX),
            planning: Duration::from_millis(planning_ms as u64),
            requests: limits::PLANNER_REQUESTS_MAX,
        }
    }
}

impl Pool {
    pub fn new(gateway: String, program: PathBuf, bounds: Bounds, leaving: Level) -> Arc<Self> {
        let turns = Turns::new(bounds.turns);
        let state = Mutex::new(State { turns, idle: vec![], next_start: now() });
        Arc::new(Self { gateway, program, bounds, state, changed: Level::default(), leaving })
    }

    pub async fn plan(self: &Arc<Self>, manifest: &Manifest) -> Result<Outline, crate::Error> {
        let busy = || Error::Busy { gateway: self.gateway.clone() };
        let turn = timeout(self.bounds.waiting, self.turn(&manifest.owner)).await;
        let turn = turn.ok().flatten().ok_or_else(busy)?;
        // Not before: those who wait are many, and it may be large.
        let bytes_max = limits::PLANNER_REQUEST_BYTES_MAX;
        let request = pipe::frame(manifest, bytes_max);
        let request = request.ok_or(Error::RequestTooLarge { bytes_max })?;
        let (pool, manifest) = (Arc::clone(self), manifest.clone());
        // A client that hangs up gives up the answer, not the planner, which would have to be killed for it.
        let planning = task::spawn(async move {
            let _turn = turn;
            tokio::select! {
                biased;
                // Nobody hears this: who waited for it knows already that the gateway leaves.
                _ = pool.leaving.above(0) => Err(Error::Busy { gateway: pool.gateway.clone() }),
                planned = pool.plan_now(&manifest, &request) => planned,
            }
        });
        Ok(planning.await??)
    }

    /// Waits for a turn; none, if too many do already.
    async fn turn(self: &Arc<Self>, owner: &str) -> Option<Turn> {
        let ticket = self.state().turns.ask(owner)?;
        let turn = Turn { pool: Arc::clone(self), ticket };
        loop {
            let seen = self.changed.get();
            if self.state().turns.is_turn_of(ticket) {
                return Some(turn);
            }
            self.changed.above(seen).await;
        }
    }

    async fn plan_now(&self, manifest: &Manifest, request: &[u8]) -> Result<Outline, Error> {
        let mut tries_left = limits::PLANNING_TRIES_MAX;
        let mut used = self.idle();
        loop {
            tries_left -= 1;
            // What is planned again is by a new one: nothing that was before can be the reason, if it fails.
            let mut planner = match used.take() {
                Some(planner) => planner,
                None => self.start().await?,
            };
            let asked = timeout(self.bounds.planning, planner.ask(request)).await;
            let what = what(manifest, planner.begun.and_then(Begun::query));
            let lost = match asked {
                Ok(Ok(said)) => {
                    self.keep(planner);
                    return read(said);
                }
                Ok(Err(lost)) => lost,
                // It has not come to it: the machine is busy, or somebody has stopped it.
                Err(_) if planner.begun.is_none() => {
                    warn!(what, tries_left, "a planner did not begin: kills it");
                    match tries_left {
                        0 => return Err(self.cannot_start(&"it did not begin")),
                        _ => continue,
                    }
                }
                Err(_) => {
                    let ms = self.bounds.planning.as_millis();
                    warn!(what, ms, "planner took too long, killed");
                    return Err(Error::TooSlow { what, ms });
                }
            };
            let has_begun = planner.begun.is_some();
            let is_fresh = planner.requests <= 1;
            let death = planner.died().await.unwrap_or(Death::Silent);
            warn!(what, %lost, %death, tries_left, "planner died");
            // What it has planned before may have left it short of memory.
            let may_be_old = death == Death::Memory && !is_fresh;
            if may_be_old && tries_left > 0 {
                continue;
            }
            if let Some(error) = self.verdict(death, has_begun, what, tries_left) {
                return Err(error);
            }
        }
    }

    /// Error of a session whose planner has died; `None` if it is to be planned again, since the death need not have been
    /// its fault.
    fn verdict(
        &self,
        death: Death,
        has_begun: bool,
        what: String,
        tries_left: usize,
    ) -> Option<Error> {
        let died = |what| Error::Died { what, how: death.to_string() };
        match death {
            _ if !has_begun && tries_left > 0 => None,
            _ if !has_begun => Some(self.cannot_start(&death)),
            Death::Killed(_) if tries_left > 0 => None,
            Death::Memory => {
                Some(Error::TooLarge { what, bytes_max: limits::PLANNER_MEMORY_BYTES_MAX })
            }
            Death::Stack => Some(Error::TooDeep { what }),
            Death::Killed(_) | Death::Signal(_) | Death::Exit(_) | Death::Silent => {
                Some(died(what))
            }
        }
    }

    /// One that has nothing to do.
    fn idle(&self) -> Option<Planner> {
        let mut state = self.state();
        while let Some(mut planner) = state.idle.pop() {
            if planner.is_alive() {
                return Some(planner);
            }
        }
        None
    }

    async fn start(&self) -> Result<Planner, Error> {
        sleep_until(self.next_start()).await;
        let planner = Planner::start(&self.program).map_err(|error| self.cannot_start(&error))?;
        info!(planner = planner.pid(), "started a planner");
        Ok(planner)
    }

    fn keep(&self, planner: Planner) {
        if planner.requests < self.bounds.requests {
            self.state().idle.push(planner);
        }
    }

    /// Time at which the next planner may be started; from here on it is taken.
    fn next_start(&self) -> Instant {
        let mut state = self.state();
        let at = state.next_start.max(now());
        state.next_start = at + Duration::from_millis(limits::PLANNER_START_MS);
        at
    }

    fn cannot_start(&self, reason: &impl ToString) -> Error {
        Error::CannotStart { gateway: self.gateway.clone(), reason: reason.to_string() }
    }

    /// A lock that a panicking holder has left is still a lock: every change under it is one step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those who wait or are planned, as long as it is held.
struct Turn {
    pool: Arc<Pool>,
    ticket: Ticket,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pool.state().turns.leave(self.ticket);
        self.pool.changed.raise();
    }
}

fn read(said: Said) -> Result<Outline, Error> {
    match said {
        Said::Planned(outline) => Ok(outline),
        Said::Refused(refusals) => Err(Error::Refused(refusals)),
        Said::Failed(failure) => Err(Error::Failed(failure)),
        // A planner is asked until it has said something else.
        Said::Begins(_) => unreachable!("it is not the last word"),
    }
}
