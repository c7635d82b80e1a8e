//! Nobody takes a node down: attacks by tenants with a valid token and by strangers, on one cluster of real processes, each
//! beside a client that behaves.
//!
//! ```text
//! cargo test -p caudal-cli --test hostile -- --nocapture                      prints the table
//! CAUDAL_ATTACK='cross join' cargo test -p caudal-cli --test hostile -- --nocapture    those whose name has this
//! ```
//!
//! After each attack the same processes are the nodes; every answer of the client that behaves is right; its times stay
//! near what they are when nobody attacks; and the attacker was told a code (or the right answer, where its query is merely
//! slow, or was hung up on, where it did not speak our protocol).
//!
//! An attack is a row: `planning`, `running` (SQL), `calls`, `uploads`, `sessions` (a tenant's client), `floods`, `strangers` have
//! them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod attack;
mod calls;
mod flight;
mod floods;
mod good;
mod ground;
#[path = "../cluster/harness.rs"]
#[allow(dead_code, reason = "shared with tests/cluster, which uses the rest")]
mod harness;
mod http2;
mod planning;
mod running;
mod sessions;
mod strangers;
mod uploads;
#[path = "../cluster/watched.rs"]
#[allow(dead_code, reason = "shared with tests/cluster, which uses the rest")]
mod watched;

use std::time::Instant;

use crate::attack::{Attack, By, Pace, Row};
use crate::good::Good;
use crate::ground::Ground;

const TENANTS_MIN: usize = 40;
const STRANGERS_MIN: usize = 15;

fn attacks() -> Vec<Attack> {
    [
        planning::attacks(),
        running::attacks(),
        calls::attacks(),
        uploads::attacks(),
        sessions::attacks(),
        floods::attacks(),
        vec![planning::slowest()],
        strangers::attacks(),
    ]
    .concat()
}

#[test]
fn nobody_takes_a_node_down() {
    let all = attacks();
    let by = |who: By| all.iter().filter(|attack| attack.by == who).count();
    assert!(by(By::Tenant) >= TENANTS_MIN && by(By::Stranger) >= STRANGERS_MIN);
    let chosen = std::env::var("CAUDAL_ATTACK").unwrap_or_default();
    let (waiting, busy): (Vec<Attack>, Vec<Attack>) = all
        .into_iter()
        .filter(|attack| attack.name.contains(&chosen))
        .partition(|attack| attack.pace == Pace::Waits);

    let ground = Ground::new();
    let (good, began) = (Good::new(&ground), Instant::now());
    let quiet = good.quiet();
    println!("quiet: 95 % within {:.2} s", quiet.as_secs_f64());
    let mut rows: Vec<Row> = std::thread::scope(|scope| {
        let _running = good.start(scope);
        let mut rows: Vec<Row> =
            busy.into_iter().map(|attack| attack.run(&ground, &good)).collect();
        // These do nothing for most of their time: all at once.
        let waiting: Vec<_> =
            waiting.into_iter().map(|attack| scope.spawn(|| attack.run(&ground, &good))).collect();
        rows.extend(waiting.into_iter().map(|row| row.join().unwrap()));
        rows
    });
    attack::print(&mut rows, &good, quiet, began.elapsed());
    good.was_right();
    attack::all_as_expected(&rows, quiet);
    good.stayed_near(quiet);
    ground.is_as_before();
}
