//! Access to sessions: who may do what, and who learns of it.

use arrow_flight::flight_service_client::FlightServiceClient;
use caudal_core::{QueryId, SessionId, TableId};
use caudal_gateway::{Owner, TlsFiles};
use caudal_protocol::calls::{EndRequest, SessionRequest, SessionsReply, StreamCommand};
use tonic::transport::{Certificate, ClientTlsConfig};
use tonic::{Code, Status};

use crate::support::{Client, Cluster, code, numbers, numbers_request, put_messages};

/// Every call that names a session.
async fn calls(client: &Client, session: &SessionId) -> Vec<Status> {
    let named = SessionRequest { session: session.clone() };
    let end = EndRequest { session: session.clone(), table: TableId(0), count: 1, rows: None };
    let result = StreamCommand::Result { session: session.clone(), query: QueryId(0) };
    let put = client.put(put_messages(session, 0, vec![(0, numbers([1]))])).await;
    vec![
        client.ask::<serde_json::Value>("close", &named).await.unwrap_err(),
        client.ask::<serde_json::Value>("cancel", &named).await.unwrap_err(),
        client.ask::<serde_json::Value>("end", &end).await.unwrap_err(),
        client.attach(session).await.err().unwrap(),
        client.exchange(&result).await.err().unwrap(),
        put.err().unwrap(),
    ]
}

#[tokio::test]
async fn only_known_tokens_are_answered() {
    let cluster = Cluster::new();
    let tokens = Some(vec![Owner::of_token("secret")]);
    let client = cluster.gateway_with(|settings| settings.tokens = tokens).await.client().await;
    client.with_token("secret").open(&numbers_request(1)).await.unwrap();
    for stranger in [client.clone(), client.with_token("guess"), client.with_token("")] {
        let refusal = stranger.open(&numbers_request(2)).await.unwrap_err();
        assert_eq!((refusal.code(), code(&refusal)), (Code::Unauthenticated, "CDL-8001"));
        let session = SessionId("0".repeat(32));
        for refusal in calls(&stranger, &session).await {
            assert_eq!(code(&refusal), "CDL-8001");
        }
    }
    assert_eq!(cluster.store.list("slots").await.unwrap().len(), 1);
}

#[tokio::test]
async fn anothers_session_looks_like_none() {
    let cluster = Cluster::new();
    let (one, two) = (cluster.gateway().await, cluster.gateway().await);
    let owner = one.client().await.with_token("owner");
    let session = owner.open(&numbers_request(1)).await.unwrap().session;
    let there_is_none = SessionId("0".repeat(32));
    // The first gateway knows the session already, the second does not.
    for node in [&one, &two] {
        for stranger in [node.client().await, node.client().await.with_token("stranger")] {
            let theirs = calls(&stranger, &session).await;
            for (refusal, of_none) in theirs.iter().zip(calls(&stranger, &there_is_none).await) {
                assert_eq!((refusal.code(), code(refusal)), (Code::PermissionDenied, "CDL-8002"));
                let told = refusal.message().replace(&session.0, &there_is_none.0);
                assert_eq!(told, of_none.message());
            }
        }
    }
    owner.attach(&session).await.expect("undisturbed");
    owner.close(&session).await.unwrap();
    for refusal in calls(&two.client().await, &session).await {
        assert_eq!(code(&refusal), "CDL-8002", "a closed one, too");
    }
}

#[tokio::test]
async fn a_name_does_not_lead_out_of_the_store() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let session = client.open(&numbers_request(1)).await.unwrap().session;
    for name in ["", "..", "../slots", "/etc/passwd", "x", &session.0.to_uppercase()] {
        for refusal in calls(&client, &SessionId(name.to_string())).await {
            assert_eq!(code(&refusal), "CDL-8002", "{name}");
        }
    }
}

#[tokio::test]
async fn sessions_are_listed_to_their_owner() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let (one, two) = (client.with_token("one"), client.with_token("two"));
    let session = one.open(&numbers_request(1)).await.unwrap().session;
    let _attached = one.attach(&session).await.unwrap();
    let nothing = serde_json::json!({});
    let mine: SessionsReply = one.ask("sessions", &nothing).await.unwrap();
    let [entry] = &mine.sessions[..] else { panic!("one session: {mine:?}") };
    assert_eq!(entry.session, session);
    assert_eq!(entry.queries, ["big", "sums"]);
    assert_eq!(entry.tables, ["numbers", "unread"]);
    assert_eq!((entry.shards, entry.workers), (2, 0));
    assert_eq!(entry.gateway.as_deref(), Some("gateway-1"));
    let others: SessionsReply = two.ask("sessions", &nothing).await.unwrap();
    assert!(others.sessions.is_empty());
    one.close(&session).await.unwrap();
    let mine: SessionsReply = one.ask("sessions", &nothing).await.unwrap();
    assert!(mine.sessions.is_empty());
}

#[tokio::test]
async fn what_is_not_flight_disturbs_nobody() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let cluster = Cluster::new();
    let node = cluster.gateway().await;
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\x00\x05hello", &[0xff; 4096]] {
        let mut tcp = tokio::net::TcpStream::connect(node.address).await.unwrap();
        tcp.write_all(garbage).await.unwrap();
        let mut answer = vec![];
        // Closed or reset: either way it is over.
        let _ = tcp.read_to_end(&mut answer).await;
    }
    node.client().await.open(&numbers_request(1)).await.unwrap();
}

#[tokio::test]
async fn a_certificate_is_shown_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let files = TlsFiles {
        certificate: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let cluster = Cluster::new();
    let node = cluster.gateway_with(|settings| settings.tls = Some(files)).await;

    let trusting = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(made.cert.pem()))
        .domain_name("localhost");
    let endpoint = node.endpoint("https").tls_config(trusting).unwrap();
    let flight = FlightServiceClient::new(endpoint.connect().await.unwrap());
    Client { flight, token: None }.open(&numbers_request(1)).await.unwrap();

    let without = FlightServiceClient::new(node.endpoint("http").connect_lazy());
    let refusal = Client { flight: without, token: None }.open(&numbers_request(2)).await;
    assert!(refusal.is_err(), "nothing is said in the clear");
}
