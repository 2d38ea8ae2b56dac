//! Reads a body that may be endless, slow, broken or huge.
//!
//! Memory: a body of up to [`SMALL`] bytes costs what it is. Past that a download takes one of [`LARGE_AT_ONCE`]
//! permits and holds it until its body is read, so that *n* downloads at a time never hold more than
//! `n × SMALL + LARGE_AT_ONCE × limit` bytes among them. A download takes one permit at most and waits for
//! nothing else while it has it: no deadlock. Waiting for a permit is our doing, so neither the deadline nor
//! the minimum rate runs meanwhile.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Version;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use reqwest::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use web::Truncation;

use crate::FetchLimits;
use crate::failure::FetchFailure;

/// Bytes of body that any download may hold.
const SMALL: usize = 4 << 20;
/// Downloads that may hold more than [`SMALL`] at a time.
const LARGE_AT_ONCE: usize = 4;
/// Room made beforehand on a server's word about its length; past this it has to deliver.
const TRUSTED_LENGTH: u64 = 256 << 10;

#[derive(Debug)]
pub(crate) struct BodyReader {
    limit: u64,
    min_rate: u64,
    grace: Duration,
    large: Arc<Semaphore>,
}

/// A body, perhaps not all of it.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) body: Bytes,
    pub(crate) truncated: Option<Truncation>,
}

impl BodyReader {
    pub(crate) fn new(limits: &FetchLimits) -> Self {
        Self {
            limit: limits.body,
            min_rate: limits.min_rate,
            grace: limits.min_rate_grace,
            large: Arc::new(Semaphore::new(LARGE_AT_ONCE)),
        }
    }

    /// Reads until the end, the limit (then the body is cut, not failed), the deadline, or until the average
    /// rate falls below the minimum. A connection that breaks is a failure, unless its end is the only end
    /// that the body has.
    pub(crate) async fn read(
        &self,
        response: &mut Response,
        mut deadline: Instant,
    ) -> Result<Cut, FetchFailure> {
        let promised = response
            .content_length()
            .unwrap_or(0)
            .min(self.limit)
            .min(TRUSTED_LENGTH);
        let mut body = BytesMut::with_capacity(usize::try_from(promised).unwrap_or(0));
        let mut began = Instant::now();
        let mut permit: Option<OwnedSemaphorePermit> = None;
        loop {
            let too_slow = self.too_slow_at(began, body.len());
            let chunk = match timeout_at(deadline.min(too_slow), response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => {
                    return Ok(Cut {
                        body: body.freeze(),
                        truncated: None,
                    });
                }
                Ok(Err(error)) => match FetchFailure::of(&error) {
                    FetchFailure::Disconnected if ends_with_connection(response) => {
                        return Ok(Cut {
                            body: body.freeze(),
                            truncated: Some(Truncation::Disconnect),
                        });
                    }
                    failure => return Err(failure),
                },
                Err(_elapsed) if too_slow < deadline => return Err(FetchFailure::TooSlow),
                Err(_elapsed) => return Err(FetchFailure::Timeout),
            };
            let room = usize::try_from(self.limit).unwrap_or(usize::MAX) - body.len();
            if chunk.len() > room {
                body.extend_from_slice(&chunk[..room]);
                return Ok(Cut {
                    body: body.freeze(),
                    truncated: Some(Truncation::Length),
                });
            }
            if permit.is_none() && body.len() + chunk.len() > SMALL {
                let asked = Instant::now();
                let large = Arc::clone(&self.large).acquire_owned().await;
                permit = Some(large.expect("the semaphore is never closed"));
                began += asked.elapsed();
                deadline += asked.elapsed();
            }
            body.extend_from_slice(&chunk);
        }
    }

    /// When `received` bytes will have been too few: the average since the beginning falls below the minimum.
    fn too_slow_at(&self, began: Instant, received: usize) -> Instant {
        /// No minimum: later than any deadline.
        const NEVER: Duration = Duration::from_secs(365 * 86_400);
        let received = u64::try_from(received).unwrap_or(u64::MAX);
        let earned = match received.saturating_mul(1000).checked_div(self.min_rate) {
            Some(millis) => Duration::from_millis(millis).min(NEVER),
            None => NEVER,
        };
        began + earned.max(self.grace)
    }
}

/// Whether the body goes on until the connection ends, so that a clean end looks like any other (RFC 9112
/// section 6.3): over TLS many servers never said farewell, and asking again would not change it.
fn ends_with_connection(response: &Response) -> bool {
    let fields = response.headers();
    response.version() < Version::HTTP_2
        && !fields.contains_key(CONTENT_LENGTH)
        && !fields.contains_key(TRANSFER_ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_counts_after_the_grace_time_and_on_average() {
        let second = Duration::from_secs(1);
        // minimum rate, bytes received → seconds after the beginning at which they will have been too few
        let cases = [
            (100, 0, 20),
            (100, 1999, 20),
            (100, 2000, 20),
            (100, 2100, 21),
            (100, 100_000, 1000),
        ];
        for (min_rate, received, expected) in cases {
            let limits = FetchLimits {
                min_rate,
                min_rate_grace: 20 * second,
                ..FetchLimits::default()
            };
            let began = Instant::now();
            let at = BodyReader::new(&limits).too_slow_at(began, received);
            assert_eq!(at - began, expected * second, "{received} at {min_rate}");
        }
    }

    #[test]
    fn no_minimum_is_never_too_slow() {
        let limits = FetchLimits {
            min_rate: 0,
            min_rate_grace: Duration::ZERO,
            ..FetchLimits::default()
        };
        let began = Instant::now();
        assert!(BodyReader::new(&limits).too_slow_at(began, 0) - began > Duration::from_secs(86_400));
    }
}
