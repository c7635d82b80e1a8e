//! The help texts of the shell, and of what other shells and manuals are given; as [`crate::help`].

use insta::assert_snapshot;

use crate::help::help;

#[test]
fn the_shell() {
    assert_snapshot!(help(&["shell", "-h"]), @r#"
    Ask one question after the other: an interactive shell

    Usage: caudal shell [OPTIONS] [FILES[{OPTIONS}]]...

    Arguments:
      [FILES[{OPTIONS}]]...  Files, folders or patterns, each a table that is called as they are

    Options:
      -t, --table <NAME=FILES[{OPTIONS}]>  A table: its name in SQL, its files, and how they are written
      -p, --param <NAME=VALUE>             A value for $NAME in the SQL
          --format <MODE>                  How to write answers, as .mode: a table on a terminal, CSV
                                           otherwise, unless said here [possible values: table, csv,
                                           json, ndjson, markdown]
          --quiet                          Say nothing but results, errors and how many rows were left
                                           out
          --rejects <DIR>                  Keep rows that do not fit their table, one file per table in
                                           this folder
          --strict                         A row that does not fit its table is an error
          --strict-rows                    Judge a row by all columns of its table, whichever the
                                           queries need
          --rejected-max <PERCENT>         How many of a table's rows may not fit, in percent of all;
                                           more than that, or all, is an error [default: 10]
          --lenient                        However many rows do not fit, it is no error
          --threads <THREADS>              Compute threads [default: one per core]
          --shards <SHARDS>                How many shards joins and aggregates are divided over
                                           [default: one per thread, at least 2]
          --memory <MEMORY>                Memory for joins, aggregates and sorts before they spill to
                                           disk, e.g. 512M or 8G [default: half of the machine's, or of
                                           the container's]
          --timeout <TIME>                 How long it may take, e.g. 30s or 10m; then it ends, with all
                                           its work [default: as long as it takes]
          --wait <TIME>                    How long to wait for its turn on a cluster that has as many
                                           sessions open as it allows [default: 60s]
          --gateway <HOST:PORT>            The gateways of a cluster; when one is lost, another goes on
                                           [env: CAUDAL_GATEWAY]
          --token <TOKEN>                  The token to show to the gateways; better in the variable,
                                           for others on this machine see options [env: CAUDAL_TOKEN]
          --ca <FILE>                      Use TLS, and check the gateways against the certificates in
                                           this file (PEM)
      -h, --help                           Print help (see more with '--help')

    Examples:
      caudal shell games.csv 'reviews_*.csv'     # tables games and reviews
      caudal shell -t 't=t.txt{delimiter="|"}'
      caudal shell --gateway host:7070 games.csv
      echo "SELECT count(*) FROM 'games.csv';" | caudal shell
    "#);
}

#[test]
fn completions() {
    assert_snapshot!(help(&["completions", "--help"]), @"
    Print a script that makes bash, zsh or fish complete calls of caudal

    Usage: caudal completions <SHELL>

    Arguments:
      <SHELL>  Which shell [possible values: bash, zsh, fish]

    Options:
      -h, --help  Print help

    Examples:
      caudal completions bash > ~/.local/share/bash-completion/completions/caudal
      caudal completions zsh > ~/.zfunc/_caudal            # with fpath+=~/.zfunc before compinit
      caudal completions fish > ~/.config/fish/completions/caudal.fish
    ");
}

#[test]
fn manual_pages() {
    assert_snapshot!(help(&["man", "--help"]), @"
    Print the manual page, or write a page for each command

    Usage: caudal man [OPTIONS]

    Options:
      -o, --out <DIR>  Write all pages to files in this folder
      -h, --help       Print help

    Examples:
      caudal man | man -l -
      caudal man --out ~/.local/share/man/man1 && man caudal-query
    ");
}
