//! Calls that make no sense, and those that are about somebody else's sessions.

use arrow_flight::{Criteria, Empty, FlightData, FlightDescriptor, Ticket};
use caudal_core::TableId;
use caudal_protocol::calls::EndRequest;

use crate::attack::{Attack, Told, UNIMPLEMENTED};
use crate::flight::{Attacker, numbers, numbers_request, put_messages, told, told_of, worst};
use crate::ground::{EVIL_TOKEN, Ground, VICTIM_TOKEN};
use crate::harness::block_on;

const NOT_YOURS: &[&str] = &["CDL-8002"];
const NO_SENSE: &[&str] = &["CDL-8004"];
const SQL: &str = "SELECT count(*) AS n FROM numbers";

pub fn attacks() -> Vec<Attack> {
    vec![
        Attack::tenant("somebody else's session: attach and read", NOT_YOURS, read_anothers),
        Attack::tenant("somebody else's session: cancel and close", NOT_YOURS, cancel_anothers),
        Attack::tenant("somebody else's session: put and end", NOT_YOURS, put_anothers),
        Attack::tenant("sessions that never were, 500 guesses", NOT_YOURS, guess),
        Attack::tenant("actions and bodies without sense", NO_SENSE, nonsense),
        Attack::tenant("JSON that nests 100,000 times", NO_SENSE, deep_json),
        Attack::tenant("a nonce used for another session", NO_SENSE, nonce_again),
        Attack::tenant("a file of a node as a table", &["CDL-2002"], a_file),
        Attack::tenant("300 queries in a session", &["CDL-2010"], many_queries),
        Attack::tenant("300 tables in a session", NO_SENSE, many_tables),
        Attack::tenant("10,000 shards", &["CDL-2010", "CDL-8004"], many_shards),
        Attack::tenant("a schema that is garbage", &["CDL-2012", "CDL-8004"], garbage_schema),
        Attack::tenant("calls of Flight that are not there", &[UNIMPLEMENTED], not_there),
        Attack::tenant("2,000 calls in a row", &["CDL-8002"], many_calls),
    ]
}

/// What each of these calls is told of a session that another tenant has open.
fn of_anothers(
    ground: &Ground,
    calls: impl AsyncFn(&Attacker, &caudal_core::SessionId) -> Vec<Told>,
) -> Told {
    block_on(async {
        let victim = Attacker::connect(ground.gateway(), VICTIM_TOKEN).await;
        let session = victim.open(&[SQL]).await.unwrap().session;
        let attached = victim.attach(&session).await.unwrap();
        let mut all = vec![];
        // One that knows the session, and one that does not.
        for gateway in &ground.gateways {
            all.extend(calls(&Attacker::connect(gateway, EVIL_TOKEN).await, &session).await);
        }
        victim.say("cancel", &session).await.expect("it is there, and its owner's");
        assert_eq!(attached.end().await.word, "CDL-8013", "it was disturbed");
        worst(all)
    })
}

fn read_anothers(ground: &Ground) -> Told {
    of_anothers(ground, async |evil, session| {
        vec![
            told_of(evil.attach(session).await, "attached"),
            told_of(evil.result(session).await, "read"),
        ]
    })
}

fn cancel_anothers(ground: &Ground) -> Told {
    of_anothers(ground, async |evil, session| {
        vec![
            told_of(evil.say("cancel", session).await, "cancelled"),
            told_of(evil.say("close", session).await, "closed"),
        ]
    })
}

fn put_anothers(ground: &Ground) -> Told {
    of_anothers(ground, async |evil, session| {
        let end = EndRequest { session: session.clone(), table: TableId(0), count: 0, rows: None };
        vec![
            told_of(evil.put(put_messages(session, &[(0, numbers([1]))])).await, "put"),
            told_of(evil.ask::<serde_json::Value>("end", &end).await, "ended"),
        ]
    })
}

fn guess(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let mut all = vec![];
        for _ in 0..500 {
            let session = caudal_core::SessionId(format!("{:032x}", fastrand::u128(..)));
            all.push(told_of(evil.say("cancel", &session).await, "cancelled"));
        }
        worst(all)
    })
}

fn nonsense(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let bodies: [&[u8]; 5] = [b"", b"{}", b"null", b"\xff\xfe\x00", b"[1e999999]"];
        let mut all = vec![];
        for name in ["open", "end", "close", "cancel", "shutdown", "", "../../etc/passwd"] {
            for body in bodies {
                all.push(told_of(evil.action(name, body.to_vec()).await, "done"));
            }
        }
        // Streams that do not say what they are for.
        for first in [
            FlightData::new(),
            FlightData::new().with_descriptor(FlightDescriptor::new_cmd("nonsense")),
            FlightData::new().with_descriptor(FlightDescriptor::new_path(vec!["a".into()])),
        ] {
            all.push(told_of(evil.put(vec![first.clone()]).await, "put"));
            let stream = futures::stream::iter([first]);
            let exchanged = evil.flight.clone().do_exchange(evil.request(stream)).await;
            all.push(told_of(exchanged, "exchanged"));
        }
        worst(all)
    })
}

fn deep_json(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let lists = "[".repeat(100_000);
        let objects = "{\"a\":".repeat(100_000);
        let tables = format!("{{\"nonce\":\"{:032x}\",\"queries\":[],\"tables\":{lists}", 1);
        worst([
            told_of(evil.action("open", lists).await, "opened"),
            told_of(evil.action("open", objects).await, "opened"),
            told_of(evil.action("open", tables).await, "opened"),
        ])
    })
}

fn nonce_again(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let first = numbers_request(&[SQL]);
        let session =
            evil.ask::<caudal_protocol::calls::OpenReply>("open", &first).await.unwrap().session;
        let mut other = numbers_request(&["SELECT max(n) AS m FROM numbers"]);
        other.nonce = first.nonce;
        let refused = told_of(evil.ask::<serde_json::Value>("open", &other).await, "opened");
        evil.say("cancel", &session).await.unwrap();
        refused
    })
}

/// What a request to open is told.
fn opening(ground: &Ground, change: impl Fn(&mut caudal_protocol::calls::OpenRequest)) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let mut request = numbers_request(&[SQL]);
        change(&mut request);
        match evil.ask::<caudal_protocol::calls::OpenReply>("open", &request).await {
            Err(status) => told(&status),
            // All of its queries may be refused, which is no session.
            Ok(reply) => match reply.queries.iter().find_map(|query| query.refused.clone()) {
                Some(failure) => Told::with(failure.code.to_string(), failure.message),
                None => {
                    evil.say("cancel", &reply.session).await.unwrap();
                    Told::new("opened")
                }
            },
        }
    })
}

/// Said to a gateway as it is: our own client takes it for a file of the client's.
fn a_file(ground: &Ground) -> Told {
    opening(ground, |request| request.queries[0].sql = "SELECT * FROM '/etc/passwd'".into())
}

fn many_queries(ground: &Ground) -> Told {
    opening(ground, |request| {
        let query = request.queries[0].clone();
        request.queries = (0..300)
            .map(|at| caudal_protocol::manifest::QuerySpec {
                name: format!("q{at}"),
                ..query.clone()
            })
            .collect();
    })
}

fn many_tables(ground: &Ground) -> Told {
    opening(ground, |request| {
        let table = request.tables[0].clone();
        let another =
            |at| caudal_protocol::manifest::TableEntry { name: format!("t{at}"), ..table.clone() };
        request.tables.extend((0..300).map(another));
    })
}

fn many_shards(ground: &Ground) -> Told {
    opening(ground, |request| request.shards = Some(10_000))
}

fn garbage_schema(ground: &Ground) -> Told {
    worst([
        opening(ground, |request| request.tables[0].schema = "!".repeat(1000)),
        opening(ground, |request| request.tables[0].schema = "AAAA".repeat(50_000)),
        opening(ground, |request| request.tables[0].schema = "/////w==".to_string()),
    ])
}

fn not_there(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let mut flight = evil.flight.clone();
        let descriptor = FlightDescriptor::new_cmd("x");
        let all = [
            told_of(flight.do_get(evil.request(Ticket::new("x"))).await, "got"),
            told_of(flight.get_flight_info(evil.request(descriptor.clone())).await, "informed"),
            told_of(flight.get_schema(evil.request(descriptor)).await, "informed"),
            told_of(flight.list_flights(evil.request(Criteria::default())).await, "listed"),
        ];
        flight.list_actions(evil.request(Empty {})).await.unwrap();
        let other = all.iter().find(|told| told.word != UNIMPLEMENTED);
        other.unwrap_or(&all[0]).clone()
    })
}

fn many_calls(ground: &Ground) -> Told {
    block_on(async {
        let evil = Attacker::connect(ground.gateway(), EVIL_TOKEN).await;
        let session = caudal_core::SessionId("0".repeat(32));
        let calls = (0..2_000).map(|_| evil.say("close", &session));
        let calls = futures::future::join_all(calls).await;
        worst(calls.into_iter().map(|call| told_of(call, "closed")))
    })
}
