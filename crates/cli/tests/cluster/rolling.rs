//! What an operator does to a cluster under load: every node is restarted, one by one; RabbitMQ dies again and again. No client
//! fails, no answer is wrong.
//!
//! ```text
//! CAUDAL_ROUNDS=3 cargo test -p caudal-cli --test cluster rolling::every_node -- --nocapture
//! CAUDAL_RABBIT_KILLS=50 cargo test -p caudal-cli --test cluster rolling::rabbitmq -- --nocapture
//! ```

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_monitor::Process;
use rustix::process::Signal;

use crate::harness::wait_until;
use crate::load::{beside, number};
use crate::watched::Watched;

const CLIENTS: usize = 6;
const ROUNDS: usize = 1;
const KILLS: usize = 2;
/// What a node may take to leave.
const LEAVES_WITHIN: Duration = Duration::from_secs(10);
/// Between the last restart of RabbitMQ and its next death: clients go on meanwhile.
const UP_FOR: Duration = Duration::from_secs(3);

#[test]
fn every_node_is_restarted_one_by_one_and_no_client_fails() {
    let rounds = number("CAUDAL_ROUNDS", ROUNDS);
    let cluster = Watched::up_with_rabbit();
    let (mut restarts, began) = (0, Instant::now());
    let answered = beside(CLIENTS, &cluster.gateways(), &cluster.path(""), |is_over| {
        for _ in 0..rounds {
            for name in cluster.names() {
                let left = cluster.signal(&name, Signal::TERM);
                assert!(left.wait(LEAVES_WITHIN), "{name} does not leave");
                cluster.is_whole_without(&[left]);
                restarts += 1;
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    });
    println!(
        "{restarts} nodes restarted one by one in {:.0} s under {CLIENTS} clients: {answered} runs exact, 0 failed, 0 wrong",
        began.elapsed().as_secs_f64()
    );
    assert_eq!(restarts, rounds * cluster.names().len());
    assert!(answered >= CLIENTS);
    cluster.nobody_is_there_twice();
}

#[test]
fn rabbitmq_dies_again_and_again_and_no_client_fails() {
    let kills = number("CAUDAL_RABBIT_KILLS", KILLS);
    let cluster = Watched::up_with_rabbit();
    let (mut killed, began) = (0, Instant::now());
    let answered = beside(CLIENTS, &cluster.gateways(), &cluster.path(""), |is_over| {
        while killed < kills && !is_over.load(Ordering::Relaxed) {
            wait_until("there is work", || {
                cluster.has_records() || is_over.load(Ordering::Relaxed)
            });
            // Its keeper may just have started it again for a reason of its own.
            let mut victim = None;
            wait_until("RabbitMQ runs", || {
                victim = rabbit(&cluster);
                victim.is_some()
            });
            let victim = victim.expect("it runs");
            victim.signal(Signal::KILL);
            assert!(victim.wait(LEAVES_WITHIN));
            killed += 1;
            wait_until("RabbitMQ is back", || rabbit(&cluster).is_some_and(|now| now != victim));
            cluster.is_whole_without(&[]);
            std::thread::sleep(UP_FOR);
        }
    });
    println!(
        "RabbitMQ killed {killed} times in {:.0} s under {CLIENTS} clients: {answered} runs exact, 0 failed, 0 wrong",
        began.elapsed().as_secs_f64()
    );
    assert_eq!(killed, kills);
}

fn rabbit(cluster: &Watched) -> Option<Process> {
    let rabbit = PrivateRabbit::find(&cluster.folder.path().join("broker")).ok()?;
    rabbit.pid().and_then(Process::of)
}
