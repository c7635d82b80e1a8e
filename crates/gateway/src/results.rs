//! Hands a query's result to its client, message by message, and tells the broker what the client has.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use caudal_broker::{Body, Consumer, DeliveryTag, RawDelivery};
use caudal_core::{Failure, QueryId, SessionId, limits};
use caudal_protocol::calls::{ResultItem, ResultWhat};
use caudal_protocol::wire;
use caudal_runtime::failpoint::hit;
use tracing::info;

use crate::open_sessions::OpenSession;
use crate::quota::Share;
use crate::rows::{self, Rows};
use crate::tokens::Owner;
use crate::{Error, Gateway};

/// A client that reads a result.
pub struct ResultStream {
    gateway: Arc<Gateway>,
    open: Arc<OpenSession>,
    query: QueryId,
    schema: SchemaRef,
    /// None: lost, and to be had again.
    consumer: Option<Box<dyn Consumer>>,
    /// Why the query fails, to be told before anything else.
    failure: Option<Failure>,
    /// Messages that the client has not acknowledged, by their place in this stream.
    sent: VecDeque<(u64, DeliveryTag)>,
    next_tag: u64,
    /// A message that is numbered and not handed on.
    ready: Option<(ResultItem, Rows)>,
    /// Of the client's attach: a later one has readers of its own. Zero before the first.
    epoch: u64,
    _share: Option<Share>,
}

impl Gateway {
    /// Begins to read a query's result.
    pub async fn result(
        self: &Arc<Self>,
        owner: &Owner,
        session: &SessionId,
        query: QueryId,
    ) -> Result<ResultStream, Error> {
        let open = self.find(owner, session).await?;
        let schema = Arc::clone(&open.answer(query)?.schema);
        let epoch = open.epoch();
        let tenant = self.settings.tenant(owner);
        let share = tenant.map(|tenant| self.quotas.results.take(tenant)).transpose()?;
        let consumer = Some(self.with_queue(&open, || open.session.result(query)).await?);
        let failure = self.in_time(session, self.records_of(session).failure(query)).await?;
        let (gateway, sent) = (Arc::clone(self), VecDeque::new());
        Ok(ResultStream {
            gateway,
            open,
            query,
            schema,
            consumer,
            failure,
            sent,
            next_tag: 0,
            ready: None,
            epoch,
            _share: share,
        })
    }
}

impl ResultStream {
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next message, with its rows if it has any. May be dropped and called again.
    pub async fn next(&mut self) -> Result<(ResultItem, Rows), Error> {
        if self.epoch == 0 {
            self.epoch = self.open.epoch();
        }
        let (gateway, open, epoch) =
            (Arc::clone(&self.gateway), Arc::clone(&self.open), self.epoch);
        tokio::select! {
            biased;
            leaving = gateway.left() => Err(leaving),
            () = open.superseded(epoch) => {
                Err(Error::LeaseLost { session: open.manifest.session.clone() })
            }
            message = self.next_message() => message,
        }
    }

    /// The client has everything up to and with this place.
    pub async fn ack(&mut self, tag: u64) -> Result<(), Error> {
        hit("result.sent");
        while let Some(consumer) = &self.consumer
            && let Some((sent, delivery)) = self.sent.front().copied()
            && sent <= tag
        {
            match consumer.ack(delivery).await {
                Ok(()) => drop(self.sent.pop_front()),
                Err(error) => self.lose(error)?,
            }
        }
        Ok(())
    }

    async fn next_message(&mut self) -> Result<(ResultItem, Rows), Error> {
        loop {
            if let Some((item, _)) = &mut self.ready
                && item.what.says_an_end()
            {
                item.rows = self.gateway.rows(&self.open).await?;
            }
            if let Some(ready) = self.ready.take() {
                return Ok(ready);
            }
            if let Some(failure) = self.failure.take() {
                let (tag, what) = (self.next_place(), ResultWhat::Failed { failure });
                return Ok((ResultItem { tag, what, rows: vec![] }, vec![]));
            }
            let Some(consumer) = &mut self.consumer else {
                self.subscribe_again().await?;
                continue;
            };
            match consumer.next_raw().await {
                Ok(Some(RawDelivery { tag, body })) => match self.read(body) {
                    Ok(Some((what, rows))) => self.ready = Some((self.number(tag, what), rows)),
                    // What is not for a client is as good as unread.
                    Ok(None) => {}
                    Err(garbage) => self.lose(garbage)?,
                },
                // Over, or lost: to subscribe again is to find out.
                Ok(None) => {
                    self.sent.clear();
                    self.consumer = None;
                }
                Err(error) => self.lose(error)?,
            }
        }
    }

    fn number(&mut self, delivery: DeliveryTag, what: ResultWhat) -> ResultItem {
        let tag = self.next_place();
        self.sent.push_back((tag, delivery));
        ResultItem { tag, what, rows: vec![] }
    }

    fn next_place(&mut self) -> u64 {
        self.next_tag += 1;
        self.next_tag - 1
    }

    /// Content of a message for the client, and its rows.
    fn read(&self, body: Body) -> Result<Option<(ResultWhat, Rows)>, caudal_broker::Error> {
        let read = match body {
            Body::Message(message) => rows::of_message(&message)
                .map(|rows| (ResultWhat::of(&message), rows))
                .map_err(wire::Error::from),
            Body::Encoded(encoded) => wire::open(encoded).and_then(|(message, streams)| {
                Ok((ResultWhat::of(&message), rows::of_streams(&streams)?))
            }),
        };
        let (what, rows) = read.map_err(|error| caudal_broker::Error::Garbage {
            queue: self.open.session.queues.result(self.query),
            reason: error.to_string(),
        })?;
        Ok(what.map(|what| (what, rows)))
    }

    /// Subscribes anew: what was not acknowledged comes again; the client knows it by its identity.
    fn lose(&mut self, lost: caudal_broker::Error) -> Result<(), Error> {
        use caudal_broker::Error::{Lost, Stale};
        if !matches!(lost, Lost { .. } | Stale { .. }) {
            return Err(lost.into());
        }
        info!(session = %self.open.manifest.session, query = %self.query, %lost, "result subscription lost");
        self.sent.clear();
        self.consumer = None;
        Ok(())
    }

    async fn subscribe_again(&mut self) -> Result<(), Error> {
        caudal_runtime::time::sleep(Duration::from_millis(limits::RESUBSCRIBE_MS)).await;
        let (open, query) = (Arc::clone(&self.open), self.query);
        match self.gateway.with_queue(&open, || open.session.result(query)).await {
            Ok(consumer) => {
                // The queue that is gone may have held it, and what is published again does not say it.
                let session = &open.manifest.session;
                let records = self.gateway.records_of(session);
                self.failure = self.gateway.in_time(session, records.failure(query)).await?;
                self.consumer = Some(consumer);
            }
            Err(Error::Broker(error)) => self.lose(error)?,
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
