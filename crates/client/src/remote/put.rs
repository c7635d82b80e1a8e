//! Sends the fragments of a table, each until it is safe.
//!
//! A stream has at most a window of fragments that are not acknowledged. When its gateway is lost they
//! are sent again at the next, under the same numbers, before any other.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_flight::{FlightData, PutResult};
use caudal_core::limits::PUT_WINDOW_FRAGMENTS;
use caudal_protocol::calls::PutAck;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::error::Error;
use super::gateways::{Gateways, Link};
use super::refusal::garbled;

pub struct Put {
    pub gateways: Arc<Gateways>,
    /// Says which table it is, and its schema.
    pub command: FlightData,
    /// Ends when the table does.
    pub fragments: mpsc::Receiver<FlightData>,
    pub unacked: VecDeque<FlightData>,
}

impl Put {
    /// Returns when the table has ended and all of it is safe.
    pub async fn run(mut self) -> Result<(), Error> {
        loop {
            let link = self.gateways.link().await?;
            let gateways = Arc::clone(&self.gateways);
            match gateways.unless_left(&link, self.send_through(&link)).await {
                Ok(()) => return Ok(()),
                Err(status) => gateways.fail(&link, status).await?,
            }
        }
    }

    async fn send_through(&mut self, link: &Link) -> Result<(), Status> {
        let (sender, messages) = mpsc::channel(1 + PUT_WINDOW_FRAGMENTS);
        for message in std::iter::once(&self.command).chain(&self.unacked) {
            sender.try_send(message.clone()).expect("a window of them has room");
        }
        let mut acks = link.up.clone().do_put(ReceiverStream::new(messages)).await?.into_inner();
        let mut acked = 0;
        let mut has_ended = false;
        while !(has_ended && self.unacked.is_empty()) {
            let has_room = !has_ended && self.unacked.len() < PUT_WINDOW_FRAGMENTS;
            tokio::select! {
                biased;
                ack = acks.message() => {
                    let ack = ack?.ok_or_else(|| Status::unavailable("it ended a stream too soon"))?;
                    acked += self.take_ack(&ack, acked)?;
                    link.works();
                }
                fragment = self.fragments.recv(), if has_room => match fragment {
                    Some(fragment) => {
                        self.unacked.push_back(fragment.clone());
                        // If nobody takes it, the acknowledgements end too, and say why.
                        let _ = sender.send(fragment).await;
                    }
                    None => has_ended = true,
                },
            }
        }
        Ok(())
    }

    /// Number of further fragments that are safe.
    fn take_ack(&mut self, ack: &PutResult, acked: u64) -> Result<u64, Status> {
        let ack: PutAck = serde_json::from_slice(&ack.app_metadata)
            .map_err(|error| garbled("an acknowledgement", &error))?;
        let more = ack.acked.saturating_sub(acked);
        if more > self.unacked.len() as u64 {
            let sent = acked + self.unacked.len() as u64;
            let excess = format!("{} fragments of {sent} sent", ack.acked);
            return Err(garbled("an acknowledgement", &excess));
        }
        self.unacked.drain(..more as usize);
        Ok(more)
    }
}
