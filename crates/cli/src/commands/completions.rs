//! `caudal completions`: what shells complete of its calls.

use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::shells;

use crate::Done;
use crate::args::Caudal;
use crate::output::print;

/// Print a script that makes bash, zsh or fish complete calls of caudal
#[derive(Args)]
#[command(after_help = "Examples:
  caudal completions bash > ~/.local/share/bash-completion/completions/caudal
  caudal completions zsh > ~/.zfunc/_caudal            # with fpath+=~/.zfunc before compinit
  caudal completions fish > ~/.config/fish/completions/caudal.fish")]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub fn run(args: CompletionsArgs) -> Done {
    let mut script = vec![];
    let (mut program, name) = (without_hidden(Caudal::command()), "caudal");
    match args.shell {
        Shell::Bash => clap_complete::generate(shells::Bash, &mut program, name, &mut script),
        Shell::Zsh => clap_complete::generate(shells::Zsh, &mut program, name, &mut script),
        Shell::Fish => clap_complete::generate(shells::Fish, &mut program, name, &mut script),
    }
    Ok(print(&String::from_utf8_lossy(&script))?)
}

/// The program with the commands that are meant to be typed: the scripts would offer the others, too.
fn without_hidden(program: Command) -> Command {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("caudal").version(env!("CARGO_PKG_VERSION")).subcommands(commands.cloned())
}
