//! What can be typed after `caudal shell`.

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::args::{ClusterArgs, EngineArgs, InputArgs, TimeArgs};
use crate::shell::mode::MODES;

/// Ask one question after the other: an interactive shell
///
/// SQL goes over as many lines as it needs and ends with a semicolon; a line that begins with a point is a command (.help lists
/// them). Tab completes, the arrow up brings back what was asked before, Ctrl-C ends a query, Ctrl-D the shell. Without a terminal
/// statements are read from standard input, and the exit code is 1 if one of them failed.
#[derive(Args)]
#[command(after_help = "Examples:
  caudal shell games.csv 'reviews_*.csv'     # tables games and reviews
  caudal shell -t 't=t.txt{delimiter=\"|\"}'
  caudal shell --gateway host:7070 games.csv
  echo \"SELECT count(*) FROM 'games.csv';\" | caudal shell")]
pub struct ShellArgs {
    /// Files, folders or patterns, each a table that is called as they are
    #[arg(value_name = "FILES[{OPTIONS}]")]
    pub files: Vec<String>,
    /// A table: its name in SQL, its files, and how they are written
    #[arg(short, long = "table", value_name = "NAME=FILES[{OPTIONS}]")]
    pub tables: Vec<String>,
    /// A value for $NAME in the SQL
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// How to write answers, as .mode: a table on a terminal, CSV otherwise, unless said here
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(MODES))]
    pub format: Option<String>,
    /// Say nothing but results, errors and how many rows were left out
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub times: TimeArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
