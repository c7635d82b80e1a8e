//! `caudal shell`: statements and commands, one after the other, from a terminal or a script.
//!
//! What a line means is in [`session`], where lines come from in [`script`] and [`terminal`]. What is answered, and how it is
//! shown, is as in `caudal query`.

pub mod args;
mod command;
mod complete;
mod doing;
mod edit;
mod highlight;
mod history;
mod mode;
mod paths;
mod script;
mod session;
mod tables;
mod terminal;
mod waiting;

use std::io::{self, IsTerminal};

use crate::Done;
use crate::shell::args::ShellArgs;
use crate::shell::session::Session;

/// Whether a call without a command is one of the shell.
pub fn is_meant(arguments: usize) -> bool {
    arguments <= 1 && io::stdin().is_terminal() && io::stdout().is_terminal()
}

pub fn run(args: ShellArgs) -> Done {
    match io::stdin().is_terminal() {
        true => terminal::run(args),
        false => {
            crate::interrupt::watch();
            script::run(Session::open(args)?)
        }
    }
}
