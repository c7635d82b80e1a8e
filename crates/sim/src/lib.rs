//! The whole cluster in one thread: gateways, workers and clients, the real code of the services, on
//! simulated time, over the memory broker and a store that misbehaves. All that happens comes from
//! a seed, and happens again with it.
//!
//! - [`run`]: one seed, from its cluster to what must be true in the end;
//! - [`world`], with [`link`], [`broker`], [`store`] and [`line`]: what stands between the nodes;
//! - [`nodes`] and [`client`]: the processes;
//! - [`faults`] and [`chaos`]: what goes wrong;
//! - [`workload`] and [`oracle`]: what is asked, and the right answers;
//! - [`timeline`] and [`verdict`]: whether a session may rightly end without one.
//!
//! It needs a build with debug assertions: without them the seams that it uses are not there.

#![cfg(debug_assertions)]

mod blocking;
pub mod broker;
pub mod chaos;
pub mod client;
mod consumer;
pub mod faults;
mod files;
pub mod line;
pub mod link;
pub mod many;
pub mod mutants;
pub mod nodes;
pub mod oracle;
mod panics;
pub mod run;
pub mod store;
pub mod timeline;
pub mod trace;
pub mod verdict;
pub mod workload;
pub mod world;
