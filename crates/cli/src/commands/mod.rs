//! One file a command.

pub mod broker;
pub mod cancel;
pub mod chaos;
pub mod check;
pub mod clients;
pub mod completions;
pub mod demo;
pub mod down;
pub mod explain;
pub mod gateway;
pub mod generate;
pub mod limits;
pub mod man;
pub mod monitor;
pub mod planner;
pub mod query;
pub mod run;
pub mod schema;
pub mod sessions;
pub mod status;
pub mod up;
pub mod worker;
