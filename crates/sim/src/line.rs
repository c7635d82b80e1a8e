//! Calls from clients to gateways, without a network: the client's request is answered by the
//! gateway's own service, on a task of the gateway, and what they say to each other passes from one
//! to the other frame by frame, until one of them is gone or the line is cut.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_client::remote::{Dial, Line};
use caudal_gateway::Gateway;
use caudal_runtime::time::{now, since, sleep};
use caudal_runtime::{Level, task};
use http_body::{Body as HttpBody, Frame};
use tokio::sync::{mpsc, oneshot};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{BoxFuture, Service, StdError};

use crate::link::Link;
use crate::world::{HEARTBEAT, World, lock};

/// Time that a client waits for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// Frames that are on their way.
const FRAMES_AHEAD: usize = 4;

type Answer = dyn Fn(Request<Body>) -> BoxFuture<Response<Body>, Infallible> + Send + Sync;

/// The addresses of gateways.
#[derive(Default)]
pub struct Doors(Mutex<BTreeMap<String, Arc<Door>>>);

struct Door {
    link: Arc<Link>,
    answer: Box<Answer>,
    lines: Mutex<Vec<Level>>,
}

impl Doors {
    /// From here on the gateway answers calls.
    pub fn open(&self, link: &Arc<Link>, gateway: &Arc<Gateway>) {
        let service = Mutex::new(caudal_gateway::service(gateway));
        let answer = move |request| -> BoxFuture<Response<Body>, Infallible> {
            let mut service = lock(&service).clone();
            Box::pin(async move { Ok(service.call(request).await?.map(Body::new)) })
        };
        let (link, answer) = (Arc::clone(link), Box::new(answer));
        let door = Door { link, answer, lines: Mutex::default() };
        lock(&self.0).insert(door.link.name.clone(), Arc::new(door));
    }

    /// Nobody gets in any more.
    pub fn close(&self, gateway: &str) {
        lock(&self.0).remove(gateway);
    }

    /// Cuts one line, whichever. Whether there was one.
    pub fn cut_one(&self) -> bool {
        let doors: Vec<_> = lock(&self.0).values().cloned().collect();
        let lines = |door: &Arc<Door>| {
            let lines = lock(&door.lines);
            lines.iter().filter(|line| line.get() == 0).cloned().collect::<Vec<_>>()
        };
        let lines: Vec<Level> = doors.iter().flat_map(lines).collect();
        let Some(line) = fastrand::choice(&lines) else { return false };
        line.raise();
        true
    }

    /// Keepalive: cuts the lines to a gateway that does not answer.
    pub fn cut_if_frozen_later(&self, world: &Arc<World>, gateway: &str) {
        let Some(door) = lock(&self.0).get(gateway).cloned() else { return };
        world.scope.spawn(async move {
            sleep(HEARTBEAT).await;
            if door.link.scope.is_frozen() {
                std::mem::take(&mut *lock(&door.lines)).iter().for_each(Level::raise);
            }
        });
    }

    fn find(&self, gateway: &str) -> Option<Arc<Door>> {
        lock(&self.0).get(gateway).cloned()
    }
}

/// The dialer of a client of the simulation.
pub struct SimDial(pub Arc<World>);

#[async_trait]
impl Dial for SimDial {
    async fn dial(&self, address: &str) -> Result<Arc<dyn Line>, String> {
        self.0.travel().await;
        let refused = || "connection refused".to_string();
        let door = self.0.doors.find(address).ok_or_else(refused)?;
        // Its machine takes the connection; it says nothing before it is thawed.
        let start = now();
        while door.link.scope.is_frozen() {
            if since(start) >= CONNECT_MAX {
                return Err("no answer".to_string());
            }
            sleep(CONNECT_MAX / 50).await;
        }
        let cut = Level::default();
        lock(&door.lines).retain(|line| line.get() == 0);
        lock(&door.lines).push(cut.clone());
        Ok(Arc::new(SimLine { door, cut }))
    }
}

struct SimLine {
    door: Arc<Door>,
    /// Raised when the line is cut.
    cut: Level,
}

impl Line for SimLine {
    fn call(&self, request: Request<Body>) -> BoxFuture<Response<Body>, StdError> {
        let (door, cut) = (Arc::clone(&self.door), self.cut.clone());
        Box::pin(async move {
            let broken = || -> StdError { Box::new(Status::unavailable("the line is broken")) };
            if cut.get() > 0 || !door.link.scope.is_alive() {
                return Err(broken());
            }
            let (parts, body) = request.into_parts();
            let request = Request::from_parts(parts, Body::new(carry_here(body, &cut)));
            let (sender, receiver) = oneshot::channel();
            let (gateway, there) = (Arc::clone(&door), cut.clone());
            door.link.scope.spawn(async move {
                gateway.link.world.travel().await;
                let answering = (gateway.answer)(request);
                let Ok(response) = answering.await;
                let (parts, body) = response.into_parts();
                let (frames, carried) = mpsc::channel(FRAMES_AHEAD);
                let body_here = Carried { frames: carried, cut: Box::pin(until(there.clone())) };
                if sender.send(Response::from_parts(parts, Body::new(body_here))).is_ok() {
                    carry(body, frames, there).await;
                }
            });
            tokio::select! {
                biased;
                _ = cut.above(0) => Err(broken()),
                response = receiver => response.map_err(|_| broken()),
            }
        })
    }
}

/// A body whose frames a task of this node sends.
fn carry_here(body: Body, cut: &Level) -> Carried {
    let (frames, carried) = mpsc::channel(FRAMES_AHEAD);
    task::spawn(carry(body, frames, cut.clone()));
    Carried { frames: carried, cut: Box::pin(until(cut.clone())) }
}

async fn until(cut: Level) {
    cut.above(0).await;
}

/// Sends a body's frames until it ends, the other end is gone or the line is cut.
async fn carry(mut body: Body, frames: mpsc::Sender<Option<Frame<Bytes>>>, cut: Level) {
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let frame = tokio::select! {
            biased;
            _ = cut.above(0) => return,
            () = frames.closed() => return,
            frame = next => frame,
        };
        let frame = match frame {
            Some(Ok(frame)) => Some(frame),
            // As a reset: the other end finds that frames end without an end.
            Some(Err(_)) => return,
            None => None,
        };
        let is_end = frame.is_none();
        if frames.send(frame).await.is_err() || is_end {
            return;
        }
    }
}

/// A stream as it comes out at the other end.
struct Carried {
    /// None is the end.
    frames: mpsc::Receiver<Option<Frame<Bytes>>>,
    cut: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Carried {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let broken = || Poll::Ready(Some(Err(Status::unavailable("the line is broken"))));
        match self.frames.poll_recv(context) {
            Poll::Ready(Some(Some(frame))) => return Poll::Ready(Some(Ok(frame))),
            Poll::Ready(Some(None)) => return Poll::Ready(None),
            Poll::Ready(None) => return broken(),
            Poll::Pending => {}
        }
        if self.cut.as_mut().poll(context).is_ready() { broken() } else { Poll::Pending }
    }
}
