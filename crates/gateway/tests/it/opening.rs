//! Opening: once for each nonce, within the limit, from wherever an earlier attempt got to.

use caudal_protocol::calls::{HINT_HEADER, OpenRequest, RETRY_MS_HEADER};
use caudal_protocol::manifest::TableEntry;
use caudal_protocol::{Objects, Queues};
use tonic::Code;

use crate::support::{Cluster, code, header, numbers_request, text_header};

#[tokio::test]
async fn an_open_says_what_to_send_and_what_will_come() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let reply = client.open(&numbers_request(1)).await.unwrap();
    assert_eq!(reply.session.0.len(), 32);
    let [numbers, unread] = &reply.tables[..] else { panic!("two tables") };
    assert!(numbers.needed && !unread.needed);
    assert_eq!(numbers.columns, [0]);
    assert_eq!(numbers.schema.fields().len(), 1, "nothing that no query needs");
    let [big, sums] = &reply.queries[..] else { panic!("two queries") };
    assert_eq!(big.sources.len(), 1, "the table itself");
    assert_eq!(sums.sources.len(), 2, "two shards");
    assert_eq!(sums.schema.field(1).name(), "s");
    let queues = Queues { session: reply.session }.all(2, 2);
    let mut names = cluster.broker.queue_names();
    names.sort();
    assert_eq!(names.len(), queues.len());
}

#[tokio::test]
async fn the_same_request_finds_the_same_session_at_any_gateway() {
    let cluster = Cluster::new();
    let (one, two) = (cluster.gateway().await, cluster.gateway().await);
    let (one, two) = (one.client().await, two.client().await);
    let first = one.open(&numbers_request(1)).await.unwrap();
    let again = one.open(&numbers_request(1)).await.unwrap();
    let elsewhere = two.open(&numbers_request(1)).await.unwrap();
    assert_eq!(first.session, again.session);
    assert_eq!(first.session, elsewhere.session);
    assert_eq!(first.fingerprint, elsewhere.fingerprint);
    assert_eq!(cluster.store.list("slots").await.unwrap().len(), 1, "one place");
    let other = one.open(&numbers_request(2)).await.unwrap();
    assert_ne!(first.session, other.session);
}

#[tokio::test]
async fn requests_at_the_same_time_open_one_session() {
    let cluster = Cluster::new();
    let (one, two) = (cluster.gateway().await, cluster.gateway().await);
    let (one, two) = (one.client().await, two.client().await);
    for nonce in 0..20 {
        let request = numbers_request(nonce);
        let (first, second) = tokio::join!(one.open(&request), two.open(&request));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(first.session, second.session);
        assert_eq!(first.fingerprint, second.fingerprint);
        one.close(&first.session).await.unwrap();
    }
    assert!(cluster.leftovers().await.is_empty());
}

#[tokio::test]
async fn a_nonce_is_good_for_one_set_of_queries() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    client.open(&numbers_request(1)).await.unwrap();
    let mut other = numbers_request(1);
    other.queries.pop();
    let refusal = client.open(&other).await.unwrap_err();
    assert_eq!((refusal.code(), code(&refusal)), (Code::InvalidArgument, "CDL-8004"));
}

#[tokio::test]
async fn one_session_too_many_is_told_when_to_come_back() {
    let cluster = Cluster::new();
    let node = cluster.gateway_with(|settings| settings.sessions_max = 2).await;
    let client = node.client().await;
    let first = client.open(&numbers_request(1)).await.unwrap();
    client.open(&numbers_request(2)).await.unwrap();
    let refusal = client.open(&numbers_request(3)).await.unwrap_err();
    assert_eq!((refusal.code(), code(&refusal)), (Code::ResourceExhausted, "CDL-8003"));
    assert!(header(&refusal, RETRY_MS_HEADER).unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(text_header(&refusal, HINT_HEADER), "try again when another session has ended");
    client.open(&numbers_request(2)).await.expect("who has a place keeps it");
    client.close(&first.session).await.unwrap();
    client.open(&numbers_request(3)).await.expect("there is capacity again");
}

#[tokio::test]
async fn a_query_that_cannot_be_planned_is_refused_and_the_others_are_not() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let mut request = numbers_request(1);
    request.queries[0].sql = "SELECT m\nFROM numbers".to_string();
    let reply = client.open(&request).await.unwrap();
    let [big, sums] = &reply.queries[..] else { panic!("two queries") };
    assert!(big.sources.is_empty() && !sums.sources.is_empty() && sums.refused.is_none());
    let refusal = big.refused.as_ref().unwrap();
    assert_eq!(refusal.code, "CDL-2003");
    assert_eq!(refusal.hint.as_deref(), Some("the columns here are n, unused"));
    let excerpt = refusal.excerpt.as_ref().unwrap();
    assert!(excerpt.contains("1 | SELECT m\n  |        ^"), "{excerpt}");
    assert!(reply.tables[0].needed, "by the other");
    let again = client.open(&request).await.unwrap();
    assert_eq!((again.session, again.fingerprint), (reply.session, reply.fingerprint));
}

#[tokio::test]
async fn nothing_is_opened_where_every_query_is_refused() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let mut request = numbers_request(1);
    request.queries[0].sql = "SELECT m FROM numbers".to_string();
    request.queries[1].sql = "SELECT".to_string();
    let reply = client.open(&request).await.unwrap();
    let codes: Vec<_> =
        reply.queries.iter().map(|query| query.refused.as_ref().unwrap().code).collect();
    assert_eq!(codes, ["CDL-2003", "CDL-2001"], "each is told");
    assert!(reply.tables.iter().all(|table| !table.needed));
    assert!(cluster.leftovers().await.is_empty(), "nothing was taken for it");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    for garbage in ["", "{}", "[1,2", "\u{0}\u{1}", "{\"nonce\": 7}"] {
        let refusal = client.action("open", garbage).await.unwrap_err();
        assert_eq!((refusal.code(), code(&refusal)), (Code::InvalidArgument, "CDL-8004"));
    }
    let refusal = client.action("explode", "").await.unwrap_err();
    assert_eq!(code(&refusal), "CDL-8004");

    let changed = |change: &dyn Fn(&mut OpenRequest)| {
        let mut request = numbers_request(1);
        change(&mut request);
        request
    };
    let table = TableEntry { name: "t".into(), schema: "bm9uZQ==".into() };
    let cases = [
        (changed(&|request| request.nonce = "1".into()), "CDL-8004"),
        (changed(&|request| request.shards = Some(0)), "CDL-8004"),
        (changed(&|request| request.shards = Some(1000)), "CDL-2010"),
        (changed(&|request| request.tables = vec![table.clone(); 300]), "CDL-8004"),
        (changed(&|request| request.tables = vec![table.clone()]), "CDL-2012"),
    ];
    for (request, expected) in cases {
        let refusal = client.open(&request).await.unwrap_err();
        assert_eq!(code(&refusal), expected, "{}", refusal.message());
    }
    client.open(&numbers_request(1)).await.expect("and all is well");
}

#[tokio::test]
async fn an_open_goes_on_from_where_a_dead_gateway_left_it() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let reply = client.open(&numbers_request(1)).await.unwrap();
    let objects = Objects { session: reply.session.clone() };
    let manifest = cluster.store.get(&objects.manifest()).await.unwrap().unwrap();

    // It died after it had taken the place.
    cluster.store.delete_folder(&objects.folder()).await.unwrap();
    let again = client.open(&numbers_request(1)).await.unwrap();
    assert_eq!(again.session, reply.session);
    assert_eq!(cluster.store.list("slots").await.unwrap().len(), 1);

    // It died after it had written the manifest, and half of the queues.
    cluster.store.put(&objects.manifest(), manifest).await.unwrap();
    let half = Queues { session: reply.session.clone() }.all(2, 2);
    for queue in &half[2..] {
        caudal_broker::Broker::delete(&cluster.broker, queue).await.unwrap();
    }
    client.open(&numbers_request(1)).await.unwrap();
    assert_eq!(cluster.broker.queue_names().len(), half.len());
    let batons = cluster.take_all(&half[2]).await;
    assert!(!batons.is_empty(), "each shard has its baton");
}

#[tokio::test]
async fn a_closed_session_is_not_opened_again() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let reply = client.open(&numbers_request(1)).await.unwrap();
    client.close(&reply.session).await.unwrap();
    let refusal = client.open(&numbers_request(1)).await.unwrap_err();
    assert_eq!((refusal.code(), code(&refusal)), (Code::FailedPrecondition, "CDL-8008"));
    assert!(cluster.leftovers().await.is_empty());
}
