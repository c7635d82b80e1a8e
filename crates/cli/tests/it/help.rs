//! The help texts are the manual: a change to one is a change to the product.

use insta::assert_snapshot;

use crate::place::Place;

pub fn help(args: &[&str]) -> String {
    Place::new().caudal(args).answer()
}

#[test]
fn the_program() {
    assert_snapshot!(help(&["--help"]), @"
    SQL over files, exact whatever dies.

    Start with `caudal demo`: it generates data for four suites, answers their nineteen questions and
    checks every answer.

    Usage: caudal <COMMAND>

    Commands:
      demo         Generate small data for every suite, answer all their questions, check every answer
      run          Answer the questions of a suite
      query        Answer one SELECT over files: CSV, JSON, Parquet, Arrow
      shell        Ask one question after the other: an interactive shell
      schema       Show what is in a file: columns, types, how it is written, how many rows fit
      explain      Show how a query or a suite is divided into stages
      check        Compare results with expected ones, or with what DataFusion alone answers
      generate     Make data for a suite, with the dirt of the real files
      up           Run a whole cluster on this machine
      status       Show the nodes of a cluster on this machine
      down         Stop a cluster on this machine
      sessions     List the sessions of a cluster that were opened with this token
      cancel       End sessions of a cluster, whoever waits for their answers
      clients      Run many clients of a cluster at once, and check every answer
      chaos        Kill and freeze nodes of the cluster on this machine, and see it mend
      worker       Work for the sessions of a cluster
      gateway      Open a cluster to clients, by Arrow Flight
      monitor      Watch over the nodes of a cluster, and bring back those that die
      limits       Print every bound of the system, and what is seen when it is met
      completions  Print a script that makes bash, zsh or fish complete calls of caudal
      man          Print the manual page, or write a page for each command
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
    assert_eq!(help(&["--version"]), concat!("caudal ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn demo() {
    assert_snapshot!(help(&["demo", "--help"]), @"
    Generate small data for every suite, answer all their questions, check every answer

    Each answer is compared with the one that DataFusion alone gives on the same data.

    Usage: caudal demo [OPTIONS] [SUITE]...

    Arguments:
      [SUITE]...
              Only these suites

    Options:
          --scale <SCALE>
              Size of the data: 1 is the size of the public datasets, several GB each
              
              [default: 0.002]

          --seed <SEED>
              The same seed gives the same data
              
              [default: 1]

          --threads <THREADS>
              Compute threads [default: one per core]

          --shards <SHARDS>
              How many shards joins and aggregates are divided over [default: one per thread, at least
              2]

          --memory <MEMORY>
              Memory for joins, aggregates and sorts before they spill to disk, e.g. 512M or 8G
              [default: half of the machine's, or of the container's]

      -h, --help
              Print help (see a summary with '-h')
    ");
}

#[test]
fn run() {
    assert_snapshot!(help(&["run", "--help"]), @r#"
    Answer the questions of a suite

    A suite is a folder with a suite.toml and one .sql file per query. Four come with the program:
    steam, movies, books, coffee.

    Usage: caudal run [OPTIONS] --data <DIR> <SUITE>

    Arguments:
      <SUITE>
              The name of a built-in suite, or the folder of your own

    Options:
          --data <DIR>
              The folder with the suite's data

      -q, --queries <NAMES>
              Only these queries

      -p, --param <NAME=VALUE>
              Set a parameter of the suite

      -o, --out <FILE|DIR>
              Write to a file instead of to stdout: result.csv, .tsv, .json, .ndjson, .parquet, .arrow,
              .md or .txt, text also with .gz or .zst after it. Another name is that of a folder, with a
              file for each result

          --format <FORMAT>
              How to write results: as the name of --out says, else a table on a terminal, CSV
              otherwise, unless said here

              Possible values:
              - table:    Drawn, for people
              - csv
              - json:     An array of objects; several results are an object of them
              - ndjson:   One object a line; with several results, {"query":...,"row":{...}}
              - markdown
              - parquet:  For files and pipes
              - arrow:    Arrow IPC: a file (Feather 2), on stdout a stream

          --delimiter <CHARACTER>
              What is between fields of CSV: a character, or tab [default: a comma; a tab for .tsv]

          --quiet
              Say nothing but results, errors and how many rows were left out

          --rejects <DIR>
              Keep rows that do not fit their table, one file per table in this folder

          --strict
              A row that does not fit its table is an error

          --strict-rows
              Judge a row by all columns of its table, whichever the queries need

          --rejected-max <PERCENT>
              How many of a table's rows may not fit, in percent of all; more than that, or all, is an
              error [default: 10]

          --lenient
              However many rows do not fit, it is no error

          --threads <THREADS>
              Compute threads [default: one per core]

          --shards <SHARDS>
              How many shards joins and aggregates are divided over [default: one per thread, at least
              2]

          --memory <MEMORY>
              Memory for joins, aggregates and sorts before they spill to disk, e.g. 512M or 8G
              [default: half of the machine's, or of the container's]

          --timeout <TIME>
              How long it may take, e.g. 30s or 10m; then it ends, with all its work [default: as long
              as it takes]

          --wait <TIME>
              How long to wait for its turn on a cluster that has as many sessions open as it allows
              
              [default: 60s]

          --gateway <HOST:PORT>
              The gateways of a cluster; when one is lost, another goes on
              
              A run then goes to the cluster instead of being carried out in this process: --threads
              only read files, and the gateway says how many --shards there are by default. The port is
              7070 if it is left out; grpcs:// before the host asks for TLS.
              
              [env: CAUDAL_GATEWAY]

          --token <TOKEN>
              The token to show to the gateways; better in the variable, for others on this machine see
              options
              
              [env: CAUDAL_TOKEN]

          --ca <FILE>
              Use TLS, and check the gateways against the certificates in this file (PEM)

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      caudal run steam --data ./steam
      caudal run books --data ./books --queries q3,q4 --param min_reviews=100 --out results
      caudal run ./my-suite --data ./my-data --format ndjson
      caudal run steam --data ./steam --gateway host:7070,host2:7070
    "#);
}

#[test]
fn explain() {
    assert_snapshot!(help(&["explain", "--help"]), @r#"
    Show how a query or a suite is divided into stages

    Usage: caudal explain [OPTIONS] <SUITE|--command <SQL>>

    Arguments:
      [SUITE]
              The name of a built-in suite, or the folder of your own

    Options:
      -q, --queries <NAMES>
              Only these queries

      -p, --param <NAME=VALUE>
              Set a parameter of the suite

          --data <DIR>
              The folder with the suite's data, where only its files say which columns a table has

      -c, --command <SQL>
              SQL instead of a suite

      -t, --table <NAME=FILES[{OPTIONS}]>
              A table of the SQL: its name, its file or files, and how they are written

          --format <FORMAT>
              How to show the stages

              Possible values:
              - text:    In words
              - mermaid: A graph for Markdown pages
              - dot:     A graph for Graphviz
              - plan:    DataFusion's operators in each stage
              
              [default: text]

          --shards <SHARDS>
              How many shards to plan for
              
              [default: 4]

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      caudal explain steam
      caudal explain steam --queries q5 --format mermaid
      caudal explain -c "SELECT a, count(*) FROM t GROUP BY a" -t t=t.csv
    "#);
}

#[test]
fn check() {
    assert_snapshot!(help(&["check", "--help"]), @"
    Compare results with expected ones, or with what DataFusion alone answers

    Usage: caudal check [OPTIONS] <--against <DIR>|--suite <SUITE>> <RESULTS>

    Arguments:
      <RESULTS>  The folder with the results, one CSV file per query

    Options:
          --against <DIR>       The folder with the expected results
          --suite <SUITE>       Compute what is expected: the suite to answer in a single process by
                                DataFusion alone
          --data <DIR>          The folder with the suite's data
      -q, --queries <NAMES>     Only these queries
      -p, --param <NAME=VALUE>  Set a parameter of the suite
          --ordered             Rows must come in the same order, too
      -h, --help                Print help

    Examples:
      caudal run coffee --data ./coffee --out results && caudal check results --against expected
      caudal check results --suite coffee --data ./coffee
    ");
}

#[test]
fn generate() {
    assert_snapshot!(help(&["generate", "--help"]), @"
    Make data for a suite, with the dirt of the real files

    Usage: caudal generate [OPTIONS] --out <DIR> <SUITE>

    Arguments:
      <SUITE>  steam, movies, books or coffee

    Options:
          --scale <SCALE>  Size of the data: 1 is the size of the public dataset [default: 0.01]
          --seed <SEED>    The same seed gives the same data [default: 1]
          --out <DIR>      Where to write it
      -h, --help           Print help

    Example:
      caudal generate steam --scale 0.1 --out ./steam
    ");
}

/// The listing is made of the declarations, so that none can be missing.
#[test]
fn limits() {
    let listing = help(&["limits"]);
    let bounds: Vec<_> = caudal_core::limits::ALL.iter().flat_map(|group| group.limits).collect();
    assert_eq!(listing.lines().filter(|line| line.starts_with("  ")).count(), bounds.len());
    for bound in bounds {
        let words = [bound.name, &bound.shown(), &bound.met.to_string()].map(str::to_string);
        let is_line = |line: &str| words.iter().all(|word| line.contains(word));
        assert!(listing.lines().any(is_line), "{} is not in\n{listing}", bound.name);
    }
    assert!(listing.contains("256 MiB  CDL-1007: a record that does not end"), "{listing}");
}
