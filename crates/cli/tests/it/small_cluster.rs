//! A cluster inside the test: gateways on loopback, a worker, and a broker and a store in memory.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use caudal_broker::{Broker, MemoryBroker};
use caudal_gateway::{Owner, Settings, serve};
use caudal_store::Store;
use caudal_worker::node::Node;
use tokio::runtime::Runtime;

pub struct SmallCluster {
    runtime: Option<Runtime>,
    broker: Arc<dyn Broker>,
    store: Arc<dyn Store>,
    /// Its gateways, as `--gateway` takes them.
    pub gateways: String,
    worker: Option<JoinHandle<()>>,
    stop: caudal_runtime::Level,
}

impl SmallCluster {
    pub fn start() -> Self {
        let mut cluster = Self::without_workers(&[]);
        cluster.add_worker();
        cluster
    }

    /// Two gateways that let in whoever has one of these tokens; anybody, if there are none.
    pub fn without_workers(tokens: &[&str]) -> Self {
        let tokens: Vec<_> = tokens.iter().map(|token| Owner::of_token(token)).collect();
        Self::of_gateways(|settings| {
            settings.tokens = (!tokens.is_empty()).then(|| tokens.clone());
        })
    }

    /// Two gateways with planners of this program.
    pub fn planned_by(program: Option<PathBuf>) -> Self {
        Self::of_gateways(|settings| settings.planner.clone_from(&program))
    }

    fn of_gateways(change: impl Fn(&mut Settings)) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        let broker: Arc<dyn Broker> = Arc::new(Arc::new(MemoryBroker::default()));
        let store = caudal_store::open("memory:").unwrap();
        let (bound, addresses) = mpsc::channel();
        for name in ["gateway-1", "gateway-2"] {
            let mut settings = Settings::new(name, SocketAddr::from(([127, 0, 0, 1], 0)));
            change(&mut settings);
            let (broker, store, bound) = (Arc::clone(&broker), Arc::clone(&store), bound.clone());
            runtime.spawn(async move {
                let told = |address| bound.send(address).unwrap();
                serve(settings, broker, store, std::future::pending(), told).await.unwrap();
            });
        }
        let addresses: Vec<_> = addresses.iter().take(2).map(|at| at.to_string()).collect();
        let gateways = addresses.join(",");
        let stop = caudal_runtime::Level::default();
        Self { runtime: Some(runtime), broker, store, gateways, worker: None, stop }
    }

    pub fn add_worker(&mut self) {
        let node = Node {
            name: "worker-1".to_string(),
            broker: Arc::clone(&self.broker),
            store: Arc::clone(&self.store),
            threads: 2,
            memory: caudal_worker::Memory::new(1 << 30).unwrap(),
            counts: Arc::default(),
            at_work: Arc::default(),
            incarnation: 1,
        };
        let stop = self.stop.clone();
        let runtime = self.runtime.as_ref().expect("taken only on drop").handle().clone();
        self.worker = Some(std::thread::spawn(move || runtime.block_on(node.run(stop))));
    }
}

impl Drop for SmallCluster {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
