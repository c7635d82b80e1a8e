//! Messages between monitors: a connection each, so that none waits behind another, or for a network that
//! was away.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use crate::limits::{CONNECTIONS_MAX, SEND_MS_MAX};
use crate::wire::{CHALLENGE_BYTES, Letter, Secret, letter_bytes};

/// Takes messages from whoever knows the secret, for as long as somebody reads them.
pub async fn receive(listener: TcpListener, secret: Secret, inbox: mpsc::Sender<Letter>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely.
            tokio::time::sleep(Duration::from_millis(SEND_MS_MAX)).await;
            continue;
        };
        let (secret, inbox) = (secret.clone(), inbox.clone());
        tokio::spawn(async move {
            let _place = place;
            let read = timeout(Duration::from_millis(2 * SEND_MS_MAX), read(stream, &secret));
            if let Ok(Ok(Some(letter))) = read.await {
                // Nobody reads any more: the monitor leaves.
                let _ = inbox.send(letter).await;
            }
        });
    }
}

async fn read(mut stream: TcpStream, secret: &Secret) -> io::Result<Option<Letter>> {
    let challenge = draw_challenge();
    stream.write_all(&challenge).await?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let Some(bytes) = letter_bytes(length) else { return Ok(None) };
    let mut letter = vec![0; bytes];
    stream.read_exact(&mut letter).await?;
    Ok(secret.open_letter(&letter, &challenge))
}

/// Delivers a message, or loses it.
pub async fn send(address: &str, letter: &Letter, secret: &Secret) {
    let deliver = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut challenge = [0; CHALLENGE_BYTES];
        stream.read_exact(&mut challenge).await?;
        stream.write_all(&secret.seal_letter(letter, &challenge)).await?;
        stream.shutdown().await
    };
    // One that is not there is what monitors are for.
    let _ = timeout(Duration::from_millis(SEND_MS_MAX), deliver).await;
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
    use crate::brain::Message;
    use crate::elect::Say;

    fn letter() -> Letter {
        let message = Message::Election(Say::Election);
        Letter { from: NodeId(1), to: NodeId(2), message }
    }

    async fn mailbox(secret: &str) -> (String, mpsc::Receiver<Letter>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (inbox, letters) = mpsc::channel(4);
        tokio::spawn(receive(listener, Secret::new(secret), inbox));
        (address, letters)
    }

    #[tokio::test]
    async fn letters_arrive_from_those_who_know_the_secret() {
        let (address, mut letters) = mailbox("ours").await;
        send(&address, &letter(), &Secret::new("another")).await;
        send(&address, &letter(), &Secret::new("ours")).await;
        assert_eq!(letters.recv().await, Some(letter()));
        assert!(letters.try_recv().is_err(), "the forged one came through");
    }

    /// What was recorded on the way is sent again, byte for byte.
    #[tokio::test]
    async fn a_letter_that_is_played_again_is_refused() {
        let (address, mut letters) = mailbox("ours").await;
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let mut challenge = [0; CHALLENGE_BYTES];
        stream.read_exact(&mut challenge).await.unwrap();
        let recorded = Secret::new("ours").seal_letter(&letter(), &challenge);
        stream.write_all(&recorded).await.unwrap();
        assert_eq!(letters.recv().await, Some(letter()));
        let mut again = TcpStream::connect(&address).await.unwrap();
        again.read_exact(&mut challenge).await.unwrap();
        again.write_all(&recorded).await.unwrap();
        // It closes the connection when it has read what it does not believe.
        assert_eq!(again.read(&mut [0; 1]).await.unwrap_or(0), 0);
        assert!(letters.try_recv().is_err());
    }

    #[tokio::test]
    async fn too_much_is_not_read() {
        let (address, _letters) = mailbox("ours").await;
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.read_exact(&mut [0; CHALLENGE_BYTES]).await.unwrap();
        stream.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    }
}
