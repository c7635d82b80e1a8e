//! The connections of a gateway: each has a [place](crate::places), and a stranger keeps it only for a while.

#![allow(clippy::disallowed_methods, reason = "connections are of the network: none is simulated")]

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use caudal_core::limits;
use futures::Stream;
use futures::stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};
use tonic::Extensions;
use tonic::transport::server::{Connected, TlsConnectInfo};
use tracing::warn;

use crate::Error;
use crate::places::{Bounds, Guest, Place, Places};
use crate::quota::Share;

/// Accepts connections for ever; one that can have no place is closed at once. Who has not been let in within
/// `timeout`, whatever it says meanwhile, is closed, too.
pub fn accept(
    listener: TcpListener,
    bounds: Bounds,
    timeout: Duration,
) -> impl Stream<Item = io::Result<Connection>> {
    let places = Places::new(bounds);
    stream::unfold((listener, places), move |(listener, places)| async move {
        let connection = loop {
            let (tcp, address) = next_connection(&listener).await;
            if let Some(place) = places.take(address.ip()) {
                break Connection::new(tcp, timeout, place);
            }
        };
        Some((Ok(connection), (listener, places)))
    })
}

/// An accept that fails says nothing about the next one.
async fn next_connection(listener: &TcpListener) -> (TcpStream, std::net::SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(limits::GATEWAY_ACCEPT_MS)).await;
            }
        }
    }
}

pub struct Connection {
    tcp: TcpStream,
    place: Place,
    /// Until when the client has to be let in, unless it has been.
    deadline: Option<Pin<Box<Sleep>>>,
}

/// Connection that a call came by.
#[derive(Clone, Debug)]
pub struct Caller {
    guest: Arc<Guest>,
}

impl Caller {
    /// The one of a call; `None` where there is no network.
    pub fn of(call: &Extensions) -> Option<&Self> {
        let by_tls = || call.get::<TlsConnectInfo<Self>>().map(TlsConnectInfo::get_ref);
        call.get::<Self>().or_else(by_tls)
    }

    /// Its token is accepted, if there is a share of it left: that of its first call counts.
    pub fn let_in(
        &self,
        share: impl FnOnce() -> Result<Option<Share>, Error>,
    ) -> Result<(), Error> {
        if !self.guest.is_let_in() {
            self.guest.let_in(share()?);
        }
        Ok(())
    }
}

impl Connection {
    fn new(tcp: TcpStream, timeout: Duration, place: Place) -> Self {
        // Small messages wait for nothing. Where it cannot be had, they do.
        let _ = tcp.set_nodelay(true);
        Self { tcp, place, deadline: Some(Box::pin(sleep(timeout))) }
    }

    /// An error for a stranger whose place is needed, or whose time is over.
    fn check_stranger(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(deadline) = &mut self.deadline else { return Ok(()) };
        if self.place.guest.is_sent_away(context.waker()) {
            let reason = "its place was needed, and it had shown no token";
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, reason));
        }
        if self.place.guest.is_let_in() {
            self.deadline = None;
            return Ok(());
        }
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "it has shown no token"))
            }
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_stranger(context)?;
        Pin::new(&mut self.tcp).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_stranger(context)?;
        Pin::new(&mut self.tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_stranger(context)?;
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
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        Caller { guest: Arc::clone(&self.place.guest) }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    const BOUNDS: Bounds =
        Bounds { connections_max: 3, per_address_max: 2, strangers_per_address_max: 1 };

    #[tokio::test]
    async fn one_without_a_place_is_closed_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut accepted = Box::pin(accept(listener, BOUNDS, Duration::from_secs(60)));
        let mut known = vec![];
        for _ in 0..2 {
            let client = TcpStream::connect(address).await.unwrap();
            let connection = accepted.next().await.unwrap().unwrap();
            connection.connect_info().let_in(|| Ok(None)).unwrap();
            known.push((client, connection));
        }
        let mut refused = TcpStream::connect(address).await.unwrap();
        assert!(futures::poll!(accepted.next()).is_pending(), "nobody has accepted it");
        let end = timeout(SOON, async {
            tokio::select! {
                biased;
                end = refused.read_u8() => end.unwrap_err(),
                _ = accepted.next() => unreachable!("nobody else connects"),
            }
        });
        let end = end.await.expect("it is not left waiting").kind();
        assert!(matches!(end, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset));
        let (mut client, mut connection) = known.pop().unwrap();
        client.write_u8(7).await.unwrap();
        assert_eq!(connection.read_u8().await.unwrap(), 7, "those who were let in stay");
    }

    #[tokio::test]
    async fn whatever_a_stranger_says_it_has_to_show_a_token_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut accepted = Box::pin(accept(listener, BOUNDS, Duration::from_millis(100)));
        let mut stranger = TcpStream::connect(address).await.unwrap();
        let mut heard = accepted.next().await.unwrap().unwrap();
        stranger.write_u8(7).await.unwrap();
        assert_eq!(heard.read_u8().await.unwrap(), 7);
        let late = timeout(SOON, heard.read_u8()).await.unwrap().unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        drop(heard);

        let mut client = TcpStream::connect(address).await.unwrap();
        let mut heard = accepted.next().await.unwrap().unwrap();
        heard.connect_info().let_in(|| Ok(None)).unwrap();
        let waits = timeout(Duration::from_millis(300), heard.read_u8()).await;
        assert!(waits.is_err(), "who was let in may take its time");
        client.write_u8(8).await.unwrap();
        assert_eq!(heard.read_u8().await.unwrap(), 8);
    }

    #[tokio::test]
    async fn a_stranger_whose_place_is_needed_is_woken_and_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut accepted = Box::pin(accept(listener, BOUNDS, Duration::from_secs(60)));
        let _first = TcpStream::connect(address).await.unwrap();
        let mut first = accepted.next().await.unwrap().unwrap();
        let reading = tokio::spawn(async move { first.read_u8().await });
        tokio::task::yield_now().await;
        let _second = TcpStream::connect(address).await.unwrap();
        let _second = accepted.next().await.unwrap().unwrap();
        let gone = timeout(SOON, reading).await.unwrap().unwrap().unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::ConnectionAborted);
    }
}
