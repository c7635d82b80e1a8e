//! Fragments that are forged: their numbers, ends, columns and bytes.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_flight::FlightData;
use bytes::Bytes;
use caudal_core::{SessionId, TableId};
use caudal_protocol::calls::EndRequest;

use crate::attack::{Attack, Told};
use crate::flight::{Attacker, numbers, put_messages, told_of, worst};
use crate::ground::{EVIL_TOKEN, Ground};
use crate::harness::block_on;

const CONTRADICTION: &[&str] = &["CDL-3003"];
const UNREADABLE: &[&str] = &["CDL-8006"];

pub fn attacks() -> Vec<Attack> {
    vec![
        Attack::tenant("a fragment beyond the end", CONTRADICTION, beyond_the_end),
        Attack::tenant("two ends of one table", CONTRADICTION, two_ends),
        Attack::tenant("other columns than asked for", &["CDL-8005"], other_columns),
        Attack::tenant("headers that are garbage", UNREADABLE, garbage_header),
        Attack::tenant("bodies cut short, or of garbage", UNREADABLE, garbage_body),
        Attack::tenant(
            "every byte of a header changed",
            &["CDL-8006", "CDL-4008", "CDL-3002"],
            flipped,
        ),
        Attack::tenant("LZ4 that says it is a terabyte", &["CDL-8006", "CDL-4008"], lying_lz4),
        Attack::tenant("LZ4 of 320 MB of zeros", UNREADABLE, lz4_bomb),
        Attack::tenant("a message of 20 MB", &["CDL-8007"], too_large),
        Attack::tenant("metadata of 2 MB", &["CDL-8004"], large_metadata),
        Attack::tenant(
            "encodings that are not those of the columns",
            &["CDL-8006", "CDL-8004"],
            encodings,
        ),
    ]
}

/// Has a session that counts numbers, in which a client sits that waits for it.
fn in_a_session(ground: &Ground, attack: impl AsyncFn(&Attacker, &SessionId) -> Vec<Told>) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let session =
            evil.open(&["SELECT count(*) AS n, sum(n) AS s FROM numbers"]).await.unwrap().session;
        let attached = evil.attach(&session).await.unwrap();
        let told = worst(attack(&evil, &session).await);
        // It may have failed of it, and be over.
        let _ = evil.say("cancel", &session).await;
        drop(attached);
        told
    })
}

/// What becomes of the session after what was said, which nobody has to contradict at once.
async fn comes_of(evil: &Attacker, session: &SessionId) -> Vec<Told> {
    match evil.result(session).await {
        Ok(result) => vec![result.end().await],
        Err(status) => vec![crate::flight::told(&status)],
    }
}

async fn end(evil: &Attacker, session: &SessionId, count: u32) -> Told {
    let end = EndRequest { session: session.clone(), table: TableId(0), count, rows: None };
    told_of(evil.ask::<serde_json::Value>("end", &end).await, "ended")
}

fn beyond_the_end(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let batches = [(0, numbers([1])), (u32::MAX, numbers([2])), (7, numbers([3]))];
        // Refused at once, or when it is looked at.
        let put = evil.put(put_messages(session, &batches)).await;
        if let Err(status) = put {
            return vec![crate::flight::told(&status)];
        }
        end(evil, session, 1).await;
        comes_of(evil, session).await
    })
}

fn two_ends(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        evil.put(put_messages(session, &[(0, numbers([1]))])).await.unwrap();
        end(evil, session, 5).await;
        end(evil, session, 3).await;
        comes_of(evil, session).await
    })
}

fn other_columns(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let more: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let wrong = [
            RecordBatch::try_from_iter([("n", Arc::clone(&texts))]).unwrap(),
            RecordBatch::try_from_iter([("m", Arc::clone(&more))]).unwrap(),
            RecordBatch::try_from_iter([("n", more), ("x", texts)]).unwrap(),
        ];
        let mut all = vec![];
        for batch in wrong {
            all.push(told_of(evil.put(put_messages(session, &[(0, batch)])).await, "put"));
        }
        all
    })
}

/// Damages a batch in each of these ways, each on a stream of its own.
async fn damaged(
    evil: &Attacker,
    session: &SessionId,
    damages: impl IntoIterator<Item = Box<dyn Fn(&mut FlightData)>>,
) -> Vec<Told> {
    let mut all = vec![];
    for damage in damages {
        let mut messages = put_messages(session, &[(0, numbers(0..1000))]);
        damage(&mut messages[1]);
        all.push(told_of(evil.put(messages).await, "put"));
    }
    all
}

fn damages<const N: usize>(
    damages: [fn(&mut FlightData); N],
) -> impl Iterator<Item = Box<dyn Fn(&mut FlightData)>> {
    damages.into_iter().map(|damage| Box::new(damage) as Box<dyn Fn(&mut FlightData)>)
}

fn garbage_header(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let all = damages([
            |message| message.data_header = "not a flatbuffer".into(),
            |message| message.data_header.clear(),
            |message| message.data_header = vec![0xff; 4096].into(),
            |message| message.data_header = vec![0; 1 << 20].into(),
            |message| message.data_header.truncate(20),
        ]);
        damaged(evil, session, all).await
    })
}

fn garbage_body(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let all = damages([
            |message| message.data_body.clear(),
            |message| message.data_body.truncate(8),
            |message| message.data_body = vec![0xff; 8192].into(),
        ]);
        damaged(evil, session, all).await
    })
}

/// One bit at a time. What is still a batch is somebody's own affair, and what is none is refused by the gateway, or by
/// the worker that unpacks it.
fn flipped(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let header = put_messages(session, &[(0, numbers(0..1000))])[1].data_header.len();
        let all = (0..header).map(|at| {
            Box::new(move |message: &mut FlightData| {
                let mut bytes = message.data_header.to_vec();
                bytes[at] ^= 0x55;
                message.data_header = bytes.into();
            }) as Box<dyn Fn(&mut FlightData)>
        });
        let told = damaged(evil, session, all).await;
        // Some are as good as before: what they say of themselves is not looked at.
        told.into_iter().filter(|told| told.word != "put").collect()
    })
}

fn lying_lz4(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let mut messages = put_messages(session, &[(0, numbers(0..100_000))]);
        let mut body = messages[1].data_body.to_vec();
        // Each buffer begins with its length; the first that has one here is that of the values.
        let said = (800_000_u64).to_le_bytes();
        let at = body.windows(8).position(|bytes| bytes == said).expect("a packed buffer");
        body[at..at + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        messages[1].data_body = body.into();
        match evil.put(messages).await {
            Err(status) => vec![crate::flight::told(&status)],
            Ok(()) => {
                end(evil, session, 1).await;
                comes_of(evil, session).await
            }
        }
    })
}

fn lz4_bomb(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let messages = put_messages(session, &[(0, numbers(std::iter::repeat_n(0, 40 << 20)))]);
        let bytes = messages[1].data_body.len();
        assert!(bytes < 4 << 20, "{bytes} bytes are no bomb");
        vec![told_of(evil.put(messages).await, "put")]
    })
}

fn too_large(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let mut messages = put_messages(session, &[(0, numbers([1]))]);
        messages[1].data_body = Bytes::from(vec![7; 20 << 20]);
        vec![told_of(evil.put(messages).await, "put")]
    })
}

fn large_metadata(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let mut messages = put_messages(session, &[(0, numbers([1]))]);
        let many = vec!["null"; 400_000].join(",");
        messages[1].app_metadata = format!(r#"{{"number":1,"narrow":[{many}]}}"#).into();
        vec![told_of(evil.put(messages).await, "put")]
    })
}

fn encodings(ground: &Ground) -> Told {
    in_a_session(ground, async |evil, session| {
        let all = damages([
            |message| message.app_metadata = r#"{"number":1,"narrow":["uuid"]}"#.into(),
            |message| message.app_metadata = r#"{"number":1,"narrow":[null,null]}"#.into(),
            |message| message.app_metadata = r#"{"number":-1}"#.into(),
            |message| message.app_metadata = r#"{"number":99999999999999}"#.into(),
        ]);
        damaged(evil, session, all).await
    })
}
