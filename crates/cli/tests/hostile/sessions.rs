//! Sessions that are opened, fed or read as no client of ours would: too many, left alone, never ended.

use std::time::Duration;

use caudal_core::SessionId;
use futures::StreamExt;
use futures::channel::mpsc;
use futures::future::join_all;
use tokio::time::sleep;

use crate::attack::{Attack, Told};
use crate::flight::{Attacker, numbers, put_messages, told, told_of, worst};
use crate::ground::{EVIL_TOKEN, Ground};
use crate::harness::block_on;

/// No session, stream or planner is left for it; another gateway may have one.
const NO_ROOM: &[&str] = &["CDL-8003", "CDL-8021", "CDL-8024"];
const CANCELLED: &[&str] = &["CDL-8013"];
/// By its own word, or because it has too much there.
const CANCELLED_OR_TOO_MUCH: &[&str] = &["CDL-8013", "CDL-4003", "CDL-8024"];
/// Needs a column: fragments without one are refused before they are anything to anybody.
const COUNT: &str = "SELECT count(*) AS n, sum(n) AS s FROM numbers";
/// 200 MB that LZ4 makes no smaller.
const LARGE: &str =
    "SELECT value, md5(CAST(value AS VARCHAR)) AS a, md5(CAST(-value AS VARCHAR)) AS b
                     FROM generate_series(1, 2000000)";
/// How long an attack goes on that does not end by itself.
const A_WHILE: Duration = Duration::from_secs(4);

pub fn attacks() -> Vec<Attack> {
    vec![
        Attack::tenant("sessions until there are no more", NO_ROOM, all_sessions),
        Attack::tenant("ten sessions opened and left alone", &["CDL-8012"], abandoned).that_waits(),
        Attack::tenant("64 sessions opened at once", NO_ROOM, opened_at_once),
        Attack::tenant("a session opened and cancelled, 30 times", CANCELLED, opened_and_cancelled),
        Attack::tenant("an upload that never ends", CANCELLED, endless_upload),
        Attack::tenant("300 uploads that say nothing", CANCELLED, silent_uploads),
        Attack::tenant("10,000 fragments of one row", CANCELLED, tiny_fragments),
        Attack::tenant("a result that nobody reads", CANCELLED_OR_TOO_MUCH, unread),
        Attack::tenant("a result that 300 streams read", CANCELLED_OR_TOO_MUCH, read_often),
        Attack::tenant(
            "a result cancelled in the middle, ten times",
            CANCELLED_OR_TOO_MUCH,
            cancelled_half_way,
        ),
        Attack::tenant("a client that attaches 300 times", &["CDL-8009"], attached_often),
    ]
}

async fn evil(ground: &Ground) -> Attacker {
    Attacker::connect(ground.gateway(), EVIL_TOKEN).await
}

async fn cancel(evil: &Attacker, sessions: &[SessionId]) {
    for session in sessions {
        // It may be over already.
        let _ = evil.say("cancel", session).await;
    }
}

/// Opens a session and attaches to it; says how a session ends whose client cancels it after all it does.
async fn until_cancelled(
    ground: &Ground,
    query: &str,
    attack: impl AsyncFn(&Attacker, &SessionId),
) -> Told {
    let evil = evil(ground).await;
    let session = match evil.open(&[query]).await {
        Ok(opened) => opened.session,
        Err(status) => return told(&status),
    };
    let attached = evil.attach(&session).await.unwrap();
    attack(&evil, &session).await;
    cancel(&evil, &[session]).await;
    attached.end().await
}

fn all_sessions(ground: &Ground) -> Told {
    block_on(async {
        let evil = evil(ground).await;
        let (mut sessions, mut attached, mut refused) = (vec![], vec![], Told::new("no end"));
        for _ in 0..64 {
            match evil.open(&[COUNT]).await {
                Ok(opened) => {
                    attached.push(evil.attach(&opened.session).await);
                    sessions.push(opened.session);
                }
                Err(status) => {
                    refused = told(&status);
                    break;
                }
            }
        }
        sleep(A_WHILE).await;
        cancel(&evil, &sessions).await;
        Told { more: format!("{} were opened", sessions.len()), ..refused }
    })
}

/// Nobody attaches: they end after the grace period.
fn abandoned(ground: &Ground) -> Told {
    block_on(async {
        let mut sessions = vec![];
        for _ in 0..10 {
            match evil(ground).await.open(&[COUNT]).await {
                Ok(opened) => sessions.push(opened.session),
                // No more of them than it may have.
                Err(_) => break,
            }
        }
        assert!(!sessions.is_empty());
        sleep(Duration::from_secs(12)).await;
        let evil = evil(ground).await;
        let mut all = vec![];
        for session in &sessions {
            all.push(told_of(evil.attach(session).await, "attached"));
        }
        cancel(&evil, &sessions).await;
        worst(all)
    })
}

fn opened_at_once(ground: &Ground) -> Told {
    block_on(async {
        let evil = evil(ground).await;
        let opened = join_all((0..64).map(|_| evil.open(&[COUNT]))).await;
        let (opened, refused): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        let sessions: Vec<SessionId> =
            opened.into_iter().map(|opened| opened.unwrap().session).collect();
        cancel(&evil, &sessions).await;
        let told = worst(refused.into_iter().map(|refused| told(&refused.unwrap_err())));
        Told { more: format!("{} were opened; {}", sessions.len(), told.more), ..told }
    })
}

fn opened_and_cancelled(ground: &Ground) -> Told {
    block_on(async {
        let mut all = vec![];
        for _ in 0..30 {
            all.push(until_cancelled(ground, COUNT, async |_, _| {}).await);
        }
        worst(all)
    })
}

fn endless_upload(ground: &Ground) -> Told {
    let upload = async |evil: &Attacker, session: &SessionId| {
        let (sender, receiver) = mpsc::unbounded();
        for message in put_messages(session, &[]) {
            sender.unbounded_send(message).unwrap();
        }
        let mut answers = evil.put_stream(receiver).await.unwrap();
        let feeding = async {
            for number in 0.. {
                let mut messages = put_messages(session, &[(number, numbers(0..100_000))]);
                if sender.unbounded_send(messages.remove(1)).is_err() {
                    break;
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        let reading = async { while let Ok(Some(_)) = answers.message().await {} };
        let _ = tokio::time::timeout(A_WHILE, futures::future::join(feeding, reading)).await;
    };
    block_on(until_cancelled(ground, COUNT, upload))
}

fn silent_uploads(ground: &Ground) -> Told {
    let uploads = async |evil: &Attacker, session: &SessionId| {
        let mut streams = vec![];
        for _ in 0..300 {
            let first = futures::stream::iter(put_messages(session, &[]));
            let stream = first.chain(futures::stream::pending());
            // Some may be refused.
            let stream =
                tokio::time::timeout(Duration::from_secs(2), evil.put_stream(stream)).await;
            streams.push(stream);
        }
        sleep(A_WHILE).await;
    };
    block_on(until_cancelled(ground, COUNT, uploads))
}

fn tiny_fragments(ground: &Ground) -> Told {
    let upload = async |evil: &Attacker, session: &SessionId| {
        let batches: Vec<_> = (0..10_000).map(|number| (number, numbers([1]))).collect();
        let put = evil.put(put_messages(session, &batches));
        let _ = tokio::time::timeout(2 * A_WHILE, put).await;
    };
    block_on(until_cancelled(ground, COUNT, upload))
}

fn unread(ground: &Ground) -> Told {
    block_on(until_cancelled(ground, LARGE, async |_, _| sleep(2 * A_WHILE).await))
}

fn read_often(ground: &Ground) -> Told {
    let read = async |evil: &Attacker, session: &SessionId| {
        let mut streams = vec![];
        for _ in 0..300 {
            streams.push(tokio::time::timeout(Duration::from_secs(2), evil.result(session)).await);
        }
        sleep(A_WHILE).await;
    };
    block_on(until_cancelled(ground, LARGE, read))
}

fn cancelled_half_way(ground: &Ground) -> Told {
    block_on(async {
        let mut all = vec![];
        for _ in 0..10 {
            let read = async |evil: &Attacker, session: &SessionId| {
                let Ok(mut result) = evil.result(session).await else { return };
                // The columns, and the first rows.
                for _ in 0..2 {
                    let _ = tokio::time::timeout(A_WHILE, result.answers.message()).await;
                }
            };
            all.push(until_cancelled(ground, LARGE, read).await);
        }
        worst(all)
    })
}

fn attached_often(ground: &Ground) -> Told {
    block_on(async {
        let evil = evil(ground).await;
        let session = evil.open(&[COUNT]).await.unwrap().session;
        let first = evil.attach(&session).await.unwrap();
        let mut others = vec![];
        for _ in 0..300 {
            match evil.attach(&session).await {
                Ok(attached) => others.push(attached),
                Err(status) => {
                    cancel(&evil, &[session]).await;
                    return told(&status);
                }
            }
        }
        let told = first.end().await;
        cancel(&evil, &[session]).await;
        told
    })
}
