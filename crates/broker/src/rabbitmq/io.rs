//! Threads of their own for the connections: a process whose every thread computes still answers
//! the broker's heartbeats.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use caudal_core::limits;
use futures::future::join_all;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub struct Io {
    /// Always there, until it is dropped.
    runtime: Option<Runtime>,
    /// They end when their links are dropped.
    supervisors: Mutex<Vec<JoinHandle<()>>>,
}

impl Io {
    pub fn start() -> std::io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(limits::BROKER_THREADS).thread_name("caudal-amqp").enable_all();
        Ok(Self { runtime: Some(builder.build()?), supervisors: Mutex::default() })
    }

    /// Has an eye on what ends with its link.
    pub fn supervise(&self, supervisor: JoinHandle<()>) {
        self.supervisors.lock().unwrap_or_else(PoisonError::into_inner).push(supervisor);
    }

    pub fn handle(&self) -> &Handle {
        self.runtime.as_ref().expect("taken by drop alone").handle()
    }
}

impl Drop for Io {
    /// A runtime must not be dropped by a task, and the last user may be one, even of this runtime.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let supervisors = self.supervisors.get_mut().unwrap_or_else(PoisonError::into_inner);
        let supervisors = std::mem::take(supervisors);
        std::thread::spawn(move || {
            let ended = async {
                timeout(
                    Duration::from_secs(limits::BROKER_CLOSE_SECONDS_MAX),
                    join_all(supervisors),
                )
                .await
            };
            // Whether they closed in time or not, this is the end of them.
            let _ = runtime.block_on(ended);
        });
    }
}
