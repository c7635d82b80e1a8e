//! The transport of messages between monitors: a connection each, so that none waits behind another, or for a network that
//! was away.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits::{MONITOR_CONNECTIONS_MAX, MONITOR_SEND_MS_MAX};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use crate::wire::{CHALLENGE_BYTES, Envelope, Secret, envelope_bytes};

/// Takes messages from senders that know the secret, for as long as somebody reads them.
pub async fn receive(listener: TcpListener, secret: Secret, inbox: mpsc::Sender<Envelope>) {
    let capacity = Arc::new(Semaphore::new(MONITOR_CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&capacity).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely.
            tokio::time::sleep(Duration::from_millis(MONITOR_SEND_MS_MAX)).await;
            continue;
        };
        let (secret, inbox) = (secret.clone(), inbox.clone());
        tokio::spawn(async move {
            let _place = place;
            let read =
                timeout(Duration::from_millis(2 * MONITOR_SEND_MS_MAX), read(stream, &secret));
            if let Ok(Ok(Some(envelope))) = read.await {
                // Nobody reads any more: the monitor leaves.
                let _ = inbox.send(envelope).await;
            }
        });
    }
}

async fn read(mut stream: TcpStream, secret: &Secret) -> io::Result<Option<Envelope>> {
    let challenge = draw_challenge();
    stream.write_all(&challenge).await?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let Some(bytes) = envelope_bytes(length) else { return Ok(None) };
    let mut envelope = vec![0; bytes];
    stream.read_exact(&mut envelope).await?;
    Ok(secret.open_envelope(&envelope, &challenge))
}

/// Delivers a message, or loses it.
pub async fn send(address: &str, envelope: &Envelope, secret: &Secret) {
    let deliver = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut challenge = [0; CHALLENGE_BYTES];
        stream.read_exact(&mut challenge).await?;
        stream.write_all(&secret.seal_envelope(envelope, &challenge)).await?;
        stream.shutdown().await
    };
    // One that is not there is what monitors are for.
    let _ = timeout(Duration::from_millis(MONITOR_SEND_MS_MAX), deliver).await;
}

/// Never the same twice: that is all it has to be.
fn draw_challenge() -> [u8; CHALLENGE_BYTES] {
    let mut challenge = [0; CHALLENGE_BYTES];
    fastrand::fill(&mut challenge);
    challenge
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::elect::ElectionMessage;
    use crate::state::Message;

    fn envelope() -> Envelope {
        let message = Message::Election(ElectionMessage::Election);
        Envelope { from: NodeId(1), to: NodeId(2), message }
    }

    async fn inbox_of(secret: &str) -> (String, mpsc::Receiver<Envelope>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (inbox, envelopes) = mpsc::channel(4);
        tokio::spawn(receive(listener, Secret::new(secret), inbox));
        (address, envelopes)
    }

    #[tokio::test]
    async fn envelopes_arrive_from_those_who_know_the_secret() {
        let (address, mut envelopes) = inbox_of("ours").await;
        send(&address, &envelope(), &Secret::new("another")).await;
        send(&address, &envelope(), &Secret::new("ours")).await;
        assert_eq!(envelopes.recv().await, Some(envelope()));
        assert!(envelopes.try_recv().is_err(), "the forged one came through");
    }

    /// An envelope that was recorded on the way is sent again, byte for byte.
    #[tokio::test]
    async fn an_envelope_that_is_played_again_is_refused() {
        let (address, mut envelopes) = inbox_of("ours").await;
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let mut challenge = [0; CHALLENGE_BYTES];
        stream.read_exact(&mut challenge).await.unwrap();
        let recorded = Secret::new("ours").seal_envelope(&envelope(), &challenge);
        stream.write_all(&recorded).await.unwrap();
        assert_eq!(envelopes.recv().await, Some(envelope()));
        let mut again = TcpStream::connect(&address).await.unwrap();
        again.read_exact(&mut challenge).await.unwrap();
        again.write_all(&recorded).await.unwrap();
        // It closes the connection when it has read what it does not believe.
        assert_eq!(again.read(&mut [0; 1]).await.unwrap_or(0), 0);
        assert!(envelopes.try_recv().is_err());
    }

    #[tokio::test]
    async fn too_much_is_not_read() {
        let (address, _envelopes) = inbox_of("ours").await;
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.read_exact(&mut [0; CHALLENGE_BYTES]).await.unwrap();
        stream.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    }
}
