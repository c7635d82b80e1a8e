//! A gateway over real gRPC, with a broker and a store in memory. There is no worker: tests put into
//! queues and take from them what one would.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod access;
mod attaching;
mod closing;
mod lost_queues;
mod opening;
mod quotas;
mod reading;
mod store_trouble;
mod strangers;
mod support;
mod trouble;
mod uploading;
