//! Every bound of the system, in one place: its unit is in its name, its reason beside it, and with it what is seen
//! when it is met. `caudal limits` prints them all.

mod broker;
mod client;
mod files;
mod gateway;
mod limit;
mod monitor;
mod nodes;
mod planners;
mod remote;
mod sessions;
mod store;
mod terminal;
mod worker;

pub use self::broker::*;
pub use self::client::*;
pub use self::files::*;
pub use self::gateway::*;
pub use self::limit::{Group, Limit, Met};
pub use self::monitor::*;
pub use self::nodes::*;
pub use self::planners::*;
pub use self::remote::*;
pub use self::sessions::*;
pub use self::store::*;
pub use self::terminal::*;
pub use self::worker::*;

/// All of them, by what they bound.
pub const ALL: &[Group] = &[
    files::FILES,
    remote::REMOTE,
    sessions::SESSIONS,
    client::CLIENT,
    gateway::GATEWAY,
    planners::PLANNER,
    worker::WORKER,
    broker::BROKER,
    store::STORE,
    monitor::MONITOR,
    nodes::NODES,
    terminal::TERMINAL,
];
