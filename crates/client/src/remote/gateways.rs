//! The gateways of a cluster, of which a client talks to one at a time.
//!
//! Every loss of a gateway, whichever stream notices it, comes to [`Gateways::fail`]: all streams of
//! the session then leave it and go on together at the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow_flight::Action;
use arrow_flight::flight_service_client::FlightServiceClient;
use caudal_core::limits;
use caudal_runtime::Backoff;
use caudal_runtime::Level;
use caudal_runtime::failpoint;
use caudal_runtime::time::{Instant, now, since, sleep, sleep_until};
use serde::Serialize;
use tokio::sync::Mutex;
use tonic::Status;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Endpoint;

use super::error::{Error, Tried};
use super::line::{Dial, Wire};
use super::refusal::{Refusal, root_cause};
use super::settings::{Bearer, Settings};

type Client = FlightServiceClient<InterceptedService<Wire, Bearer>>;

/// Before a gateway that failed is tried again.
const RETRY: Backoff = Backoff::new(limits::GATEWAY_RETRY_MS_MIN, limits::GATEWAY_RETRY_MS_MAX);

pub struct Gateways {
    bearer: Bearer,
    dial: Option<Arc<dyn Dial>>,
    away_max: Duration,
    /// Held by whoever connects: the others wait for the same link.
    state: Mutex<State>,
    /// Raised when a link is given up.
    generation: Level,
}

struct State {
    gateways: Vec<Gateway>,
    link: Option<Link>,
    /// The gateway whose turn it is, where several could be tried.
    next: usize,
    /// Last time at which a gateway was known to work.
    away_since: Instant,
    /// Some gateway has said something, if only that it cannot help at present.
    has_answered: bool,
}

struct Gateway {
    address: String,
    endpoint: Endpoint,
    failures: u32,
    not_before: Instant,
    trouble: String,
}

/// Connections to one gateway.
#[derive(Clone)]
pub struct Link {
    pub address: String,
    /// For calls, uploads and their acknowledgements.
    pub up: Client,
    /// For answers. Apart from the others: rows that nobody reads yet fill a connection's window,
    /// and no acknowledgement would pass them.
    pub down: Client,
    gateway: usize,
    generation: u64,
    works: Arc<AtomicBool>,
}

impl Link {
    /// The gateway has done something that it was asked.
    pub fn works(&self) {
        self.works.store(true, Ordering::Relaxed);
    }
}

impl Gateways {
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let now = now();
        let gateway = |address: &String| {
            Ok(Gateway {
                address: address.clone(),
                endpoint: settings.endpoint(address)?,
                failures: 0,
                not_before: now,
                trouble: "not tried".to_string(),
            })
        };
        let mut gateways = settings.gateways.iter().map(gateway).collect::<Result<Vec<_>, _>>()?;
        // Many clients with the same list must not all begin at the same one.
        fastrand::shuffle(&mut gateways);
        let state = State { gateways, link: None, next: 0, away_since: now, has_answered: false };
        Ok(Self {
            bearer: settings.bearer()?,
            dial: settings.dial.clone(),
            away_max: settings.away_max,
            state: Mutex::new(state),
            generation: Level::default(),
        })
    }

    /// Asks one gateway after the other until one answers.
    pub async fn action(&self, name: &str, request: &impl Serialize) -> Result<Reply, Error> {
        let body = serde_json::to_vec(request).expect("requests are plain data");
        let action = Action::new(name, body);
        loop {
            let link = self.link().await?;
            match self.unless_left(&link, act(&link, action.clone())).await {
                Ok(body) => {
                    link.works();
                    return Ok(Reply { address: link.address, body });
                }
                Err(status) => self.fail(&link, status).await?,
            }
            if name == "end" && failpoint::mutant("end_once") {
                return Ok(Reply { address: link.address, body: vec![] });
            }
        }
    }

    /// The link that all use, or a new one to a gateway that can be reached.
    pub async fn link(&self) -> Result<Link, Error> {
        let mut state = self.state.lock().await;
        loop {
            if let Some(link) = &state.link {
                return Ok(link.clone());
            }
            let give_up_at = state.away_since + state.timeout(self.away_max);
            let turn = state.whose_turn();
            sleep_until(state.gateways[turn].not_before.min(give_up_at)).await;
            if now() >= give_up_at && state.all_tried() {
                return Err(state.no_gateway());
            }
            let generation = self.generation.get();
            match state.gateways[turn].connect(self, turn, generation).await {
                Ok(link) => state.link = Some(link),
                Err(trouble) => state.failed(turn, trouble, Duration::ZERO),
            }
        }
    }

    /// Outcome of a call or a stream that did not end well: an error, if no gateway could do better;
    /// otherwise the link is given up, and whoever needs one asks for another.
    pub async fn fail(&self, link: &Link, status: Status) -> Result<(), Error> {
        let refusal = Refusal::from(status);
        if refusal.is_garbled() {
            let (address, reason) = (link.address.clone(), refusal.message);
            return Err(Error::Garbled { address, reason });
        }
        if refusal.is_superseded() {
            sleep(RETRY.pause(0)).await;
            return Ok(());
        }
        if !refusal.is_passing() {
            return Err(Error::Refused(refusal));
        }
        let mut state = self.state.lock().await;
        let is_current = |current: &Link| current.generation == link.generation;
        if !state.link.as_ref().is_some_and(is_current) {
            return Ok(());
        }
        tracing::info!(gateway = link.address, reason = refusal.message, "gave up a gateway");
        if link.works.load(Ordering::Relaxed) {
            state.has_answered = true;
            state.away_since = now();
            state.gateways[link.gateway].failures = 0;
        }
        // It is a gateway: what it says it cannot do now, it or another may do soon.
        state.has_answered |= refusal.code.is_some();
        let pause = refusal.retry_after.unwrap_or_default();
        state.failed(link.gateway, refusal.message, pause);
        state.link = None;
        self.generation.raise();
        Ok(())
    }

    /// Result of a call through a link; an error, once the link has been given up.
    pub async fn unless_left<T>(
        &self,
        link: &Link,
        call: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Status> {
        tokio::select! {
            biased;
            _ = self.generation.above(link.generation) => {
                Err(Status::unavailable("another stream has lost this gateway"))
            }
            done = call => done,
        }
    }
}

/// Answer of a gateway to an action.
pub struct Reply {
    address: String,
    body: Vec<u8>,
}

impl Reply {
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|error| self.garbled(&error))
    }

    pub fn garbled(&self, reason: &impl ToString) -> Error {
        Error::Garbled { address: self.address.clone(), reason: reason.to_string() }
    }
}

async fn act(link: &Link, action: Action) -> Result<Vec<u8>, Status> {
    let mut results = link.up.clone().do_action(action).await?.into_inner();
    let mut body = vec![];
    while let Some(result) = results.message().await? {
        body.extend_from_slice(&result.body);
    }
    Ok(body)
}

impl State {
    /// Time to look for a gateway: shorter for the first one, which is more likely called by a wrong name than away.
    fn timeout(&self, away_max: Duration) -> Duration {
        match self.has_answered {
            true => away_max,
            false => away_max.min(Duration::from_secs(limits::GATEWAY_FIRST_SECONDS_MAX)),
        }
    }

    /// One that does not answer may have taken all the time there is: the others have not been asked.
    fn all_tried(&self) -> bool {
        self.gateways.iter().all(|gateway| gateway.failures > 0)
    }

    /// The gateway that may be tried soonest; in turn, where several may.
    fn whose_turn(&self) -> usize {
        let (now, count) = (now(), self.gateways.len());
        (0..count)
            .map(|offset| (self.next + offset) % count)
            .min_by_key(|index| self.gateways[*index].not_before.max(now))
            .expect("a cluster has at least one gateway")
    }

    fn failed(&mut self, index: usize, trouble: String, pause: Duration) {
        let gateway = &mut self.gateways[index];
        gateway.trouble = trouble;
        gateway.not_before = now() + pause.max(RETRY.pause(gateway.failures));
        gateway.failures += 1;
        self.next = (index + 1) % self.gateways.len();
    }

    fn no_gateway(&self) -> Error {
        let mut tried: Vec<_> = self.gateways.iter().map(Gateway::tried).collect();
        tried.sort_by(|a, b| a.address.cmp(&b.address));
        Error::NoGateway { seconds: since(self.away_since).as_secs(), tried }
    }
}

impl Gateway {
    async fn connect(
        &self,
        gateways: &Gateways,
        gateway: usize,
        generation: u64,
    ) -> Result<Link, String> {
        let client = async || -> Result<Client, String> {
            let wire = match &gateways.dial {
                Some(dial) => Wire::Other(dial.dial(&self.address).await?),
                None => {
                    let connected = self.endpoint.connect().await;
                    Wire::Network(connected.map_err(|error| root_cause(&error))?)
                }
            };
            let client = FlightServiceClient::with_interceptor(wire, gateways.bearer.clone())
                .max_decoding_message_size(
                    limits::WIRE_BYTES_MAX + limits::ANSWER_ENVELOPE_BYTES_MAX,
                );
            Ok(client)
        };
        let (address, works) = (self.address.clone(), Arc::default());
        let (up, down) = (client().await?, client().await?);
        Ok(Link { address, up, down, gateway, generation, works })
    }

    fn tried(&self) -> Tried {
        Tried { address: self.address.clone(), reason: self.trouble.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_is_given_up_before_all_have_been_tried() {
        let addresses = ["a", "b"].map(str::to_string).to_vec();
        let gateways = Gateways::new(&Settings::new(addresses)).unwrap();
        let mut state = gateways.state.lock().await;
        state.failed(0, "it said nothing for a minute".to_string(), Duration::ZERO);
        assert!(!state.all_tried());
        assert_eq!(state.whose_turn(), 1);
        state.failed(1, "gone".to_string(), Duration::ZERO);
        assert!(state.all_tried());
    }

    #[tokio::test]
    async fn who_has_heard_of_a_gateway_looks_for_one_longer() {
        let gateways = Gateways::new(&Settings::new(vec!["a".to_string()])).unwrap();
        let away_max = Duration::from_secs(limits::GATEWAY_AWAY_SECONDS_MAX);
        let mut state = gateways.state.lock().await;
        let first = Duration::from_secs(limits::GATEWAY_FIRST_SECONDS_MAX);
        assert_eq!(state.timeout(away_max), first);
        state.has_answered = true;
        assert_eq!(state.timeout(away_max), away_max);
    }

    #[tokio::test]
    async fn the_gateway_that_may_be_asked_soonest_is_next() {
        let addresses = ["a", "b", "c"].map(str::to_string).to_vec();
        let gateways = Gateways::new(&Settings::new(addresses)).unwrap();
        let mut state = gateways.state.lock().await;
        state.failed(0, "gone".to_string(), Duration::from_secs(9));
        assert_eq!(state.whose_turn(), 1);
        state.failed(1, "gone".to_string(), Duration::from_secs(7));
        state.failed(2, "gone".to_string(), Duration::from_secs(8));
        assert_eq!(state.whose_turn(), 1);
    }
}
