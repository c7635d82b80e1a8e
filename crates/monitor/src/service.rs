//! A monitor on the network: what its state wants done is done here, and nothing is decided.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use caudal_core::limits::{MONITOR_MESSAGES_MAX, MONITOR_TICK_MS};
use caudal_core::{codes, limits};
use fastrand::Rng;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::MissedTickBehavior;
use tracing::{error, info, warn};

use crate::detect::Pong;
use crate::folder::Folder;
use crate::health::{HealthResponder, View};
use crate::launch::Outcome;
use crate::members::{Member, Members, Role};
use crate::pings::Pings;
use crate::state::{Action, ClusterEvent, Event, Message, MonitorState};
use crate::wire::{Datagram, Envelope, NodeState, Secret};
use crate::{Error, NodeId, Process, launch, transport};

/// Watches over the cluster until `stop` is over.
pub async fn run(
    folder: Folder,
    name: &str,
    responder: &HealthResponder,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let members = folder.members()?;
    let secret = folder.secret()?;
    let me = members.named(name).filter(|member| member.role == Role::Monitor);
    let Some(me) = me.cloned() else {
        let path = folder.path().join(crate::folder::CLUSTER_FILE);
        return Err(Error::NotAMember { name: name.to_string(), path });
    };
    let address = &me.health;
    let listening = |source| Error::Listen { address: address.clone(), source };
    let listener = TcpListener::bind(address).await.map_err(listening)?;
    let pings = Pings::to(&members.nodes).await.map_err(listening)?;
    let (inbox, mut envelopes) = mpsc::channel(limits::MONITOR_EVENTS_MAX);
    tokio::spawn(transport::receive(listener, secret.clone(), inbox));
    let (launches, mut launched) = mpsc::channel(limits::MONITOR_EVENTS_MAX);
    let mut monitor = Monitor {
        state: MonitorState::new(me.id, members.peers(), Rng::new()),
        me: me.id,
        sends: members.monitors().map(|node| (node.id, Arc::default())).collect(),
        pings,
        members,
        folder,
        secret,
        launches,
        responder: responder.clone(),
        began: Instant::now(),
    };
    info!(name, "monitor started");
    responder.set_ready(true);
    tokio::pin!(stop);
    let mut tick = tokio::time::interval(Duration::from_millis(MONITOR_TICK_MS));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let event = tokio::select! {
            _ = tick.tick() => {
                monitor.read_pongs();
                Event::Tick
            }
            Some(envelope) = envelopes.recv() => match monitor.accept(envelope) {
                Some(event) => event,
                None => continue,
            },
            Some(event) = launched.recv() => event,
            () = &mut stop => break,
        };
        monitor.handle(event);
    }
    info!("monitor stopped");
    Ok(())
}

struct Monitor {
    state: MonitorState,
    me: NodeId,
    members: Members,
    folder: Folder,
    secret: Secret,
    pings: Pings,
    /// Messages under way to each monitor.
    sends: BTreeMap<NodeId, Arc<Sending>>,
    launches: mpsc::Sender<Event>,
    responder: HealthResponder,
    began: Instant,
}

struct Sending(Arc<Semaphore>);

impl Default for Sending {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MONITOR_MESSAGES_MAX)))
    }
}

impl Monitor {
    fn handle(&mut self, event: Event) {
        let now_ms = self.began.elapsed().as_millis() as u64;
        for action in self.state.handle(event, now_ms) {
            match action {
                Action::Ping { node, nonce } => self.ping(node, nonce),
                Action::Send { to, message } => self.send(to, message),
                Action::Launch { node, dead, asked_by } => self.launch(node, dead, asked_by),
                Action::Report(event) => self.report(&event),
            }
        }
        let (leader, given_up) = (self.state.leader(), self.state.given_up());
        self.responder.show(View { leader, given_up, work: None });
    }

    /// Before each tick, so that none that is there counts as missed.
    fn read_pongs(&mut self) {
        for datagram in self.pings.received() {
            if let Some(pong) = self.pong(&datagram) {
                self.handle(Event::Pong(pong));
            }
        }
    }

    fn pong(&self, bytes: &[u8]) -> Option<Pong> {
        let Some(Datagram::Pong(health)) = self.secret.open(bytes) else { return None };
        let node = self.members.named(&health.from)?.id;
        let stuck = health.state == NodeState::Stuck;
        Some(Pong { node, nonce: health.nonce, process: health.process, stuck })
    }

    /// From one monitor to this one.
    fn accept(&self, envelope: Envelope) -> Option<Event> {
        let is_monitor = self.sends.contains_key(&envelope.from);
        let Envelope { from, to, message } = envelope;
        (is_monitor && to == self.me).then_some(Event::Message { from, message })
    }

    fn ping(&self, node: NodeId, nonce: u64) {
        let Some(member) = self.members.get(node) else { return };
        self.pings.send(node, self.secret.seal(&Datagram::Ping { to: member.name.clone(), nonce }));
    }

    fn send(&self, to: NodeId, message: Message) {
        let (Some(member), Some(sending)) = (self.members.get(to), self.sends.get(&to)) else {
            return;
        };
        let Ok(place) = Arc::clone(&sending.0).try_acquire_owned() else { return };
        let envelope = Envelope { from: self.me, to, message };
        let (address, secret) = (member.health.clone(), self.secret.clone());
        tokio::spawn(async move {
            transport::send(&address, &envelope, &secret).await;
            drop(place);
        });
    }

    fn launch(&self, node: NodeId, dead: Option<Process>, asked_by: NodeId) {
        let Some(member) = self.members.get(node).cloned() else { return };
        let (folder, launches) = (self.folder.clone(), self.launches.clone());
        tokio::task::spawn_blocking(move || {
            let outcome = launch::launch(&folder, &member, dead);
            match &outcome {
                Outcome::Started => info!(node = member.name, "node started"),
                Outcome::LeftAlone => info!(node = member.name, "node left alone: it runs"),
                Outcome::Failed { reason } => warn!(node = member.name, reason, "node not started"),
            }
            // Nobody to tell: the monitor leaves.
            let _ = launches.blocking_send(Event::Launched { node, asked_by, outcome });
        });
    }

    fn name(&self, node: NodeId) -> &str {
        self.members.get(node).map_or("?", |member: &Member| &member.name)
    }

    fn report(&self, event: &ClusterEvent) {
        match event {
            ClusterEvent::Down(node) => warn!(node = self.name(*node), "node down"),
            ClusterEvent::Up(node) => info!(node = self.name(*node), "node up"),
            ClusterEvent::Leader(None) => info!("no leader"),
            ClusterEvent::Leader(Some(leader)) => {
                info!(leader = self.name(*leader), "leader elected")
            }
            ClusterEvent::Restarting { node, on } => {
                info!(node = self.name(*node), on = self.name(*on), "restarting node");
            }
            ClusterEvent::Unreachable(node) => {
                let node = self.name(*node);
                error!(node, "node cannot be restarted: no monitor on its host");
            }
            ClusterEvent::GaveUp { node, revivals } => {
                let node = self.name(*node);
                let log = self.folder.log(node);
                error!(
                    code = %codes::NODE_GIVEN_UP,
                    node,
                    revivals,
                    log = %log.display(),
                    "node given up: it was restarted so often and does not stay up; it is watched, \
                     and counts again once it answers"
                );
            }
        }
    }
}
