//! The `caudal` program as people and scripts meet it: what it reads, prints and exits with.
//!
//! Each test runs the program in a folder of its own. Where the whole output is stable it is
//! compared as a whole, so that a message nobody meant to change cannot change.

#![allow(clippy::unwrap_used)]

mod ad_hoc;
mod any_file;
mod any_kind;
mod bad_calls;
mod bad_files;
mod bad_sql;
mod closed_pipe;
mod completions;
mod dialects;
mod doubts;
mod explain;
mod failing_queries;
mod formats;
mod from_files;
mod help;
mod help_of_files;
mod help_of_shells;
mod interrupt;
mod long_stream;
mod misfits;
mod on_a_cluster;
mod on_the_net;
mod outputs;
mod place;
mod planners;
mod python;
mod round_trip;
mod shared_data;
mod shell;
mod shell_on_a_terminal;
mod shop;
mod small_cluster;
mod suite_formats;
mod terminal;
mod tmux;
