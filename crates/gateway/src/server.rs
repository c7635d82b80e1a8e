//! Puts a gateway on the network, with its janitor, until it is told to leave.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use caudal_broker::Broker;
use caudal_core::limits;
use caudal_runtime::time::timeout;
use caudal_store::Store;
use tokio::net::TcpListener;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tracing::{info, warn};

use crate::connections::accept;
use crate::flight::{Flight, let_in};
use crate::incoming::Counting;
use crate::janitor::Janitor;
use crate::long_works;
use crate::places::Bounds;
use crate::{Error, Gateway, Settings, TlsFiles};

/// Serves until `shutdown` is over, then ends every stream so that clients go on elsewhere. `bound` is
/// called with the address once clients may connect.
pub async fn serve(
    settings: Settings,
    broker: Arc<dyn Broker>,
    store: Arc<dyn Store>,
    shutdown: impl Future<Output = ()>,
    bound: impl FnOnce(SocketAddr),
) -> Result<(), Error> {
    settings.check_strangers()?;
    let mut server = server(settings.tls.as_ref()).await?;
    let address = settings.listen;
    let listening = |source| Error::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    let gateway = Arc::new(Gateway::new(settings, broker, store));
    info!(%address, gateway = gateway.settings.name, "gateway listening");
    bound(address);

    let left = {
        let gateway = Arc::clone(&gateway);
        async move { drop(gateway.left().await) }
    };
    let first_call = Duration::from_millis(limits::GATEWAY_FIRST_CALL_MS);
    let connections = accept(listener, Bounds::default(), first_call);
    let serving =
        server.add_service(service(&gateway)).serve_with_incoming_shutdown(connections, left);
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return Ok(served?),
        () = Janitor::new(Arc::clone(&gateway)).run() => unreachable!("a janitor never ends"),
        () = long_works::listen(Arc::clone(&gateway)) => unreachable!("it listens for ever"),
        () = shutdown => gateway.leave(),
    }
    match timeout(Duration::from_millis(limits::LEAVE_MS), serving).await {
        Ok(served) => Ok(served?),
        Err(_) => {
            warn!("shut down with clients connected");
            Ok(())
        }
    }
}

/// The Flight service of a gateway.
pub fn service(
    gateway: &Arc<Gateway>,
) -> InterceptedService<
    Counting<FlightServiceServer<Flight>>,
    impl Interceptor + Clone + Send + 'static,
> {
    let flight = FlightServiceServer::new(Flight { gateway: Arc::clone(gateway) })
        .max_decoding_message_size(limits::WIRE_BYTES_MAX);
    let counting = Counting { service: flight, gateway: Arc::clone(gateway) };
    let gateway = Arc::clone(gateway);
    InterceptedService::new(counting, move |request| let_in(&gateway, request))
}

async fn server(tls: Option<&TlsFiles>) -> Result<Server, Error> {
    let keepalive = Some(Duration::from_millis(limits::KEEPALIVE_MS));
    let server = Server::builder()
        .max_concurrent_streams(limits::GATEWAY_STREAMS_MAX)
        .http2_max_header_list_size(limits::GATEWAY_HEADER_BYTES_MAX)
        .max_frame_size(limits::GATEWAY_FRAME_BYTES)
        .http2_max_pending_accept_reset_streams(Some(limits::GATEWAY_RESET_STREAMS_MAX))
        .http2_max_local_error_reset_streams(Some(limits::GATEWAY_BROKEN_STREAMS_MAX))
        .initial_stream_window_size(limits::GATEWAY_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(limits::GATEWAY_CONNECTION_WINDOW_BYTES)
        .http2_keepalive_interval(keepalive)
        .http2_keepalive_timeout(keepalive);
    let Some(TlsFiles { certificate, key }) = tls else { return Ok(server) };
    let read = async |path: &std::path::PathBuf| {
        let path = path.clone();
        tokio::fs::read(&path).await.map_err(|source| Error::TlsFile { path, source })
    };
    // Were several providers linked in, rustls would panic rather than choose. A choice that somebody has
    // made before is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let identity = Identity::from_pem(read(certificate).await?, read(key).await?);
    Ok(server.tls_config(ServerTlsConfig::new().identity(identity))?)
}
