//! A task that ends with whoever waits for it.

use tokio::task::{JoinError, JoinHandle};

pub struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    pub fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(caudal_runtime::task::spawn(work))
    }

    pub fn abort(&self) {
        self.0.abort();
    }

    pub async fn join(mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
