//! One connection to the broker, built again whenever it breaks.
//!
//! A supervisor owns it: connect, watch, back off, connect. Everybody else waits for it to be there
//! ([`Link::persist`]). lapin could recover by itself, but then a publish hangs through an outage
//! and a consumer starts again without saying so; here every break is an error that somebody sees.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits;
use caudal_runtime::Backoff;
use futures::{Stream, StreamExt};
use lapin::uri::AMQPUri;
use lapin::{Connection, ConnectionProperties, Event};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::fault::Fault;
use crate::{Error, Outage};

/// Between two lines of the log about the same outage.
const TELL_EVERY: Duration = Duration::from_millis(limits::BROKER_TELL_MS);

/// Between attempts to connect, or to do something with a connection.
const RETRY: Backoff = Backoff::new(limits::BROKER_RETRY_MS_MIN, limits::BROKER_RETRY_MS_MAX);

#[derive(Clone)]
pub struct Link {
    state: watch::Receiver<State>,
    /// Somebody met an error that the connection itself may not have reported.
    suspect: Arc<Notify>,
    address: String,
    timeout: Duration,
}

#[derive(Clone)]
enum State {
    Up(Arc<Connection>),
    Down { reason: String },
    Refused { reason: String },
}

impl Link {
    /// Starts to connect. The supervisor ends, and closes the connection, when the last clone of
    /// the link is dropped.
    pub fn start(
        runtime: &Handle,
        uri: AMQPUri,
        name: &'static str,
        timeout: Duration,
    ) -> (Self, JoinHandle<()>) {
        let address = format!("{}:{}", uri.authority.host, uri.authority.port);
        let (sender, state) = watch::channel(State::Down { reason: "not connected yet".into() });
        let suspect = Arc::new(Notify::new());
        let supervisor = runtime.spawn(supervise(uri, name, sender, Arc::clone(&suspect)));
        (Self { state, suspect, address, timeout }, supervisor)
    }

    /// Attempts something until it is done or refused; a lost connection is waited for. `subject`
    /// is what an attempt may find missing.
    pub async fn persist<T, F>(
        &self,
        subject: &str,
        attempt: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let mut deadline = None;
        let mut failures = 0;
        loop {
            let connection = self.up(&mut deadline).await?;
            let started = Instant::now();
            let reason = match attempt(connection).await {
                Ok(done) => return Ok(done),
                Err(Fault::NoQueue) => return Err(Error::NoQueue { queue: subject.to_string() }),
                Err(Fault::Refused(reason)) => return Err(Error::Refused { reason }),
                Err(Fault::Lost(reason)) => reason,
            };
            tracing::debug!(subject, reason, "broker connection lost, trying again");
            self.suspect.notify_one();
            // Held up for long, by a blocked broker say, it was not cut off all the time.
            if started.elapsed() > Duration::from_secs(limits::BROKER_CONNECT_SECONDS_MAX) {
                (deadline, failures) = (None, 0);
            }
            if Instant::now() >= *deadline.get_or_insert_with(|| self.deadline()) {
                return Err(self.away(reason));
            }
            sleep(RETRY.pause(failures)).await;
            failures += 1;
        }
    }

    /// Waits for the connection, up to a deadline that begins with the first wait.
    pub async fn up(&self, deadline: &mut Option<Instant>) -> Result<Arc<Connection>, Error> {
        if let State::Up(connection) = &*self.state.borrow()
            && connection.status().connected()
        {
            return Ok(Arc::clone(connection));
        }
        let deadline = *deadline.get_or_insert_with(|| self.deadline());
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| match state {
            State::Up(connection) => connection.status().connected(),
            State::Down { .. } => false,
            State::Refused { .. } => true,
        });
        let settled = timeout_at(deadline, settled).await;
        match settled.map(|state| state.map(|state| state.clone())) {
            Ok(Ok(State::Up(connection))) => Ok(connection),
            Ok(Ok(State::Refused { reason })) => Err(Error::Refused { reason }),
            Ok(Ok(State::Down { reason })) => Err(self.away(reason)),
            Ok(Err(closed)) => Err(Error::Lost { reason: closed.to_string() }),
            Err(_) => Err(self.away(self.last_reason())),
        }
    }

    pub fn outage(&self) -> Option<Outage> {
        match &*self.state.borrow() {
            State::Up(connection) if !connection.status().connected() => Some(Outage::Unreachable),
            State::Up(connection) if connection.status().blocked() => Some(Outage::Blocked),
            State::Up(_) => None,
            State::Down { .. } | State::Refused { .. } => Some(Outage::Unreachable),
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    fn last_reason(&self) -> String {
        match &*self.state.borrow() {
            State::Up(_) => "the connection keeps breaking".to_string(),
            State::Down { reason } | State::Refused { reason } => reason.clone(),
        }
    }

    fn away(&self, reason: String) -> Error {
        let seconds = self.timeout.as_secs();
        Error::Away { address: self.address.clone(), seconds, reason }
    }
}

async fn supervise(
    uri: AMQPUri,
    name: &'static str,
    state: watch::Sender<State>,
    suspect: Arc<Notify>,
) {
    let mut failures = 0;
    let mut last_told: Option<Instant> = None;
    while !state.is_closed() {
        let found = match connect(&uri, name).await {
            Ok(connection) => {
                failures = 0;
                let connection = Arc::new(connection);
                let events = connection.events_listener();
                state.send_replace(State::Up(Arc::clone(&connection)));
                tokio::select! {
                    reason = broken(&connection, events, &suspect) => State::Down { reason },
                    () = state.closed() => {
                        // Nobody is left to be told how it went.
                        let _ = connection.close(200, "done".into()).await;
                        return;
                    }
                }
            }
            Err(Fault::Refused(reason)) => State::Refused { reason },
            Err(Fault::NoQueue) => State::Refused { reason: "no such virtual host".into() },
            Err(Fault::Lost(reason)) => State::Down { reason },
        };
        if let State::Down { reason } | State::Refused { reason } = &found
            && last_told.is_none_or(|told| told.elapsed() >= TELL_EVERY)
        {
            tracing::warn!(name, reason, "no connection to the broker, trying again");
            last_told = Some(Instant::now());
        }
        state.send_replace(found);
        tokio::select! {
            () = sleep(RETRY.pause(failures)) => {}
            () = state.closed() => {}
        }
        failures += 1;
    }
}

async fn connect(uri: &AMQPUri, name: &'static str) -> Result<Connection, Fault> {
    let name = format!("caudal {name} {}", std::process::id());
    let properties = ConnectionProperties::default().with_connection_name(name.into());
    let connecting = Connection::connect_uri(uri.clone(), properties);
    match timeout(Duration::from_secs(limits::BROKER_CONNECT_SECONDS_MAX), connecting).await {
        Ok(connected) => Ok(connected?),
        Err(_) => {
            Err(Fault::Lost(format!("no answer for {} s", limits::BROKER_CONNECT_SECONDS_MAX)))
        }
    }
}

/// Returns, with the reason, when the connection is no more.
async fn broken(
    connection: &Connection,
    events: impl Stream<Item = Event>,
    suspect: &Notify,
) -> String {
    let mut events = pin!(events);
    let mut reason = "closed".to_string();
    while connection.status().connected() {
        tokio::select! {
            event = events.next() => match event {
                // Also the errors of single channels, which are their users' business.
                Some(Event::Error(error)) => reason = error.to_string(),
                Some(_) => {}
                None => return reason,
            },
            () = suspect.notified() => {}
        }
    }
    reason
}

/// The parsed URL, with our heartbeat.
pub fn parse(url: &str) -> Result<AMQPUri, Error> {
    let mut uri: AMQPUri = url.parse().map_err(|reason| Error::Refused {
        // The URL itself may hold a password.
        reason: format!("the broker's URL is not amqp://user:password@host:port/vhost: {reason}"),
    })?;
    uri.query.heartbeat = Some(limits::BROKER_HEARTBEAT_SECONDS);
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_none_is_refused_without_its_password() {
        let error = parse("http://user:secret@host").unwrap_err();
        assert!(matches!(error, Error::Refused { .. }));
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn nobody_waits_for_ever_for_a_broker_that_is_away() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        drop(socket);
        let uri = parse(&format!("amqp://127.0.0.1:{port}")).unwrap();
        let (link, _) = Link::start(&Handle::current(), uri, "test", Duration::from_millis(200));
        assert_eq!(link.outage(), Some(Outage::Unreachable));
        match link.up(&mut None).await {
            Err(Error::Away { address, .. }) => assert_eq!(address, format!("127.0.0.1:{port}")),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("somebody else took port {port}"),
        }
    }
}
