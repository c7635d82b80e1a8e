//! Starts nodes as processes of this machine.

use std::io;
use std::process::Command;
use std::time::Duration;

use caudal_core::limits::KILL_MS;
use rustix::process::Signal;

use crate::folder::{Folder, Launched};
use crate::launch::{Decision, Host, Outcome, decide, does_not_die};
use crate::{Process, failpoint};

/// Under the node's lock.
pub fn launch(
    folder: &Folder,
    name: &str,
    command: &mut Command,
    dead: Option<Process>,
) -> io::Result<Outcome> {
    // Two at most, where a launcher died half-way.
    for process in folder.processes(name) {
        let host = match () {
            () if process.is_frozen() => Host::Frozen(process),
            () if folder.is_well(name, process) => Host::Well(process),
            () => Host::Running(process),
        };
        match decide(host, dead) {
            Decision::Start => {}
            Decision::LeaveAlone => return Ok(Outcome::LeftAlone),
            Decision::Replace(process) => {
                process.signal(Signal::KILL);
                if !process.wait(Duration::from_millis(KILL_MS)) {
                    return Err(does_not_die());
                }
            }
        }
    }
    failpoint::hit("launch.before_start");
    start(folder, name, command)?;
    Ok(Outcome::Started)
}

fn start(folder: &Folder, name: &str, command: &mut Command) -> io::Result<()> {
    let launches = folder.launched(name).map_or(0, |launched| launched.launches) + 1;
    let process = Process::start(command, &folder.log(name))?;
    failpoint::hit("launch.started");
    folder.write_launched(name, Launched { process, launches })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::launch::launch;
    use crate::members::{Launch, Member, Role};

    struct Place {
        _temporary: tempfile::TempDir,
        folder: Folder,
        node: Member,
    }

    impl Place {
        fn new() -> Self {
            let temporary = tempfile::tempdir().unwrap();
            let folder = Folder::new(temporary.path());
            folder.prepare().unwrap();
            let node = Member {
                id: NodeId(1),
                name: "sleeper".into(),
                role: Role::Worker,
                host: "here".into(),
                health: "127.0.0.1:1".into(),
                launch: Launch::Process { program: "sleep".into(), arguments: vec!["600".into()] },
                listen: None,
            };
            Self { _temporary: temporary, folder, node }
        }

        fn launch(&self, dead: Option<Process>) -> Outcome {
            launch(&self.folder, &self.node, dead)
        }

        fn process(&self) -> Process {
            let processes = self.folder.processes("sleeper");
            assert_eq!(processes.len(), 1, "{processes:?}");
            processes[0]
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            for process in self.folder.processes("sleeper") {
                process.signal(Signal::KILL);
            }
        }
    }

    #[test]
    fn one_that_is_gone_is_started_one_that_runs_is_left_alone() {
        let place = Place::new();
        assert_eq!(place.launch(None), Outcome::Started);
        let first = place.process();
        assert_eq!(place.launch(None), Outcome::LeftAlone);
        let other = Process { started: first.started + 1, ..first };
        assert_eq!(place.launch(Some(other)), Outcome::LeftAlone);
        assert_eq!(place.process(), first);
        first.signal(Signal::KILL);
        assert!(first.wait(Duration::from_secs(10)));
        assert_eq!(place.launch(None), Outcome::Started);
        assert_ne!(place.process(), first);
        assert_eq!(place.folder.launched("sleeper").unwrap().launches, 2);
    }

    #[test]
    fn the_dead_one_is_killed_first_a_frozen_one_by_any_launcher() {
        let place = Place::new();
        place.launch(None);
        let first = place.process();
        assert_eq!(place.launch(Some(first)), Outcome::Started);
        assert!(!first.is_alive());
        let second = place.process();
        second.signal(Signal::STOP);
        while !second.is_frozen() {
            std::thread::yield_now();
        }
        assert_eq!(place.launch(None), Outcome::Started);
        assert!(!second.is_alive());
    }

    /// Ten that all believe they lead, and all have heard the one that died.
    #[test]
    fn many_launchers_at_once_start_one_process() {
        let place = Place::new();
        place.launch(None);
        let first = place.process();
        let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
            let launchers: Vec<_> =
                (0..10).map(|_| scope.spawn(|| place.launch(Some(first)))).collect();
            launchers.into_iter().map(|launcher| launcher.join().unwrap()).collect()
        });
        let started = outcomes.iter().filter(|outcome| **outcome == Outcome::Started).count();
        assert_eq!(started, 1, "{outcomes:?}");
        place.process();
        assert_eq!(place.folder.launched("sleeper").unwrap().launches, 2);
    }

    #[test]
    fn nothing_is_launched_once_the_cluster_is_being_stopped() {
        let place = Place::new();
        place.folder.stop_launches().unwrap();
        assert!(matches!(place.launch(None), Outcome::Failed { .. }));
        assert!(place.folder.processes("sleeper").is_empty());
    }

    #[test]
    fn what_cannot_be_started_says_why() {
        let mut place = Place::new();
        let program = "/no/such/program".into();
        place.node.launch = Launch::Process { program, arguments: vec![] };
        let Outcome::Failed { reason } = place.launch(None) else { panic!("it started") };
        assert!(reason.contains("No such file"), "{reason}");
    }
}
