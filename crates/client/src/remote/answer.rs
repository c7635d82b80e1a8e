//! Receives the answer of a query. A lost stream is opened again at another gateway; what comes a
//! second time is for the reader to recognise.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow_flight::FlightData;
use async_trait::async_trait;
use caudal_protocol::calls::{ResultAck, ResultItem, ResultWhat, StreamCommand};
use caudal_protocol::ipc::Decoder;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Status, Streaming};

use super::error::Error;
use super::flight::{command, ipc_message, metadata};
use super::gateways::{Gateways, Link};
use super::refusal::garbled;
use crate::Answer;

pub struct RemoteAnswer {
    pub gateways: Arc<Gateways>,
    pub command: StreamCommand,
    pub stream: Option<Stream>,
}

/// One gateway's part of the answer.
pub struct Stream {
    link: Link,
    messages: Messages,
    /// Never holds more than the gateway has sent and not heard of.
    acks: mpsc::UnboundedSender<FlightData>,
    last_tag: u64,
}

struct Messages {
    stream: Streaming<FlightData>,
    decoder: Decoder,
}

#[async_trait]
impl Answer for RemoteAnswer {
    async fn next(&mut self) -> Result<(ResultWhat, Vec<RecordBatch>), crate::Error> {
        loop {
            if let Some(stream) = &mut self.stream {
                match self.gateways.unless_left(&stream.link, stream.messages.next()).await {
                    Ok((tag, what, rows)) => {
                        stream.link.works();
                        stream.last_tag = tag;
                        return Ok((what, rows));
                    }
                    Err(status) => self.gateways.fail(&stream.link, status).await?,
                }
            }
            self.stream = self.open().await?;
        }
    }

    async fn taken(&mut self) -> Result<(), crate::Error> {
        if let Some(stream) = &self.stream {
            // If it does not arrive, the message comes again.
            let _ = stream.acks.send(metadata(&ResultAck { tag: stream.last_tag }));
        }
        Ok(())
    }
}

impl RemoteAnswer {
    /// None where the gateway was lost before it answered.
    async fn open(&self) -> Result<Option<Stream>, Error> {
        let link = self.gateways.link().await?;
        let (acks, requests) = mpsc::unbounded_channel();
        let _ = acks.send(command(&self.command));
        let requests = UnboundedReceiverStream::new(requests);
        let mut client = link.down.clone();
        match self.gateways.unless_left(&link, client.do_exchange(requests)).await {
            Ok(opened) => {
                let messages =
                    Messages { stream: opened.into_inner(), decoder: Decoder::default() };
                Ok(Some(Stream { link, messages, acks, last_tag: 0 }))
            }
            Err(status) => self.gateways.fail(&link, status).await.map(|()| None),
        }
    }
}

impl Messages {
    async fn next(&mut self) -> Result<(u64, ResultWhat, Vec<RecordBatch>), Status> {
        loop {
            let data = self.stream.message().await?;
            let data = data.ok_or_else(|| Status::unavailable("it ended an answer too soon"))?;
            let rows = self
                .decoder
                .decode(&ipc_message(&data))
                .map_err(|error| garbled("an answer", &error))?;
            if data.app_metadata.is_empty() {
                continue;
            }
            let ResultItem { tag, what, .. } = serde_json::from_slice(&data.app_metadata)
                .map_err(|error| garbled("an answer", &error))?;
            return Ok((tag, what, rows.into_iter().collect()));
        }
    }
}
