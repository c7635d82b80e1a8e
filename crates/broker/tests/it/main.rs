//! One suite for both brokers, and what only a real RabbitMQ can show.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod conformance;
mod rabbit;
mod support;
