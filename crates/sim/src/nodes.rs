//! The processes of the cluster: started, lost, frozen, told to leave, started again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caudal_gateway::janitor::Janitor;
use caudal_gateway::{Gateway, Settings};
use caudal_runtime::Level;
use caudal_runtime::time::sleep;
use caudal_worker::node::Node;
use caudal_worker::{Counts, Memory};

use crate::broker::SimBroker;
use crate::faults::Fault;
use crate::link::Link;
use crate::store::SimStore;
use crate::timeline::Why;
use crate::world::{World, elapsed, lock};

/// For the joins and sorts of a session.
const MEMORY_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Worker,
    Gateway,
}

pub struct Process {
    pub role: Role,
    pub name: String,
    world: Arc<World>,
    /// Of the one that runs, if one does.
    pub running: Option<Running>,
}

pub struct Running {
    pub link: Arc<Link>,
    stop: Level,
    gateway: Option<Arc<Gateway>>,
}

impl Process {
    pub fn start(world: &Arc<World>, role: Role, number: usize, counts: &Arc<Counts>) -> Self {
        let name = match role {
            Role::Worker => format!("worker-{number}"),
            Role::Gateway => format!("gateway-{number}"),
        };
        let mut process = Self { role, name, world: Arc::clone(world), running: None };
        process.start_again(counts);
        process
    }

    pub fn start_again(&mut self, counts: &Arc<Counts>) {
        self.world.say(&self.name, format_args!("starts"));
        let link = Link::new(&self.world, &self.name);
        let broker = Arc::new(SimBroker(Arc::clone(&link)));
        let store = Arc::new(SimStore(Arc::clone(&link)));
        let stop = Level::default();
        let gateway = match self.role {
            Role::Worker => {
                let node = Node {
                    name: self.name.clone(),
                    broker,
                    store,
                    threads: fastrand::usize(1..=2),
                    memory: Memory::new(MEMORY_BYTES).expect("memory"),
                    counts: Arc::clone(counts),
                    at_work: Arc::default(),
                    incarnation: fastrand::u64(..),
                };
                link.scope.spawn(node.run(stop.clone()));
                None
            }
            Role::Gateway => {
                let nowhere = ([127, 0, 0, 1], 0).into();
                let mut settings = Settings::new(self.name.clone(), nowhere);
                settings.session_max =
                    self.world.bounds.session_max.unwrap_or(settings.session_max);
                let gateway = Arc::new(Gateway::new(settings, broker, store));
                link.scope.spawn(Janitor::new(Arc::clone(&gateway)).run());
                self.world.doors.open(&link, &gateway);
                Some(gateway)
            }
        };
        self.running = Some(Running { link, stop, gateway });
    }

    /// kill -9, or the loss of its machine.
    pub fn crash(&mut self) {
        let Some(running) = self.running.take() else { return };
        self.world.say(&self.name, format_args!("is killed"));
        if self.world.happens(Fault::SilentCrash, 0.3) {
            running.link.is_silent.store(true, Ordering::Relaxed);
        }
        if self.role == Role::Gateway {
            self.world.doors.close(&self.name);
        }
        self.ends();
        running.link.scope.kill();
    }

    /// SIGTERM: what takes too long is cut off.
    pub fn leave(&mut self) {
        let Some(running) = self.running.take() else { return };
        self.world.say(&self.name, format_args!("is told to leave"));
        running.stop.raise();
        self.ends();
        if let Some(gateway) = &running.gateway {
            self.world.doors.close(&self.name);
            gateway.leave();
        }
        self.world.scope.spawn(async move {
            sleep(Duration::from_millis(caudal_core::limits::LEAVE_MS + 500)).await;
            running.link.scope.kill();
        });
    }

    fn ends(&self) {
        lock(&self.world.facts).timeline(&self.name).ends(&self.name, elapsed());
    }

    /// SIGSTOP, and SIGCONT after a while.
    pub fn freeze(&self, duration: Duration) {
        let Some(running) = &self.running else { return };
        let (world, name) = (Arc::clone(&self.world), self.name.clone());
        world.say(&name, format_args!("is frozen for {duration:?}"));
        let link = Arc::clone(&running.link);
        link.scope.freeze();
        link.is_away(duration, Why::Frozen);
        link.lose_connection_later();
        world.doors.cut_if_frozen_later(&world, &name);
        self.world.scope.spawn(async move {
            sleep(duration).await;
            world.say(&name, format_args!("is thawed"));
            link.scope.thaw();
        });
    }
}
