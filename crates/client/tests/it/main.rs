//! The client against gateways that a test has in its hand: they die, forget, repeat and refuse when
//! they are told to.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod answers;
mod cluster;
mod gateway;
mod refusals;
mod resends;
mod run;
mod tls;
mod uploads;
