//! Help texts of commands that take files.

use insta::assert_snapshot;

use crate::help::help;

#[test]
fn query() {
    assert_snapshot!(help(&["query", "--help"]), @r#"
    Answer one SELECT over files: CSV, JSON, Parquet, Arrow

    What a file is, and how it is compressed, its first bytes say. Delimiters of CSV and types are
    guessed from the first rows of each file, unless they are said: options in braces after a table's
    files are a table of TOML, with encoding, delimiter, quote, escape, comment, header, skip, fields,
    null, true, false, decimal, thousands, date, timestamp and types.

    Usage: caudal query [OPTIONS] <--command <SQL>|--file <FILE>|FILES[{OPTIONS}]>

    Arguments:
      [FILES[{OPTIONS}]]
              Files that are the table t; without SQL all of it is shown

    Options:
      -c, --command <SQL>
              The SQL; a file or pattern in single quotes is a table: FROM 'games.csv'

      -f, --file <FILE>
              A file with the SQL; - for standard input

      -t, --table <NAME=FILES[{OPTIONS}]>
              A table: its name in SQL, its file, files (* and ? match) or folder, - for standard input,
              and how they are written

      -p, --param <NAME=VALUE>
              A value for $NAME in the SQL: a number if it is written as one (007 is a text,
              9223372036854775808 a decimal), true, false, or a text; '7' is a text

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
      caudal query games.csv
      caudal query -c "SELECT count(*) FROM 'games.csv'"
      caudal query -c "SELECT count(*) FROM games" -t games=games.csv
      caudal query -f top.sql -t reviews='reviews_*.csv' -t games=games.csv --param least=10 > top.csv
      caudal query -c "SELECT c2 FROM t" -t 't=t.txt{delimiter="|", header=false, null=["NA", "-"]}'
      caudal query -c "SELECT sum(price) FROM t" -t 't=t.csv{decimal=",", types={id="text"}}'
    "#);
}

#[test]
fn schema() {
    assert_snapshot!(help(&["schema", "--help"]), @r#"
    Show what is in a file: columns, types, how it is written, how many rows fit

    All of it is read. What is printed of how it is written can be said to caudal query in the same
    braces.

    Usage: caudal schema [OPTIONS] <FILES[{OPTIONS}]>

    Arguments:
      <FILES[{OPTIONS}]>
              A file, a folder, or all that a pattern matches (* and ?), and how they are written

    Options:
          --format <FORMAT>
              How to write it: a table on a terminal, CSV otherwise, unless said here

              Possible values:
              - table:    Drawn, for people
              - csv
              - json:     An array of objects; several results are an object of them
              - ndjson:   One object a line; with several results, {"query":...,"row":{...}}
              - markdown
              - parquet:  For files and pipes
              - arrow:    Arrow IPC: a file (Feather 2), on stdout a stream

          --quiet
              Say nothing of guesses

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      caudal schema games.csv
      caudal schema 'reviews_*.csv' --format json
      caudal schema 't.txt{header=false, null="NA"}'
    "#);
}
