//! What can be typed. The help texts are the manual.

use std::path::PathBuf;
use std::time::Duration;

use caudal_core::limits;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::cluster::args::{
    BrokerArgs, ChaosArgs, DownArgs, GatewayArgs, MonitorArgs, PlaceArgs, StatusArgs, UpArgs,
    WorkerArgs,
};
use crate::commands::completions::CompletionsArgs;
use crate::commands::man::ManArgs;
use crate::output::Format;
use crate::shell::args::ShellArgs;

/// SQL over files, exact whatever dies.
///
/// Start with `caudal demo`: it generates data for four suites, answers their nineteen questions and
/// checks every answer.
#[derive(Parser)]
#[command(name = "caudal", version, max_term_width = 100)]
pub struct Caudal {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Query(QueryArgs),
    Shell(ShellArgs),
    Schema(SchemaArgs),
    Explain(ExplainArgs),
    Check(CheckArgs),
    Generate(GenerateArgs),
    Up(UpArgs),
    Status(StatusArgs),
    Down(DownArgs),
    Sessions(SessionsArgs),
    Cancel(CancelArgs),
    Clients(ClientsArgs),
    Chaos(ChaosArgs),
    Worker(WorkerArgs),
    Gateway(GatewayArgs),
    Monitor(MonitorArgs),
    /// Print every bound of the system, and what is seen when it is met
    Limits,
    Completions(CompletionsArgs),
    Man(ManArgs),
    // `caudal up` starts it for itself; who has a RabbitMQ names it.
    #[command(hide = true)]
    Broker(BrokerArgs),
    // A gateway starts it for itself.
    #[command(hide = true)]
    Planner,
}

/// Generate small data for every suite, answer all their questions, check every answer
///
/// Each answer is compared with the one that DataFusion alone gives on the same data.
#[derive(Args)]
pub struct DemoArgs {
    /// Only these suites
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// Size of the data: 1 is the size of the public datasets, several GB each
    #[arg(long, default_value_t = 0.002)]
    pub scale: f64,
    /// The same seed gives the same data
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// Answer the questions of a suite
///
/// A suite is a folder with a suite.toml and one .sql file per query. Four come with the program:
/// steam, movies, books, coffee.
#[derive(Args)]
#[command(after_help = "Examples:
  caudal run steam --data ./steam
  caudal run books --data ./books --queries q3,q4 --param min_reviews=100 --out results
  caudal run ./my-suite --data ./my-data --format ndjson
  caudal run steam --data ./steam --gateway host:7070,host2:7070")]
pub struct RunArgs {
    /// The name of a built-in suite, or the folder of your own
    pub suite: String,
    /// The folder with the suite's data
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub times: TimeArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Answer one SELECT over files: CSV, JSON, Parquet, Arrow
///
/// What a file is, and how it is compressed, its first bytes say. Delimiters of CSV and types are guessed from the first
/// rows of each file, unless they are said: options
/// in braces after a table's files are a table of TOML, with encoding, delimiter, quote, escape, comment, header, skip,
/// fields, null, true, false, decimal, thousands, date, timestamp and types.
#[derive(Args)]
#[command(group(ArgGroup::new("query").args(["sql", "file", "files"]).required(true).multiple(true)), after_help = "Examples:
  caudal query games.csv
  caudal query -c \"SELECT count(*) FROM 'games.csv'\"
  caudal query -c \"SELECT count(*) FROM games\" -t games=games.csv
  caudal query -f top.sql -t reviews='reviews_*.csv' -t games=games.csv --param least=10 > top.csv
  caudal query -c \"SELECT c2 FROM t\" -t 't=t.txt{delimiter=\"|\", header=false, null=[\"NA\", \"-\"]}'
  caudal query -c \"SELECT sum(price) FROM t\" -t 't=t.csv{decimal=\",\", types={id=\"text\"}}'")]
pub struct QueryArgs {
    /// Files that are the table t; without SQL all of it is shown
    #[arg(value_name = "FILES[{OPTIONS}]")]
    pub files: Option<String>,
    /// The SQL; a file or pattern in single quotes is a table: FROM 'games.csv'
    #[arg(
        short = 'c',
        long = "command",
        value_name = "SQL",
        allow_hyphen_values = true,
        conflicts_with = "file"
    )]
    pub sql: Option<String>,
    /// A file with the SQL; - for standard input
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// A table: its name in SQL, its file, files (* and ? match) or folder, - for standard input, and how they are written
    #[arg(short, long = "table", value_name = "NAME=FILES[{OPTIONS}]")]
    pub tables: Vec<String>,
    /// A value for $NAME in the SQL: a number if it is written as one (007 is a text, 9223372036854775808 a decimal),
    /// true, false, or a text; '7' is a text
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub times: TimeArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Show what is in a file: columns, types, how it is written, how many rows fit
///
/// All of it is read. What is printed of how it is written can be said to caudal query in the same braces.
#[derive(Args)]
#[command(after_help = "Examples:
  caudal schema games.csv
  caudal schema 'reviews_*.csv' --format json
  caudal schema 't.txt{header=false, null=\"NA\"}'")]
pub struct SchemaArgs {
    /// A file, a folder, or all that a pattern matches (* and ?), and how they are written
    #[arg(value_name = "FILES[{OPTIONS}]")]
    pub files: String,
    /// How to write it: a table on a terminal, CSV otherwise, unless said here
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Say nothing of guesses
    #[arg(long)]
    pub quiet: bool,
}

/// Show how a query or a suite is divided into stages
#[derive(Args)]
#[command(group(ArgGroup::new("what").args(["suite", "sql"]).required(true)), after_help = "Examples:
  caudal explain steam
  caudal explain steam --queries q5 --format mermaid
  caudal explain -c \"SELECT a, count(*) FROM t GROUP BY a\" -t t=t.csv")]
pub struct ExplainArgs {
    /// The name of a built-in suite, or the folder of your own
    pub suite: Option<String>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// The folder with the suite's data, where only its files say which columns a table has
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub data: Option<PathBuf>,
    /// SQL instead of a suite
    #[arg(short = 'c', long = "command", value_name = "SQL", allow_hyphen_values = true)]
    pub sql: Option<String>,
    /// A table of the SQL: its name, its file or files, and how they are written
    #[arg(short, long = "table", value_name = "NAME=FILES[{OPTIONS}]")]
    pub tables: Vec<String>,
    /// How to show the stages
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
    /// How many shards to plan for
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=limits::SHARDS_MAX as i64))]
    pub shards: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// In words
    Text,
    /// A graph for Markdown pages
    Mermaid,
    /// A graph for Graphviz
    Dot,
    /// DataFusion's operators in each stage
    Plan,
}

/// Compare results with expected ones, or with what DataFusion alone answers
#[derive(Args)]
#[command(group(ArgGroup::new("expected").args(["against", "suite"]).required(true)), after_help = "Examples:
  caudal run coffee --data ./coffee --out results && caudal check results --against expected
  caudal check results --suite coffee --data ./coffee")]
pub struct CheckArgs {
    /// The folder with the results, one CSV file per query
    pub results: PathBuf,
    /// The folder with the expected results
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Compute what is expected: the suite to answer in a single process by DataFusion alone
    #[arg(long, requires = "data")]
    pub suite: Option<String>,
    /// The folder with the suite's data
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Rows must come in the same order, too
    #[arg(long)]
    pub ordered: bool,
}

/// Make data for a suite, with the dirt of the real files
#[derive(Args)]
#[command(after_help = "Example:
  caudal generate steam --scale 0.1 --out ./steam")]
pub struct GenerateArgs {
    /// steam, movies, books or coffee
    pub suite: String,
    /// Size of the data: 1 is the size of the public dataset
    #[arg(long, default_value_t = 0.01)]
    pub scale: f64,
    /// The same seed gives the same data
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where to write it
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// List the sessions of a cluster that were opened with this token
#[derive(Args)]
pub struct SessionsArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// End sessions of a cluster, whoever waits for their answers
#[derive(Args)]
pub struct CancelArgs {
    /// The sessions, as `caudal sessions` calls them
    #[arg(required = true, value_name = "SESSION")]
    pub sessions: Vec<String>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Run many clients of a cluster at once, and check every answer
///
/// Each client is a process of its own that answers a suite, and is compared with the answers of one
/// process. While they run, standard input takes commands: list, kill NUMBER, exit.
#[derive(Args)]
#[command(after_help = "Examples:
  caudal up --detach && caudal clients 6
  caudal clients 4 steam coffee --for 10m --stagger 500ms
  caudal clients 8 --data ./data --gateway host:7070,host2:7070   # ./data/steam, ./data/movies, ...")]
pub struct ClientsArgs {
    /// How many clients
    #[arg(value_parser = clap::value_parser!(u32).range(1..=limits::CLIENTS_MAX))]
    pub count: u32,
    /// The suites that they take turns with [default: steam, movies, books, coffee]
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// A folder with a folder of data for each suite; without it, small data is generated
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Size of the data that is generated
    #[arg(long, default_value_t = 0.002, conflicts_with = "data")]
    pub scale: f64,
    /// How often each client runs its suite
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Run again and again for so long, e.g. 90s or 10m
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, conflicts_with = "repeat")]
    pub duration: Option<Duration>,
    /// Start each client so much later than the one before
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    pub stagger: Duration,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Which queries, with which parameters
#[derive(Args, Default)]
pub struct ChoiceArgs {
    /// Only these queries
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub queries: Vec<String>,
    /// Set a parameter of the suite
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
}

#[derive(Args, Default)]
pub struct OutputArgs {
    /// Write to a file instead of to stdout: result.csv, .tsv, .json, .ndjson, .parquet, .arrow, .md or .txt, text also
    /// with .gz or .zst after it. Another name is that of a folder, with a file for each result
    #[arg(short, long, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
    /// How to write results: as the name of --out says, else a table on a terminal, CSV otherwise, unless said here
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// What is between fields of CSV: a character, or tab [default: a comma; a tab for .tsv]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
    /// Say nothing but results, errors and how many rows were left out
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Args, Default)]
pub struct InputArgs {
    /// Keep rows that do not fit their table, one file per table in this folder
    #[arg(long, value_name = "DIR")]
    pub rejects: Option<PathBuf>,
    /// A row that does not fit its table is an error
    #[arg(long)]
    pub strict: bool,
    /// Judge a row by all columns of its table, whichever the queries need
    #[arg(long)]
    pub strict_rows: bool,
    /// How many of a table's rows may not fit, in percent of all; more than that, or all, is an error [default: 10]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, conflicts_with = "strict")]
    pub rejected_max: Option<f64>,
    /// However many rows do not fit, it is no error
    #[arg(long, conflicts_with_all = ["strict", "rejected_max"])]
    pub lenient: bool,
}

/// Which cluster, and how to be let in
#[derive(Args)]
pub struct ClusterArgs {
    /// The gateways of a cluster; when one is lost, another goes on
    ///
    /// A run then goes to the cluster instead of being carried out in this process: --threads only read
    /// files, and the gateway says how many --shards there are by default. The port is 7070 if it is left
    /// out; grpcs:// before the host asks for TLS.
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        env = "CAUDAL_GATEWAY",
        hide_env_values = true
    )]
    pub gateway: Vec<String>,
    /// The token to show to the gateways; better in the variable, for others on this machine see options
    #[arg(long, env = "CAUDAL_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Use TLS, and check the gateways against the certificates in this file (PEM)
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

#[derive(Args, Clone, Copy)]
pub struct EngineArgs {
    /// Compute threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=limits::THREADS_MAX))]
    pub threads: Option<u32>,
    /// How many shards joins and aggregates are divided over [default: one per thread, at least 2]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=limits::SHARDS_MAX as i64))]
    pub shards: Option<u32>,
    /// Memory for joins, aggregates and sorts before they spill to disk, e.g. 512M or 8G [default: half of the
    /// machine's, or of the container's]
    #[arg(long, value_parser = parse_bytes)]
    pub memory: Option<usize>,
}

#[derive(Args, Clone, Copy)]
pub struct TimeArgs {
    /// How long it may take, e.g. 30s or 10m; then it ends, with all its work [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// How long to wait for its turn on a cluster that has as many sessions open as it allows
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub wait: Duration,
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => Err("quotes and line ends have another meaning".to_string()),
        [byte] => Ok(*byte),
        _ => Err(format!("{text:?} is not one character of ASCII, nor `tab`")),
    }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    let percent: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    (0.0..=100.0).contains(&percent).then_some(percent).ok_or("a share is 0 to 100 %".to_string())
}

pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_ms = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => return Err(format!("{other:?} is not a unit; use ms, s, m or h")),
    };
    let number: u64 = digits.trim().parse().map_err(|_| format!("{digits:?} is not a number"))?;
    let ms = number.checked_mul(unit_ms).ok_or_else(|| "out of range".to_string())?;
    Ok(Duration::from_millis(ms))
}

/// One that passes.
pub fn parse_interval(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        Duration::ZERO => Err("it has to be longer than nothing".to_string()),
        interval => Ok(interval),
    }
}

pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches(['B', 'I']) {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        other => return Err(format!("{other:?} is not a unit; use K, M or G")),
    };
    let number: usize = digits.trim().parse().map_err(|_| format!("{digits:?} is not a number"))?;
    number.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or_else(|| "out of range".to_string())
}
