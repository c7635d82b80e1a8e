//! Transport of calls to a gateway: a connection, or its substitute in a simulation.

use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{BoxFuture, Service, StdError};
use tonic::transport::Channel;

/// Reaches gateways in another way than by the network.
#[async_trait]
pub trait Dial: Send + Sync {
    /// A connection to the gateway of this address, or why there is none.
    async fn dial(&self, address: &str) -> Result<Arc<dyn Line>, String>;
}

/// A connection that is not of the network.
pub trait Line: Send + Sync {
    fn call(&self, request: Request<Body>) -> BoxFuture<Response<Body>, StdError>;
}

#[derive(Clone)]
pub enum Wire {
    Network(Channel),
    Other(Arc<dyn Line>),
}

impl Service<Request<Body>> for Wire {
    type Response = Response<Body>;
    type Error = StdError;
    type Future = BoxFuture<Response<Body>, StdError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        match self {
            Wire::Network(channel) => channel.poll_ready(context).map_err(Into::into),
            Wire::Other(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self {
            Wire::Network(channel) => {
                let response = channel.call(request);
                Box::pin(async { Ok(response.await?) })
            }
            Wire::Other(line) => line.call(request),
        }
    }
}
