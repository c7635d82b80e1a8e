//! `caudal`: SQL over files, in one process or on a cluster.
//!
//! stdout is data, stderr is everything else. Exit codes: 0; 1, a query failed; 2, usage or input;
//! 130, interrupted.

mod answering;
mod answers;
mod args;
mod chaos;
mod cluster;
mod commands;
mod error;
mod interrupt;
mod job;
mod load;
mod oracle;
mod output;
mod plain_text;
mod progress;
mod rejects;
mod session;
mod shell;
mod showing;

use std::process::ExitCode;

use clap::Parser;
use rustix::fs::Mode;

use crate::args::{Caudal, Command};
use crate::error::Failed;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = match shell::is_meant(std::env::args_os().len()) {
        true => Caudal::parse_from(["caudal", "shell"]).command,
        false => Caudal::parse().command,
    };
    // Whoever runs a cluster leaves in order instead, and a planner when its gateway does.
    let leaves_in_order = matches!(
        command,
        Command::Broker(_)
            | Command::Worker(_)
            | Command::Gateway(_)
            | Command::Monitor(_)
            | Command::Planner
            | Command::Up(_)
            | Command::Chaos(_)
    );
    if leaves_in_order {
        // Journals, logs and secrets of a cluster are for the user who runs it.
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
    } else if !matches!(command, Command::Shell(_)) {
        // A shell outlives what is interrupted.
        interrupt::watch();
    }
    let done = match command {
        Command::Demo(args) => commands::demo::run(args),
        Command::Run(args) => commands::run::run(args),
        Command::Query(args) => commands::query::run(args),
        Command::Shell(args) => shell::run(args),
        Command::Schema(args) => commands::schema::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Check(args) => commands::check::run(args),
        Command::Generate(args) => commands::generate::run(args),
        Command::Up(args) => commands::up::run(args),
        Command::Status(args) => commands::status::run(args),
        Command::Down(args) => commands::down::run(args),
        Command::Sessions(args) => commands::sessions::run(args),
        Command::Cancel(args) => commands::cancel::run(args),
        Command::Clients(args) => commands::clients::run(args),
        Command::Chaos(args) => commands::chaos::run(args),
        Command::Broker(args) => commands::broker::run(args),
        Command::Worker(args) => commands::worker::run(args),
        Command::Gateway(args) => commands::gateway::run(args),
        Command::Monitor(args) => commands::monitor::run(args),
        Command::Planner => commands::planner::run(),
        Command::Limits => commands::limits::run(),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man(args) => commands::man::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            failed.tell();
            failed.exit_code()
        }
    }
}

/// Outcome of a command.
type Done = Result<(), Failed>;
