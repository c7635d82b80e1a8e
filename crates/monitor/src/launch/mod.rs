//! The launcher of nodes: what to do is decided by facts about the node's host.

mod docker;
mod process;

use std::io;
use std::process::Command;
use std::time::Duration;

use caudal_core::limits::{KILL_MS, LAUNCH_MS};
use serde::{Deserialize, Serialize};

use crate::Process;
use crate::folder::Folder;
use crate::members::{Launch, Member};

/// The state of a node's process, as its host says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// There is none, or only what is left of one.
    Gone,
    /// It is there but does not run: SIGSTOP, or a paused container.
    Frozen(Process),
    Running(Process),
    /// It has said on its own host, not long ago, that its main loop moves.
    Well(Process),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Start,
    /// Kill that one, see it gone, start another.
    Replace(Process),
    LeaveAlone,
}

/// The outcome of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Started,
    /// A process runs of which nobody has shown that it is dead.
    LeftAlone,
    Failed {
        reason: String,
    },
}

/// Brings a node of this machine back, unless somebody else does, or has done. Blocks; under the node's lock,
/// so that of all the monitors of a machine that believe they lead, one acts at a time and sees what
/// others did.
pub fn launch(folder: &Folder, node: &Member, dead: Option<Process>) -> Outcome {
    let launched = try_launch(folder, node, dead);
    launched.unwrap_or_else(|error| Outcome::Failed { reason: error.to_string() })
}

fn try_launch(folder: &Folder, node: &Member, dead: Option<Process>) -> io::Result<Outcome> {
    let timeout = Duration::from_millis((LAUNCH_MS - KILL_MS) / 2);
    let Some(_lock) = folder.launch_lock(&node.name, timeout)? else {
        return Err(io::Error::other("somebody else is launching it"));
    };
    if folder.are_launches_stopped() {
        return Err(io::Error::other("the cluster is being stopped"));
    }
    match &node.launch {
        Launch::Process { program, arguments } => {
            process::launch(folder, &node.name, Command::new(program).args(arguments), dead)
        }
        Launch::Docker { container, socket } => docker::launch(container, socket, dead),
    }
}

fn does_not_die() -> io::Error {
    io::Error::other("what is left of it does not die")
}

/// `dead` is the incarnation that a monitor has heard and that has fallen silent.
///
/// A running process is replaced only by a monitor that has heard that very process: one that was started
/// by somebody else in the meantime, or that the monitor cannot hear at all, is left alone. So two leaders
/// do not undo each other's revivals, and who is cut off is replaced once, however long and by however
/// many it is missed. One that is well is not replaced at all: what is silent is the network, or its port is flooded.
pub fn decide(host: Host, dead: Option<Process>) -> Decision {
    match host {
        Host::Gone => Decision::Start,
        Host::Frozen(process) => Decision::Replace(process),
        Host::Running(process) if dead == Some(process) => Decision::Replace(process),
        Host::Running(_) | Host::Well(_) => Decision::LeaveAlone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case() {
        let (this, other) = (Process { pid: 1, started: 1 }, Process { pid: 1, started: 2 });
        for dead in [None, Some(this), Some(other)] {
            assert_eq!(decide(Host::Gone, dead), Decision::Start);
            assert_eq!(decide(Host::Frozen(this), dead), Decision::Replace(this));
            assert_eq!(decide(Host::Well(this), dead), Decision::LeaveAlone);
        }
        assert_eq!(decide(Host::Running(this), Some(this)), Decision::Replace(this));
        assert_eq!(decide(Host::Running(this), Some(other)), Decision::LeaveAlone);
        assert_eq!(decide(Host::Running(this), None), Decision::LeaveAlone);
    }
}
