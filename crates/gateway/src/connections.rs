//! The connections of a gateway: not more than a bound, and none that only sits there.

#![allow(clippy::disallowed_methods, reason = "connections are of the network: none is simulated")]

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use caudal_core::limits;
use futures::Stream;
use futures::stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::{Connected, TcpConnectInfo};
use tracing::warn;

/// Accepts connections for ever; those beyond the bound wait until another has gone. A client
/// has to say something within `timeout`.
pub fn accept(
    listener: TcpListener,
    connections_max: usize,
    timeout: Duration,
) -> impl Stream<Item = io::Result<Connection>> {
    let places = Arc::new(Semaphore::new(connections_max));
    stream::unfold((listener, places), move |(listener, places)| async move {
        let place = Arc::clone(&places).acquire_owned().await.ok()?;
        let tcp = next_connection(&listener).await;
        Some((Ok(Connection::new(tcp, timeout, place)), (listener, places)))
    })
}

/// An accept that fails says nothing about the next one.
async fn next_connection(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((tcp, _)) => return tcp,
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(limits::GATEWAY_ACCEPT_MS)).await;
            }
        }
    }
}

pub struct Connection {
    tcp: TcpStream,
    /// Until when the client has to say something, unless it has.
    first_bytes: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    fn new(tcp: TcpStream, timeout: Duration, place: OwnedSemaphorePermit) -> Self {
        // Small messages wait for nothing. Where it cannot be had, they do.
        let _ = tcp.set_nodelay(true);
        Self { tcp, first_bytes: Some(Box::pin(sleep(timeout))), _place: place }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(deadline) = &mut self.first_bytes else {
            return Pin::new(&mut self.tcp).poll_read(context, buffer);
        };
        let is_late = deadline.as_mut().poll(context).is_ready();
        match Pin::new(&mut self.tcp).poll_read(context, buffer) {
            Poll::Pending if is_late => {
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "it said nothing")))
            }
            read => {
                let read = ready!(read);
                self.first_bytes = None;
                Poll::Ready(read)
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.tcp.connect_info()
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn one_beyond_the_bound_waits_until_another_has_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut accepted = Box::pin(accept(listener, 1, Duration::from_secs(60)));
        let _clients = [
            TcpStream::connect(address).await.unwrap(),
            TcpStream::connect(address).await.unwrap(),
        ];
        let first = accepted.next().await.unwrap().unwrap();
        assert!(futures::poll!(accepted.next()).is_pending());
        drop(first);
        accepted.next().await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn one_that_says_nothing_is_closed_and_one_that_speaks_stays() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut accepted = Box::pin(accept(listener, 2, Duration::from_millis(50)));
        let _silent = TcpStream::connect(address).await.unwrap();
        let mut silent = accepted.next().await.unwrap().unwrap();
        let late = silent.read_u8().await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);

        let mut speaking = TcpStream::connect(address).await.unwrap();
        let mut heard = accepted.next().await.unwrap().unwrap();
        speaking.write_u8(7).await.unwrap();
        assert_eq!(heard.read_u8().await.unwrap(), 7);
        assert!(heard.first_bytes.is_none(), "from now on it may take its time");
    }
}
