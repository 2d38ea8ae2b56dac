//! Exchanges that do not move: a count, so that a crawl gives their places to others.
//!
//! A server that accepts a connection and stays silent costs a socket, and must not cost the slot
//! of another host's page. An exchange counts as stalled after [`PATIENCE`] without a response, or
//! while its body comes more slowly than the minimum rate.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// The wait before an exchange counts as stalled.
const PATIENCE: Duration = Duration::from_secs(2);

/// The count of stalled exchanges, shared by all its users.
#[derive(Clone, Debug, Default)]
pub struct Stalls(Arc<watch::Sender<usize>>);

/// One stalled exchange, until it is dropped.
#[derive(Debug)]
pub(crate) struct Stalled(Arc<watch::Sender<usize>>);

impl Stalls {
    /// Returns the number of exchanges that are stalled now.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Returns a receiver of changes of that number.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }

    /// Counts one more.
    pub(crate) fn begin(&self) -> Stalled {
        self.0.send_modify(|count| *count += 1);
        Stalled(Arc::clone(&self.0))
    }

    /// Awaits a response, which counts as stalled after two seconds.
    pub async fn watch<T>(&self, response: impl Future<Output = T>) -> T {
        let mut response = std::pin::pin!(response);
        if let Ok(answered) = timeout(PATIENCE, &mut response).await {
            return answered;
        }
        let _stalled = self.begin();
        response.await
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_exchange_counts_as_stalled_from_two_seconds_until_its_response() {
        let stalls = Stalls::default();
        let watched = stalls.clone();
        let response = tokio::spawn(async move {
            watched
                .watch(tokio::time::sleep(Duration::from_secs(5)))
                .await;
        });
        for (after, expected) in [(1, 0), (2, 1), (1, 1), (2, 0)] {
            tokio::time::sleep(Duration::from_secs(after)).await;
            assert_eq!(stalls.count(), expected);
        }
        response.await.unwrap();
    }
}
