//! A cluster of real processes on a real RabbitMQ: equal to one process, whoever is killed, wherever.
//!
//! All tests share one private RabbitMQ; each has processes, a store and ports of its own.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod back_pressure;
mod chaos;
mod clients;
mod cut;
mod docker;
mod frozen;
mod garbage;
mod harness;
mod kills;
mod load;
mod lookalikes;
mod machines;
mod partition;
mod planners;
mod points;
mod rabbit;
mod random;
mod revival;
mod rolling;
mod security;
mod sessions;
mod slow;
mod tenants;
mod watched;
