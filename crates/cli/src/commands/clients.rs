//! `caudal clients`: many clients of a cluster at once, every answer checked.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use caudal::codes;
use caudal_core::limits;

use crate::Done;
use crate::args::{ClientsArgs, ClusterArgs};
use crate::commands::status;
use crate::error::Failed;
use crate::load::client::{Client, Record, State, Until};
use crate::load::report;
use crate::load::workload::Workload;
use crate::output::{Format, writer};

/// Interval at which the table is drawn.
const DRAW: Duration = Duration::from_millis(limits::CLIENTS_DRAW_MS);

pub fn run(args: ClientsArgs) -> Done {
    let folder = tempfile::tempdir()?;
    let cluster = cluster_options(&args)?;
    let mut workloads = vec![];
    for suite in suites(&args) {
        eprintln!("{suite}: answering it in one process, to compare with");
        let data = args.data.as_ref().map(|data| data.join(&suite));
        workloads.push(Arc::new(Workload::prepare(
            &suite,
            data.as_deref(),
            args.scale,
            folder.path(),
        )?));
    }
    let clients: Vec<_> = (1..=args.count as usize)
        .map(|number| {
            let workload = Arc::clone(&workloads[(number - 1) % workloads.len()]);
            let token = args.cluster.token.clone();
            Client::new(number, workload, cluster.clone(), token, folder.path())
        })
        .collect();
    let until = Until {
        runs: args.repeat as usize,
        deadline: args.duration.map(|duration| Instant::now() + duration),
    };
    let threads: Vec<_> = clients
        .iter()
        .zip(0..)
        .map(|(client, place)| {
            let (client, wait) = (Arc::clone(client), args.stagger * place);
            thread::spawn(move || {
                thread::sleep(wait);
                client.live(until);
            })
        })
        .collect();
    attend(&clients, || threads.iter().all(|thread| thread.is_finished()));
    conclude(&clients)
}

fn suites(args: &ClientsArgs) -> Vec<String> {
    match args.suites.is_empty() {
        true => caudal_suite::NAMES.iter().map(|name| name.to_string()).collect(),
        false => args.suites.clone(),
    }
}

/// The cluster that was named, or the one on this machine. Its token goes another way: everybody sees the options of a process.
fn cluster_options(args: &ClientsArgs) -> Result<Vec<String>, Failed> {
    let ClusterArgs { gateway, token: _, ca } = &args.cluster;
    let gateways = match gateway.is_empty() {
        false => gateway.join(","),
        true => status::load(&args.place)?.gateways(),
    };
    let mut options = vec!["--gateway".to_string(), gateways];
    if let Some(ca) = ca {
        options.extend(["--ca".to_string(), ca.display().to_string()]);
    }
    Ok(options)
}

/// Shows how they are and does what is typed, until all are done.
fn attend(clients: &[Arc<Client>], all_done: impl Fn() -> bool) {
    let (live, commands) = (io::stderr().is_terminal(), commands());
    let mut drawn_lines = 0;
    let mut told: Vec<(usize, usize)> = vec![(0, 0); clients.len()];
    loop {
        let done = all_done();
        let records: Vec<Record> = clients.iter().map(|client| client.record()).collect();
        while let Ok(command) = commands.try_recv() {
            drawn_lines = 0;
            obey(&command, clients, &records);
        }
        if live {
            let lines = report::lines(&records);
            let mut out = io::stderr().lock();
            if drawn_lines > 0 {
                let _ = write!(out, "\x1b[{drawn_lines}A\x1b[J");
            }
            let _ = write!(out, "{lines}");
            drawn_lines = lines.lines().count();
        }
        for (record, told) in records.iter().zip(&mut told) {
            if !live {
                tell_outcomes(record, *told);
            }
            *told = (record.equal.len(), record.wrong.len());
        }
        if done {
            return;
        }
        thread::sleep(DRAW);
    }
}

/// Tells of runs that have ended since so many were told.
fn tell_outcomes(record: &Record, (equal, wrong): (usize, usize)) {
    let Record { number, suite, .. } = record;
    for took in &record.equal[equal..] {
        eprintln!("client {number}: {suite} equal in {:.2} s", took.as_secs_f64());
    }
    for why in &record.wrong[wrong..] {
        eprintln!("client {number}: {suite} WRONG: {}", why.trim_end());
    }
}

/// The lines of standard input, as they come.
fn commands() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn obey(command: &str, clients: &[Arc<Client>], records: &[Record]) {
    let words: Vec<&str> = command.split_whitespace().collect();
    let find = |number: &str| {
        let number: usize = number.parse().ok()?;
        clients.get(number.checked_sub(1)?)
    };
    match words[..] {
        [] => {}
        ["list"] => eprint!("{}", report::lines(records)),
        ["kill", number] => match find(number) {
            Some(client) => {
                client.kill();
                eprintln!("client {number} is killed");
            }
            None => eprintln!("there is no client {number}"),
        },
        ["exit"] => clients.iter().for_each(|client| client.kill()),
        _ => eprintln!("list, kill NUMBER or exit"),
    }
}

fn conclude(clients: &[Arc<Client>]) -> Done {
    let records: Vec<Record> = clients.iter().map(|client| client.record()).collect();
    for record in &records {
        for why in &record.wrong {
            eprintln!("client {}: {}:\n{}", record.number, record.suite, why.trim_end());
        }
    }
    let rows = report::rows(&records)?;
    let mut out = writer(Format::for_stdout(), rows.schema(), io::stdout())?;
    out.write(&rows)?;
    out.finish()?;
    eprintln!("{}", report::summary(&records));
    let wrong: usize = records.iter().map(|record| record.wrong.len()).sum();
    let nothing =
        records.iter().all(|record| record.equal.is_empty() && record.state != State::Killed);
    match (wrong, nothing) {
        (0, false) => Ok(()),
        (0, true) => Err(Failed::new(codes::CLIENTS_WENT_WRONG, "nothing was answered")),
        _ => Err(Failed::new(codes::CLIENTS_WENT_WRONG, format!("{wrong} runs went wrong"))),
    }
}
