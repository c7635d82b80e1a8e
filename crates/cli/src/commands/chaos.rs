//! `caudal chaos`: kills and freezes nodes of the cluster on this machine.

use std::io::{self, BufRead, IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use caudal_core::{codes, limits};

use crate::Done;
use crate::chaos::choice::{Choice, Kind, is_last_monitor};
use crate::chaos::faults::Faults;
use crate::cluster::args::ChaosArgs;
use crate::cluster::nodes::stop_signal;
use crate::cluster::state::Cluster;
use crate::commands::status::{self, Status};
use crate::error::Failed;

/// Time that a cluster may take to be whole again when nobody hits it any more.
const MEND: Duration = Duration::from_secs(limits::MEND_SECONDS_MAX);
const LOOK: Duration = Duration::from_millis(limits::MEND_LOOK_MS);

pub fn run(args: ChaosArgs) -> Done {
    let cluster = status::load(&args.place)?;
    let mut faults = Faults::new(&cluster, args.log.as_deref())?;
    match args.interval {
        Some(interval) => at_random(&args, interval, &cluster, &mut faults),
        None => by_hand(&args, &cluster, &mut faults),
    }
}

fn at_random(
    args: &ChaosArgs,
    interval: Duration,
    cluster: &Cluster,
    faults: &mut Faults<'_>,
) -> Done {
    let stop = stop_signal();
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    eprintln!("--seed {seed} chooses the same again");
    let mut choice = Choice::new(seed, args.kinds.clone(), args.spare_window, !args.no_mercy);
    let deadline = args.duration.map(|duration| Instant::now() + duration);
    let is_over = || stop.get() > 0 || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut next = Instant::now();
    while !is_over() {
        if Instant::now() < next {
            thread::sleep(LOOK.min(interval));
            continue;
        }
        next += interval;
        if let Some((node, kind)) = choice.next(&faults.targets(), Instant::now()) {
            faults.strike(&node, kind)?;
        }
    }
    eprintln!("{} killed, {} frozen", faults.kills, faults.freezes);
    wait_until_whole(cluster)
}

fn wait_until_whole(cluster: &Cluster) -> Done {
    let started = Instant::now();
    loop {
        let status = Status::of_all(cluster)?;
        let down: Vec<&str> = status
            .nodes
            .iter()
            .filter(|node| node.state != "up")
            .map(|node| node.member.name.as_str())
            .collect();
        if down.is_empty() && status.leader.is_some() {
            let seconds = started.elapsed().as_secs_f64();
            eprintln!(
                "all {} nodes are up, {seconds:.1} s after the last fault",
                status.nodes.len()
            );
            return Ok(());
        }
        if started.elapsed() > MEND {
            let message = match down.is_empty() {
                true => "the monitors find no leader".to_string(),
                false => format!("not up again after {} s: {}", MEND.as_secs(), down.join(", ")),
            };
            return Err(Failed::new(codes::CLUSTER_DID_NOT_MEND, message).hint(
                "caudal status shows the nodes; their logs are in the cluster's folder".to_string(),
            ));
        }
        thread::sleep(LOOK);
    }
}

/// Does what is typed.
fn by_hand(args: &ChaosArgs, cluster: &Cluster, faults: &mut Faults<'_>) -> Done {
    let prompts = io::stdin().is_terminal();
    let prompt = || {
        if prompts {
            eprint!("chaos> ");
        }
    };
    prompt();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["list"] => writeln!(io::stdout(), "{}", Status::of_all(cluster)?.table(cluster))?,
            ["kill", node] => by_name(args, faults, node, Kind::Kill)?,
            ["freeze", node] => by_name(args, faults, node, Kind::Freeze)?,
            ["thaw", node] => {
                if !faults.thaw(node)? {
                    eprintln!("there is no process of {node}");
                }
            }
            ["exit" | "quit"] => return Ok(()),
            _ => eprintln!("list, kill NODE, freeze NODE, thaw NODE or exit"),
        }
        prompt();
    }
    Ok(())
}

fn by_name(args: &ChaosArgs, faults: &mut Faults<'_>, node: &str, kind: Kind) -> io::Result<()> {
    let targets = faults.targets();
    let Some(target) = targets.iter().find(|target| target.name == node) else {
        eprintln!("there is no node {node}; `list` shows all");
        return Ok(());
    };
    if is_last_monitor(target, &targets) && !args.no_mercy {
        eprintln!("{node} is the last monitor: without it nothing comes back; --no-mercy does it");
        return Ok(());
    }
    if !faults.strike(node, kind)? {
        eprintln!("there is no process of {node}");
    }
    Ok(())
}
