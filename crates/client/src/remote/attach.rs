//! Says to one gateway at a time that the client is there, and hears how its session is.

use std::convert::Infallible;
use std::sync::Arc;

use caudal_core::SessionId;
use caudal_protocol::calls::{Status as SessionStatus, StreamCommand};
use futures::{StreamExt, stream};
use tonic::Status;

use super::error::Error;
use super::flight::command;
use super::gateways::{Gateways, Link};
use super::known::Known;
use super::refusal::garbled;

/// Keeps the session attached to the gateway that its other streams use, until it ends.
pub async fn keep(gateways: Arc<Gateways>, session: SessionId, known: Arc<Known>) {
    let error = loop {
        let link = match gateways.link().await {
            Ok(link) => link,
            Err(error) => break error,
        };
        let Err(lost) = gateways.unless_left(&link, stay(&link, &session, &known)).await;
        let reason = lost.message().to_string();
        if let Err(error) = gateways.fail(&link, lost).await {
            break error;
        }
        known.waits_for(vec![format!("lost the gateway {}: {reason}", link.address)]);
    };
    known.ends(error);
}

/// Stays attached there until that fails.
async fn stay(link: &Link, session: &SessionId, known: &Known) -> Result<Infallible, Status> {
    let attach = command(&StreamCommand::Attach { session: session.clone(), resends: true });
    // As long as this end is open, the client is there.
    let requests = stream::iter([attach]).chain(stream::pending());
    let mut statuses = link.up.clone().do_exchange(requests).await?.into_inner();
    known.waits_for(vec![]);
    while let Some(message) = statuses.message().await? {
        if message.app_metadata.is_empty() {
            continue;
        }
        let status: SessionStatus = serde_json::from_slice(&message.app_metadata)
            .map_err(|error| garbled("a status", &error))?;
        link.works();
        known.waits_for(status.waiting_for);
        known.resend(status.resend);
        if let Some(failure) = status.failure {
            known.ends(Error::Failed(failure));
        }
    }
    Err(Status::unavailable("it let the client go"))
}
