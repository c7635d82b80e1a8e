//! Results on their way to the client, and back where they came from if it does not say it has them.

use arrow::array::RecordBatch;
use arrow_flight::decode::FlightRecordBatchStream;
use caudal_core::{Attempt, FragmentId, Part, QueryId, SessionId, Source, StageId, TableId, codes};
use caudal_protocol::calls::{
    EndRequest, ResultAck, ResultItem, ResultWhat, SessionsReply, StreamCommand, TableRows,
};
use caudal_protocol::{Failure, FragmentPart, Message, Queues, Section};
use futures::{StreamExt, TryStreamExt};

use crate::support::{Client, Cluster, Exchange, code, numbers, numbers_request};

fn part(number: u32, batches: Vec<RecordBatch>) -> Message {
    let section = Section { stage: StageId(0), batches };
    Message::Part(FragmentPart {
        id: FragmentId { source: Source::Table(TableId(0)), number },
        part: Part { attempt: Attempt(7), index: 0, count: 1 },
        end: None,
        sections: vec![section],
    })
}

async fn opened(cluster: &Cluster) -> (Client, SessionId) {
    let client = cluster.gateway().await.client().await;
    let session = client.open(&numbers_request(1)).await.unwrap().session;
    (client, session)
}

async fn read(client: &Client, session: &SessionId, query: u32) -> Exchange {
    let (session, query) = (session.clone(), QueryId(query));
    client.exchange(&StreamCommand::Result { session, query }).await.unwrap()
}

fn number_of(what: &ResultWhat) -> u32 {
    match what {
        ResultWhat::Part { id, .. } => id.number,
        other => panic!("a part: {other:?}"),
    }
}

#[tokio::test]
async fn every_kind_of_message_reaches_the_client() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    let failure = Failure::new(codes::DATA, "no");
    let source = Source::Table(TableId(0));
    cluster.send(&queue, part(0, vec![numbers([2, 3]), numbers([4])])).await;
    cluster.send(&queue, part(1, vec![])).await;
    cluster.send(&queue, Message::End { source, count: 2 }).await;
    cluster.send(&queue, Message::Failed { query: QueryId(0), failure: failure.clone() }).await;

    let mut result = read(&client, &session, 0).await;
    let mut items = vec![];
    for _ in 0..4 {
        items.push(result.next_item().await.unwrap());
    }
    assert_eq!(items.iter().map(|item| item.tag).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(number_of(&items[0].what), 0);
    assert_eq!(number_of(&items[1].what), 1);
    assert!(matches!(items[2].what, ResultWhat::End { source: of, count: 2 } if of == source));
    assert!(matches!(&items[3].what, ResultWhat::Failed { failure: told } if *told == failure));
}

#[tokio::test]
async fn an_end_comes_with_what_is_not_in_the_answer() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    let source = Source::Table(TableId(0));
    let end = |rows| EndRequest { session: session.clone(), table: TableId(0), count: 2, rows };
    let first_end = async |client: &Client| -> ResultItem {
        let mut result = read(client, &session, 0).await;
        loop {
            let item = result.next_item().await.unwrap();
            if item.what.says_an_end() {
                return item;
            }
            assert_eq!(item.rows, [], "only an end has it");
        }
    };
    cluster.send(&queue, part(0, vec![numbers([2])])).await;
    cluster.send(&queue, Message::End { source, count: 2 }).await;
    // Clients of before do not say it.
    client.ask::<serde_json::Value>("end", &end(None)).await.unwrap();
    assert_eq!(first_end(&client).await.rows, [None, None]);
    let rows = Some(TableRows { sent: 98, rejected: 2 });
    client.ask::<serde_json::Value>("end", &end(rows)).await.unwrap();
    assert_eq!(first_end(&client).await.rows, [rows, None]);

    let other = cluster.gateway().await.client().await;
    assert_eq!(first_end(&other).await.rows, [rows, None], "whichever gateway is asked");
    let listed: SessionsReply = other.ask("sessions", &serde_json::json!({})).await.unwrap();
    assert_eq!(listed.sessions[0].rows, [rows, None]);
}

#[test]
fn what_is_said_of_rows_is_optional() {
    let old = r#"{"session":"s","table":0,"count":12}"#;
    let end: EndRequest = serde_json::from_str(old).unwrap();
    assert_eq!(end.rows, None);
    assert_eq!(serde_json::to_string(&end).unwrap(), old);
    let new = r#"{"session":"s","table":0,"count":12,"rows":{"sent":98,"rejected":2}}"#;
    let end: EndRequest = serde_json::from_str(new).unwrap();
    assert_eq!(end.rows, Some(TableRows { sent: 98, rejected: 2 }));
    let old = r#"{"tag":1,"type":"end","source":{"table":0},"count":12}"#;
    let item: ResultItem = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&item).unwrap(), old);
}

#[tokio::test]
async fn any_flight_client_can_decode_the_rows() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    cluster.send(&queue, part(0, vec![numbers([2, 3]), numbers([4])])).await;
    let result = read(&client, &session, 0).await;
    let messages = result.answers.take(2).map_err(Into::into);
    let rows = FlightRecordBatchStream::new_from_flight_data(messages);
    let rows: Vec<_> = rows.try_collect().await.unwrap();
    assert_eq!(rows, [numbers([2, 3, 4])], "one batch for one message");
}

#[tokio::test]
async fn what_was_not_acknowledged_comes_again() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    for number in 0..4 {
        cluster.send(&queue, part(number, vec![numbers([9])])).await;
    }
    let mut first = read(&client, &session, 0).await;
    for number in 0..3 {
        assert_eq!(number_of(&first.next_item().await.unwrap().what), number);
    }
    // Up to and with the second; the third was read and not acknowledged.
    first.say(&ResultAck { tag: 1 });
    assert_eq!(number_of(&first.next_item().await.unwrap().what), 3);
    // Acknowledgements are taken before the end of the stream they come on.
    drop(first.sender);
    assert!(first.answers.message().await.unwrap().is_none());
    let mut again = read(&client, &session, 0).await;
    for number in [2, 3] {
        assert_eq!(number_of(&again.next_item().await.unwrap().what), number);
    }
}

#[tokio::test]
async fn a_reader_makes_way_for_the_one_of_a_later_attach() {
    let cluster = Cluster::new();
    let one = cluster.gateway_with(|settings| settings.name = "one".into()).await;
    let two = cluster.gateway_with(|settings| settings.name = "two".into()).await;
    let (one, two) = (one.client().await, two.client().await);
    let session = one.open(&numbers_request(1)).await.unwrap().session;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    cluster.send(&queue, part(0, vec![numbers([9])])).await;

    let _attached = one.attach(&session).await.unwrap();
    let mut old = read(&one, &session, 0).await;
    assert_eq!(number_of(&old.next_item().await.unwrap().what), 0);
    let _attached_elsewhere = two.attach(&session).await.unwrap();
    assert_eq!(code(&old.end().await), "CDL-8009");
    let mut new = read(&two, &session, 0).await;
    assert_eq!(number_of(&new.next_item().await.unwrap().what), 0, "it comes again");
    let _attached_again = two.attach(&session).await.unwrap();
    assert_eq!(code(&new.end().await), "CDL-8009", "at the same gateway, too");
}

#[tokio::test]
async fn a_reader_of_before_the_first_attach_belongs_to_it() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    let mut early = read(&client, &session, 0).await;
    let _attached = client.attach(&session).await.unwrap();
    cluster.send(&queue, part(0, vec![numbers([9])])).await;
    assert_eq!(number_of(&early.next_item().await.unwrap().what), 0);
    let _attached_again = client.attach(&session).await.unwrap();
    assert_eq!(code(&early.end().await), "CDL-8009");
}

#[tokio::test]
async fn a_reader_learns_how_its_session_ended() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let cancelled = read(&client, &session, 1).await;
    let named = serde_json::json!({ "session": session });
    client.ask::<serde_json::Value>("cancel", &named).await.unwrap();
    assert_eq!(code(&cancelled.end().await), "CDL-8013");
    let command = StreamCommand::Result { session, query: QueryId(1) };
    let refusal = client.exchange(&command).await.err().unwrap();
    assert_eq!(code(&refusal), "CDL-8013");
}

#[tokio::test]
async fn what_is_no_query_and_no_acknowledgement_is_refused() {
    let cluster = Cluster::new();
    let (client, session) = opened(&cluster).await;
    let command = StreamCommand::Result { session: session.clone(), query: QueryId(2) };
    let refusal = client.exchange(&command).await.err().unwrap();
    assert_eq!(code(&refusal), "CDL-8004");
    let result = read(&client, &session, 0).await;
    result.say(&"thanks");
    assert_eq!(code(&result.end().await), "CDL-8004");
}
