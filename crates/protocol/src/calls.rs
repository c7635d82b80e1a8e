//! Calls between clients and gateways, beside rows. `docs/protocol.md` has the rules.
//!
//! All of it is JSON: in the body of a Flight action, in the command of a descriptor, in the
//! application metadata of a batch. The token goes in the header `authorization: Bearer ...`; an error
//! comes with its code in the header [`CODE_HEADER`] and what to do about it in [`HINT_HEADER`].

use arrow::datatypes::SchemaRef;
use caudal_core::{Failure, FragmentId, Part, QueryId, RowFilter, SessionId, Source, TableId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::encoding::Encodings;
use crate::manifest::{QuerySpec, TableEntry};
use crate::message::{FragmentPart, Message};
use crate::schema;

pub const CODE_HEADER: &str = "caudal-code";
/// Base64 of UTF-8, as everything textual in a header.
pub const HINT_HEADER: &str = "caudal-hint";
/// The place of the mistake in a query's text, drawn; base64 of UTF-8.
pub const EXCERPT_HEADER: &str = "caudal-excerpt";
/// On a refusal that time can cure: when to try again.
pub const RETRY_MS_HEADER: &str = "caudal-retry-ms";

/// Action `open`. Saying it again with the same nonce finds the same session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenRequest {
    /// Random, at least 16 bytes in hexadecimal.
    pub nonce: String,
    pub tables: Vec<TableEntry>,
    pub queries: Vec<QuerySpec>,
    /// Without it, the gateway chooses.
    pub shards: Option<usize>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenReply {
    pub session: SessionId,
    pub tables: Vec<TableNeeds>,
    pub queries: Vec<QueryShape>,
    /// In hexadecimal.
    pub fingerprint: String,
}

/// Columns of a table that are to be sent, and rows that need not be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableNeeds {
    pub name: String,
    /// Whether the table is sent at all.
    pub needed: bool,
    /// Positions in the table's columns, in this order; the one after the last is the hidden column
    /// that numbers its rows.
    pub columns: Vec<usize>,
    /// The schema of each batch.
    #[serde(with = "schema::text")]
    pub schema: SchemaRef,
    /// Rows for which it does not hold may be sent or not. None: all are to be sent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "understood")]
    pub rows: Option<RowFilter>,
}

/// A filter, unless a later version has said it in words that this one does not know.
fn understood<'de, D: Deserializer<'de>>(json: D) -> Result<Option<RowFilter>, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(json)?).ok())
}

impl TableNeeds {
    /// The columns that are sent; none, if the table is not.
    pub fn sent(&self) -> Option<&[usize]> {
        self.needed.then_some(&self.columns)
    }
}

/// Columns of a query's answer, and where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryShape {
    pub name: String,
    /// The schema of the answer.
    #[serde(with = "schema::text")]
    pub schema: SchemaRef,
    /// The answer is complete when each of these is.
    pub sources: Vec<Source>,
    /// Nothing will come, for it cannot be answered. Where this is said of all queries, there is no session.
    #[serde(default)]
    pub refused: Option<Failure>,
}

/// The command of a `DoPut` or `DoExchange`: what the stream is for.
///
/// A client attaches first, and opens the other streams at the same gateway once the first [`Status`]
/// is there: a later attach, here or elsewhere, ends the results that are being sent to the old one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "stream", rename_all = "snake_case")]
pub enum StreamCommand {
    /// `DoPut`: batches of a table, each with [`PutBatch`]; answered with [`PutAck`]s.
    Table { session: SessionId, table: TableId },
    /// `DoExchange`: messages of an answer, each with [`ResultItem`]; acknowledged with [`ResultAck`].
    Result { session: SessionId, query: QueryId },
    /// `DoExchange`: says that the client is there, as long as it is open; answered with [`Status`].
    Attach {
        session: SessionId,
        /// The client can send its tables again, as [`Status::resend`] may ask it to. One that cannot loses its session with
        /// the first queue that the broker loses.
        #[serde(default)]
        resends: bool,
    },
}

/// With each batch of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PutBatch {
    pub number: u32,
    #[serde(default, rename = "narrow", skip_serializing_if = "Encodings::is_empty")]
    pub encodings: Encodings,
}

/// The first so many batches of this stream are safe.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PutAck {
    pub acked: u64,
}

/// Action `end`: how many batches a table has. Answered with `{}` when everybody who waits for the
/// table will learn it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndRequest {
    pub session: SessionId,
    pub table: TableId,
    pub count: u32,
    /// What became of its rows, where the client says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<TableRows>,
}

/// Rows of a table, as whoever read its files has counted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRows {
    /// Number of those that fit their table.
    pub sent: u64,
    /// Number of those that do not, and are in no answer.
    pub rejected: u64,
}

/// Actions `close` (the client is done) and `cancel` (those who still wait are told so): answered with
/// `{}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionRequest {
    pub session: SessionId,
}

/// With each message of an answer. Those with the same fragment and attempt belong together; a
/// fragment counts once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultItem {
    /// Its place in this stream, from zero: what a [`ResultAck`] names.
    pub tag: u64,
    #[serde(flatten)]
    pub what: ResultWhat,
    /// With what says an end: what became of the rows of each table of the session, as far as it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Option<TableRows>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultWhat {
    /// The message has rows, or none.
    Part {
        id: FragmentId,
        part: Part,
        end: Option<u32>,
    },
    End {
        source: Source,
        count: u32,
    },
    Failed {
        failure: Failure,
    },
}

impl ResultWhat {
    /// Whether it says where a source ends.
    pub fn says_an_end(&self) -> bool {
        matches!(self, ResultWhat::Part { end: Some(_), .. } | ResultWhat::End { .. })
    }

    /// Content of a message in the queue of a result; `None` for messages that are never sent to a client.
    pub fn of(message: &Message) -> Option<Self> {
        match message {
            Message::Part(FragmentPart { id, part, end, .. }) => {
                Some(ResultWhat::Part { id: *id, part: *part, end: *end })
            }
            Message::End { source, count } => {
                Some(ResultWhat::End { source: *source, count: *count })
            }
            Message::Failed { failure, .. } => {
                Some(ResultWhat::Failed { failure: failure.clone() })
            }
            Message::Baton | Message::Republish | Message::Table(_) => None,
        }
    }
}

/// The client has taken everything up to and with this tag.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ResultAck {
    pub tag: u64,
}

/// The status of a session, for a client that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Reasons to wait, most important first, in words.
    pub waiting_for: Vec<String>,
    /// Workers that serve the session.
    pub workers: usize,
    /// The session has ended so.
    pub failure: Option<Failure>,
    /// How often queues of the session were lost, and with them what was in them. For each time that a client learns of, it
    /// sends all its tables again, from their first fragment to their end: what has arrived before is known by its number.
    #[serde(default)]
    pub resend: u32,
}

/// Action `sessions`: those of the token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionsReply {
    pub sessions: Vec<SessionEntry>,
}

/// A session of a cluster that goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Identifier of the session.
    pub session: SessionId,
    /// Time at which it was opened, in milliseconds since 1970.
    pub started_ms: i64,
    /// Names of its queries.
    pub queries: Vec<String>,
    /// Names of its tables.
    pub tables: Vec<String>,
    /// Number of shards that its joins and aggregates are divided over.
    pub shards: usize,
    /// The gateway that has its client, if one does.
    pub gateway: Option<String>,
    /// Number of workers that serve it.
    pub workers: usize,
    /// What became of the rows of each of its tables, once all of them are sent and where its client says so.
    #[serde(default)]
    pub rows: Vec<Option<TableRows>>,
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Schema;

    use super::*;

    fn needs(rows: &str) -> TableNeeds {
        let schema = schema::encode(&Schema::empty());
        let json =
            format!(r#"{{"name":"t","needed":true,"columns":[],"schema":"{schema}"{rows}}}"#);
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_filter_that_is_not_understood_is_none() {
        assert_eq!(needs("").rows, None);
        let known = r#","rows":{"column":[1,"is_null"]}"#;
        assert!(needs(known).rows.is_some());
        for later in [r#"{"column":[1,"is_nice"]}"#, r#"{"none":[]}"#, r#""all""#, "null", "7"] {
            assert_eq!(needs(&format!(r#","rows":{later}"#)).rows, None);
        }
        let deep = format!("{}{}", r#"{"any":["#.repeat(50), "]}".repeat(50));
        assert!(needs(&format!(r#","rows":{deep}"#)).rows.is_some());
    }
}
