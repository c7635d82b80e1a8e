//! The health responder of a node, on a thread of its own: a node that is busy is not dead, one whose main loop
//! is stalled is.

use std::fs::File;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use caudal_core::limits;
use caudal_core::limits::{
    ALIVE_TOUCH_MS, DATAGRAM_BYTES_MAX, NODE_LOCK_MS, STUCK_END_MS, STUCK_MS, WATCHDOG_MS,
};
use tracing::{error, info, warn};

use crate::folder::Folder;
use crate::members::Launch;
use crate::wire::{Datagram, Health, NodeState, Secret};
use crate::{Error, NodeId, Process, failpoint};

/// The health responder of this process, which is the only one of its name. Kept as long as the node runs.
#[derive(Clone)]
pub struct HealthResponder {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    /// Counts up as long as the main loop runs.
    heartbeats: AtomicU64,
    is_ready: AtomicBool,
    view: Mutex<View>,
    /// That no second process is this node; touched as long as the main loop moves.
    lock: Option<File>,
}

/// State that a node shows: a monitor its view of the cluster, a worker its computation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub leader: Option<NodeId>,
    pub given_up: Vec<NodeId>,
    /// The longest computation, in words.
    pub work: Option<String>,
}

impl HealthResponder {
    /// Takes the node's place: the only process of that name, with somebody to answer for it.
    pub fn start(folder: &Folder, name: &str) -> Result<Self, Error> {
        let members = folder.members()?;
        let Some(member) = members.named(name) else {
            let path = folder.path().join(crate::folder::CLUSTER_FILE);
            return Err(Error::NotAMember { name: name.to_string(), path });
        };
        let secret = folder.secret()?;
        let failed = |source| Error::Folder { path: folder.path().to_path_buf(), source };
        let lock = match member.launch {
            Launch::Process { .. } => {
                let timeout = Duration::from_millis(NODE_LOCK_MS);
                let lock = folder.node_lock(name, timeout).map_err(failed)?;
                Some(lock.ok_or_else(|| Error::Twice { name: name.to_string() })?)
            }
            // The Engine sees to it; and a pid within a container means nothing outside.
            Launch::Docker { .. } => None,
        };
        let process = Process::this().ok_or_else(|| failed(std::io::Error::other("no /proc")))?;
        let address = &member.health;
        let listening = |source| Error::Listen { address: address.clone(), source };
        let socket = UdpSocket::bind(address).map_err(listening)?;
        socket.set_read_timeout(Some(Duration::from_millis(WATCHDOG_MS))).map_err(listening)?;
        let shared = Arc::new(Shared {
            name: name.to_string(),
            heartbeats: AtomicU64::new(0),
            is_ready: AtomicBool::new(false),
            view: Mutex::default(),
            lock,
        });
        let responder = ResponderThread { shared: Arc::clone(&shared), secret, socket, process };
        let thread = std::thread::Builder::new().name("caudal-health".into());
        thread.spawn(move || responder.run()).map_err(listening)?;
        let thread = std::thread::Builder::new().name("caudal-alive".into());
        let touching = Arc::clone(&shared);
        thread.spawn(move || touching.touch_as_long_as_it_moves()).map_err(listening)?;
        Ok(Self { shared })
    }

    /// Heartbeats of the main loop: to be run by the runtime that does the node's work.
    pub async fn heartbeat(self) {
        let mut interval = tokio::time::interval(Duration::from_millis(WATCHDOG_MS));
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            failpoint::hit("health.heartbeat");
            self.shared.heartbeats.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether it does what it is there for; at first it does not.
    pub fn set_ready(&self, is_ready: bool) {
        self.shared.is_ready.store(is_ready, Ordering::Relaxed);
    }

    pub fn show(&self, mut view: View) {
        view.given_up.truncate(limits::GIVEN_UP_NAMES_MAX);
        *self.shared.view.lock().unwrap_or_else(PoisonError::into_inner) = view;
    }
}

impl Shared {
    /// On a thread of its own: the disk may hang, and pings are answered nonetheless.
    fn touch_as_long_as_it_moves(&self) {
        let Some(file) = &self.lock else { return };
        let mut seen = 0;
        loop {
            let heartbeats = self.heartbeats.load(Ordering::Relaxed);
            if heartbeats != seen {
                seen = heartbeats;
                // Not said: then the network has the last word.
                let _ = file.set_modified(SystemTime::now());
            }
            std::thread::sleep(Duration::from_millis(ALIVE_TOUCH_MS));
        }
    }
}

struct ResponderThread {
    shared: Arc<Shared>,
    secret: Secret,
    socket: UdpSocket,
    process: Process,
}

impl ResponderThread {
    fn run(self) {
        let mut bytes = [0; DATAGRAM_BYTES_MAX + 1];
        let (mut watchdog, mut looked) = (Watchdog::default(), Instant::now());
        let mut state = NodeState::Starting;
        loop {
            let received = self.socket.recv_from(&mut bytes);
            // However many datagrams come in between: a look for each would see nothing pass.
            let elapsed_ms = looked.elapsed().as_millis() as u64;
            if elapsed_ms >= WATCHDOG_MS {
                looked = Instant::now();
                let heartbeats = self.shared.heartbeats.load(Ordering::Relaxed);
                let stalled_ms = watchdog.observe(heartbeats, elapsed_ms);
                state = self.judge(stalled_ms, state);
            }
            // Time is up, or a port somewhere was closed: on to the next.
            let Ok((length, from)) = received else { continue };
            let Some(Datagram::Ping { to, nonce }) = self.secret.open(&bytes[..length]) else {
                continue;
            };
            if to == self.shared.name {
                let pong = self.secret.seal(&Datagram::Pong(self.health(nonce, state)));
                // As good as lost on the way.
                let _ = self.socket.send_to(&pong, from);
            }
        }
    }

    /// What it is now. What has changed is told, and one that does not move for too long is ended.
    fn judge(&self, stalled_ms: u64, was: NodeState) -> NodeState {
        let state = self.state(stalled_ms);
        if state != was {
            match state {
                NodeState::Stuck => warn!(stalled_ms, "the main loop does not move"),
                NodeState::Running => info!("answering health checks"),
                NodeState::Starting => {}
            }
        }
        if stalled_ms >= STUCK_END_MS {
            error!(stalled_ms, "the main loop does not move, aborting");
            std::process::abort();
        }
        state
    }

    fn state(&self, stalled_ms: u64) -> NodeState {
        match () {
            () if stalled_ms >= STUCK_MS => NodeState::Stuck,
            () if self.shared.is_ready.load(Ordering::Relaxed) => NodeState::Running,
            () => NodeState::Starting,
        }
    }

    fn health(&self, nonce: u64, state: NodeState) -> Health {
        let view = self.shared.view.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let View { leader, given_up, work } = view;
        let (from, process) = (self.shared.name.clone(), self.process);
        Health { from, nonce, process, state, leader, given_up, work }
    }
}

/// A watchdog of the main loop: for how long it has been stalled, as far as that was watched. A process that was
/// frozen has not watched.
#[derive(Debug, Default)]
struct Watchdog {
    heartbeats: u64,
    stalled_ms: u64,
}

impl Watchdog {
    fn observe(&mut self, heartbeats: u64, elapsed_ms: u64) -> u64 {
        if heartbeats == self.heartbeats {
            self.stalled_ms += elapsed_ms.min(2 * WATCHDOG_MS);
        } else {
            *self = Self { heartbeats, stalled_ms: 0 };
        }
        self.stalled_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::{Member, Members, Role};
    use crate::probe::probe;

    #[test]
    fn a_stall_is_what_was_watched_of_it() {
        let mut watchdog = Watchdog::default();
        assert_eq!(watchdog.observe(1, 100), 0);
        assert_eq!(watchdog.observe(1, 100), 100);
        assert_eq!(watchdog.observe(1, 60_000), 100 + 2 * WATCHDOG_MS, "frozen meanwhile");
        assert_eq!(watchdog.observe(2, 100), 0);
    }

    /// A node in a folder of its own, whose main loop is the test's to move.
    fn responder() -> (tempfile::TempDir, Member, Secret, HealthResponder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        folder.prepare().unwrap();
        let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let member = Member {
            id: NodeId(1),
            name: "flooded".into(),
            role: Role::Worker,
            host: "here".into(),
            health: free.to_string(),
            launch: Launch::Process { program: "none".into(), arguments: vec![] },
            listen: None,
        };
        let members = Members { nodes: vec![member.clone()] };
        let json = serde_json::to_vec(&members).unwrap();
        std::fs::write(folder.path().join(crate::folder::CLUSTER_FILE), json).unwrap();
        let responder = HealthResponder::start(&folder, &member.name).unwrap();
        (temporary, member, folder.secret().unwrap(), responder)
    }

    /// Red where each datagram is a look of its own: a thousand in a second, and no time ever passes.
    #[test]
    fn a_flood_does_not_hide_that_the_main_loop_is_stuck() {
        let (_kept, member, secret, responder) = responder();
        let is_over = AtomicBool::new(false);
        let sent = AtomicU64::new(0);
        let states = std::thread::scope(|scope| {
            let flood = || {
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    // Signed by nobody: what costs most to refuse.
                    let _ = socket.send_to(&[&b"CDM1"[..], &[7; 400]].concat(), &member.health);
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            };
            scope.spawn(flood);
            let (mut states, began) = (vec![], Instant::now());
            while began.elapsed() < Duration::from_millis(2 * STUCK_MS)
                && states.last() != Some(&NodeState::Stuck)
            {
                let answers = probe(&[&member], &secret, Duration::from_millis(300)).unwrap();
                states.extend(answers.into_values().map(|health| health.state));
            }
            is_over.store(true, Ordering::Relaxed);
            states
        });
        let a_second = sent.into_inner() / (2 * STUCK_MS / 1000);
        assert!(a_second > 1000, "{a_second} datagrams a second are no flood");
        assert_eq!(states.first(), Some(&NodeState::Starting));
        assert_eq!(states.last(), Some(&NodeState::Stuck), "{} answers", states.len());
        // Or it would end this process, some tests later.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(responder.heartbeat());
        });
    }
}
