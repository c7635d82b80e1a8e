//! Those without a token: at the gateways, at the broker, at the monitors, at the ports of health checks.

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use caudal_monitor::wire::{Datagram, Secret};
use futures::future::join_all;

use crate::attack::{Attack, CLOSED, IGNORED, Told};
use crate::flight::{Attacker, told_of, worst};
use crate::ground::Ground;
use crate::harness::block_on;
use crate::http2::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RESET, SETTINGS,
    WINDOW_UPDATE, beginning, call, frame, header, is_closed, says, text,
};

const UNKNOWN: &[&str] = &["CDL-8001"];
const HUNG_UP: &[&str] = &[CLOSED];
const FLOOD: Duration = Duration::from_secs(4);

pub fn attacks() -> Vec<Attack> {
    let stranger = Attack::stranger;
    vec![
        stranger("1,100 connections of one byte", HUNG_UP, one_byte_each),
        stranger("no token, and wrong ones", UNKNOWN, wrong_tokens),
        stranger("2,000 guesses of a token", UNKNOWN, guesses),
        stranger("datagrams to every health check", &[IGNORED], udp_flood),
        stranger("health checks signed by nobody", &[IGNORED], forged_pings),
        stranger("noise to all ports that monitors may ask from", &[IGNORED], udp_scan),
        stranger("a request that comes byte by byte", HUNG_UP, slow_loris).that_waits(),
        stranger("300 TLS handshakes that stop in the middle", HUNG_UP, half_tls).that_waits(),
        stranger("noise instead of TLS", HUNG_UP, noise_for_tls).that_waits(),
        stranger("TLS, HTTP/1, AMQP and noise at a gateway", HUNG_UP, garbage).that_waits(),
        stranger("50,000 calls reset at once", HUNG_UP, resets).that_waits(),
        stranger("200,000 pings", HUNG_UP, pings).that_waits(),
        stranger("100,000 settings", HUNG_UP, settings).that_waits(),
        stranger("headers without end", HUNG_UP, endless_headers).that_waits(),
        stranger("a header of a megabyte", HUNG_UP, large_header).that_waits(),
        stranger("a header that is named 4,000 times", HUNG_UP, hpack_bomb).that_waits(),
        stranger("a frame of 16 MB, and frames without sense", HUNG_UP, bad_frames).that_waits(),
        stranger("windows that overflow", HUNG_UP, windows).that_waits(),
        stranger("1,000 calls that never end", HUNG_UP, open_calls).that_waits(),
        stranger("noise and 300 connections at RabbitMQ", HUNG_UP, at_the_broker).that_waits(),
        stranger("a guest at RabbitMQ", HUNG_UP, guest).that_waits(),
        stranger("noise and 300 connections at every monitor", HUNG_UP, at_monitors).that_waits(),
    ]
}

fn one_byte_each(ground: &Ground) -> Told {
    let mut all: Vec<TcpStream> = vec![];
    for at in 0..1_100 {
        let mut tcp = TcpStream::connect(&ground.gateways[at % 2]).unwrap();
        // It may have been closed already.
        let _ = tcp.write_all(b"P");
        all.push(tcp);
    }
    // The oldest had to go for the others.
    is_closed(&mut all[0])
}

fn wrong_tokens(ground: &Ground) -> Told {
    block_on(async {
        let mut all = vec![];
        for token in [None, Some(""), Some("admin"), Some("null"), Some("' OR 1=1 --")] {
            let stranger = Attacker::try_connect(ground.gateway(), token).await.unwrap();
            all.push(told_of(stranger.action("sessions", "").await, "listed"));
            all.push(told_of(stranger.open(&["SELECT 1 AS x"]).await, "opened"));
        }
        worst(all)
    })
}

fn guesses(ground: &Ground) -> Told {
    block_on(async {
        let mut all = vec![];
        for at in 0..20 {
            let token = format!("guess-{at}");
            let stranger = Attacker::try_connect(ground.gateway(), Some(&token)).await.unwrap();
            let calls = join_all((0..100).map(|_| stranger.action("sessions", ""))).await;
            all.extend(calls.into_iter().map(|call| told_of(call, "listed")));
        }
        worst(all)
    })
}

/// What costs most to refuse: it looks like ours, up to the signature.
fn udp_flood(ground: &Ground) -> Told {
    let (socket, until) = (UdpSocket::bind("127.0.0.1:0").unwrap(), Instant::now() + FLOOD);
    let datagram = [&b"CDM1"[..], &[7; 400]].concat();
    let (addresses, mut sent) = (ground.health_addresses(), 0_u64);
    while Instant::now() < until {
        for address in &addresses {
            let _ = socket.send_to(&datagram, address);
            sent += 1;
        }
    }
    let a_second = sent as f64 / FLOOD.as_secs_f64();
    Told::with(IGNORED, format!("{a_second:.0} datagrams a second"))
}

fn forged_pings(ground: &Ground) -> Told {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let secret = Secret::new("a guess that is as long as a secret");
    for node in &ground.cluster.members.nodes {
        for nonce in 0..100 {
            let ping = secret.seal(&Datagram::Ping { to: node.name.clone(), nonce });
            let _ = socket.send_to(&ping, &node.health);
        }
    }
    match socket.recv_from(&mut [0; 2000]) {
        Ok(_) => Told::new("answered"),
        Err(_) => Told::new(IGNORED),
    }
}

fn udp_scan(_: &Ground) -> Told {
    let (socket, until) = (UdpSocket::bind("127.0.0.1:0").unwrap(), Instant::now() + FLOOD);
    while Instant::now() < until {
        for port in 32_768..=60_999_u16 {
            let _ = socket.send_to(b"CDM1 noise", ("127.0.0.1", port));
        }
    }
    Told::new(IGNORED)
}

fn slow_loris(ground: &Ground) -> Told {
    let mut tcp = TcpStream::connect(ground.gateway()).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    for byte in [beginning(), call(None)].concat().into_iter().cycle() {
        if tcp.write_all(&[byte]).is_err() {
            return Told::new(CLOSED);
        }
        if Instant::now() > until {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Told::new("kept")
}

fn half_tls(ground: &Ground) -> Told {
    let mut all: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut tcp = TcpStream::connect(&ground.tls_gateway).unwrap();
            // The beginning of a hello: 512 bytes are announced.
            let _ = tcp.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
            tcp
        })
        .collect();
    is_closed(all.last_mut().unwrap())
}

fn noise_for_tls(ground: &Ground) -> Told {
    let mut random = fastrand::Rng::with_seed(12);
    let noise: Vec<u8> = (0..100_000).map(|_| random.u8(..)).collect();
    says(&ground.tls_gateway, [noise])
}

fn garbage(ground: &Ground) -> Told {
    let mut random = fastrand::Rng::with_seed(11);
    let noise: Vec<u8> = (0..100_000).map(|_| random.u8(..)).collect();
    let all = [
        noise,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(30),
        b"AMQP\x00\x00\x09\x01".to_vec(),
    ];
    not_closed(all.map(|bytes| says(ground.gateway(), [bytes])))
}

/// The first that was not closed, if there is one.
fn not_closed(all: impl IntoIterator<Item = Told>) -> Told {
    all.into_iter().find(|told| told.word != CLOSED).unwrap_or_else(|| Told::new(CLOSED))
}

fn resets(ground: &Ground) -> Told {
    let block = call(None);
    let calls = (0..50_000).map(|at| {
        let stream = 1 + 2 * at;
        [frame(HEADERS, END_HEADERS, stream, &block), frame(RESET, 0, stream, &[0, 0, 0, 8])]
            .concat()
    });
    says(ground.gateway(), [beginning()].into_iter().chain(calls))
}

fn pings(ground: &Ground) -> Told {
    let pings = (0..2_000).map(|_| frame(PING, 0, 0, &[7; 8]).repeat(100));
    says(ground.gateway(), [beginning()].into_iter().chain(pings))
}

fn settings(ground: &Ground) -> Told {
    let settings = (0..1_000).map(|_| frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]).repeat(100));
    says(ground.gateway(), [beginning()].into_iter().chain(settings))
}

fn endless_headers(ground: &Ground) -> Told {
    let first = frame(HEADERS, 0, 1, &call(None));
    let more = (0..10_000)
        .map(|at| frame(CONTINUATION, 0, 1, &header(&format!("x-{at}"), &"y".repeat(1000))));
    says(ground.gateway(), [beginning(), first].into_iter().chain(more))
}

fn large_header(ground: &Ground) -> Told {
    let large = header("x", &"y".repeat(1 << 20));
    let mut pieces = large.chunks(16_000).map(<[u8]>::to_vec);
    let first = frame(HEADERS, 0, 1, &pieces.next().unwrap());
    let more = pieces.map(|piece| frame(CONTINUATION, 0, 1, &piece));
    let end = frame(CONTINUATION, END_HEADERS, 1, &[]);
    says(ground.gateway(), [beginning(), first].into_iter().chain(more).chain([end]))
}

/// Kept by the receiver once, at its word, and then named by a byte.
fn hpack_bomb(ground: &Ground) -> Told {
    let kept = [&[0x40][..], &text("x-bomb"), &text(&"y".repeat(3900))].concat();
    let block = [call(None), kept, vec![0x80 | 62; 4_000]].concat();
    let calls = (0..200).map(|at| frame(HEADERS, END_HEADERS | END_STREAM, 1 + 2 * at, &block));
    says(ground.gateway(), [beginning()].into_iter().chain(calls))
}

fn bad_frames(ground: &Ground) -> Told {
    let beginnings: [Vec<u8>; 5] = [
        [PREFACE, b"\xff\xff\xff\x00\x00\x00\x00\x00\x01"].concat(),
        [PREFACE, &[0xff; 4096]].concat(),
        [beginning(), frame(DATA, 0, 0, b"data of no stream")].concat(),
        [beginning(), frame(DATA, 0, 77, b"data of a stream that never was")].concat(),
        [beginning(), frame(CONTINUATION, 0, 1, b"of nothing")].concat(),
    ];
    not_closed(beginnings.map(|bytes| says(ground.gateway(), [bytes])))
}

fn windows(ground: &Ground) -> Told {
    let most = frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]);
    let none = frame(WINDOW_UPDATE, 0, 0, &[0; 4]);
    not_closed([
        says(ground.gateway(), [beginning(), most.repeat(3)]),
        says(ground.gateway(), [beginning(), none]),
    ])
}

fn open_calls(ground: &Ground) -> Told {
    let block = call(None);
    let calls = (0..1_000).map(|at| frame(HEADERS, END_HEADERS, 1 + 2 * at, &block));
    says(ground.gateway(), [beginning()].into_iter().chain(calls))
}

/// Connections that say nothing, beside one that says noise.
fn sits_at(address: &str) -> Told {
    let silent: Vec<_> = (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
    let noise = says(address, [vec![0xff; 10_000]]);
    drop(silent);
    noise
}

fn at_the_broker(ground: &Ground) -> Told {
    sits_at(&ground.broker_address())
}

/// What RabbitMQ comes with, and what ours does not have.
fn guest(ground: &Ground) -> Told {
    let text = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    // connection.start-ok: no properties, PLAIN, guest and guest, en_US.
    let method =
        [&[0_u8, 10, 0, 11][..], &[0; 4], b"\x05PLAIN", &text("\0guest\0guest"), b"\x05en_US"]
            .concat();
    let frame =
        [&[1_u8, 0, 0][..], &(method.len() as u32).to_be_bytes(), &method, &[0xce]].concat();
    says(&ground.broker_address(), [b"AMQP\x00\x00\x09\x01".to_vec(), frame])
}

fn at_monitors(ground: &Ground) -> Told {
    let monitors = ground.monitor_addresses();
    not_closed(monitors.iter().map(|address| sits_at(address)))
}
