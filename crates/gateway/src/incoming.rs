//! Counts what has been begun to be received, before anybody has read it.
//!
//! gRPC says the length of a message before its bytes, and memory for all of it is taken then. Whoever begins many
//! messages and ends none would have all of it. So the lengths of those that are not whole yet are counted, call by
//! call, in the [quota](crate::quota) of their owner.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use caudal_core::limits;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::Request;
use tonic::server::NamedService;

use crate::flight::Call;
use crate::quota::Share;
use crate::{Error, Gateway};

/// A service whose calls are counted. Who calls has been found out before.
#[derive(Clone)]
pub struct Counting<S> {
    pub service: S,
    pub gateway: Arc<Gateway>,
}

impl<S: NamedService> NamedService for Counting<S> {
    const NAME: &'static str = S::NAME;
}

impl<S: Service<Request<Body>>> Service<Request<Body>> for Counting<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> S::Future {
        let Some(call) = request.extensions().get::<Call>() else {
            return self.service.call(request);
        };
        // Where nobody is told apart, one who takes all of a quota would take it from everybody.
        let Some(tenant) = self.gateway.settings.tenant(&call.owner).map(str::to_string) else {
            return self.service.call(request);
        };
        let gateway = Arc::clone(&self.gateway);
        let count =
            |body| Counted { body, framing: Framing::default(), tenant, gateway, share: None };
        self.service.call(request.map(|body| Body::new(count(body))))
    }
}

/// The body of a call.
struct Counted {
    body: Body,
    framing: Framing,
    tenant: String,
    gateway: Arc<Gateway>,
    /// Of the message that is on its way.
    share: Option<Share>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let bytes = self.framing.pass(data);
            self.count(bytes)?;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Counted {
    /// Counts a message of so many bytes as on its way, in the place of the one before it.
    fn count(&mut self, bytes: usize) -> Result<(), Error> {
        self.share = None;
        // What is longer is refused where its length is read.
        if bytes > 0 && bytes <= limits::WIRE_BYTES_MAX {
            self.share = Some(self.gateway.quotas.incoming.take_many(&self.tenant, bytes)?);
        }
        Ok(())
    }
}

/// Where in its messages a body is: a byte of flags, four of the length, the message.
#[derive(Default)]
struct Framing {
    header: [u8; 5],
    header_bytes: usize,
    /// Of the message.
    length: usize,
    missing: usize,
}

impl Framing {
    /// Goes on behind these bytes; says how long the message is that has begun and not ended, if there is one.
    fn pass(&mut self, mut data: &[u8]) -> usize {
        while !data.is_empty() {
            if self.missing > 0 {
                let bytes = self.missing.min(data.len());
                self.missing -= bytes;
                data = &data[bytes..];
                continue;
            }
            self.header[self.header_bytes] = data[0];
            self.header_bytes += 1;
            data = &data[1..];
            if self.header_bytes == self.header.len() {
                let [_, length @ ..] = self.header;
                self.length = u32::from_be_bytes(length) as usize;
                self.missing = self.length;
                self.header_bytes = 0;
            }
        }
        if self.missing > 0 { self.length } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use caudal_broker::MemoryBroker;
    use caudal_core::{Coded, codes};
    use caudal_protocol::calls::CODE_HEADER;

    use super::*;
    use crate::Settings;

    fn message(bytes: usize) -> Vec<u8> {
        let length = u32::try_from(bytes).unwrap().to_be_bytes();
        [vec![0], length.to_vec(), vec![7; bytes]].concat()
    }

    #[test]
    fn what_is_on_its_way_is_known_wherever_it_is_cut() {
        let messages = [message(9), message(0), message(300)].concat();
        let starts = [(5, 14, 9), (24, 324, 300)];
        for piece in 1..40 {
            let mut framing = Framing::default();
            let mut at = 0;
            for data in messages.chunks(piece) {
                at += data.len();
                let within = starts.iter().find(|(start, end, _)| (*start..*end).contains(&at));
                let expected = within.map_or(0, |(_, _, bytes)| *bytes);
                assert_eq!(framing.pass(data), expected, "{at}, in pieces of {piece}");
            }
        }
    }

    /// A body of one piece.
    struct Piece(Option<Bytes>);

    impl HttpBody for Piece {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
        }
    }

    #[tokio::test]
    async fn whoever_begins_many_messages_and_ends_none_is_refused() {
        let settings = Settings::new("g", "127.0.0.1:0".parse().unwrap());
        let broker = Arc::new(Arc::new(MemoryBroker::default()));
        let gateway = Gateway::new(settings, broker, caudal_store::open("memory:").unwrap());
        let gateway = Arc::new(gateway);
        let begun = async |tenant: &str, message: &[u8]| {
            let mut counted = Counted {
                body: Body::new(Piece(Some(Bytes::copy_from_slice(message)))),
                framing: Framing::default(),
                tenant: tenant.to_string(),
                gateway: Arc::clone(&gateway),
                share: None,
            };
            let frame = poll_fn(|context| Pin::new(&mut counted).poll_frame(context)).await;
            frame.expect("a piece").map(|_| counted)
        };
        let large = &message(15 << 20)[..6];
        let many = limits::GATEWAY_OWNER_INCOMING_BYTES_MAX / (15 << 20);
        let mut kept = vec![];
        for _ in 0..many {
            kept.push(begun("one", large).await.unwrap());
        }
        let refused = begun("one", large).await.err().unwrap();
        let told = refused.metadata().get(CODE_HEADER).unwrap().to_str().unwrap();
        assert_eq!(told, codes::OVER_QUOTA.to_string());
        assert_eq!(crate::flight::broken(refused).code(), codes::OVER_QUOTA);
        begun("two", large).await.expect("another has its own");
        begun("one", &message(1000)).await.expect("what comes whole is not counted");
        kept.pop();
        begun("one", large).await.expect("what is given up is not counted any more");
    }
}
