//! Reads a body that may be endless, slow, broken or huge.
//!
//! Memory: a download holds at most [`HELD`] bytes, and only with a share of the budget for them; a
//! longer body goes to a spool, a file without a name. So no download waits for another, the limits
//! of time and the minimum rate always run, and *n* downloads take at most *n* × [`HELD`] bytes of
//! memory and *n* × the limit of disk.

use std::io;
use std::path::Path;
use std::sync::Arc;

use disk::{Spool, Spooled, is_shortage_of_files};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Response, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};
use web::{Body, StoredBytes, Truncation, Warning};

use crate::client::options::FetchOptions;
use crate::client::progress::{Movement, Progress};
use crate::failure::{FetchFailure, chain};
use crate::memory::{MemoryBudget, MemoryShare};
use crate::stalls::Stalled;

/// Bytes of a body that are held in memory.
const HELD: usize = 256 << 10;
/// The increment of shares, in bytes.
const STEP: usize = 32 << 10;

/// A body as received, perhaps cut.
#[derive(Debug)]
pub(crate) struct ReceivedBody {
    pub(crate) body: Body,
    pub(crate) truncated: Option<Truncation>,
    /// The cause, if the rest is missing.
    pub(crate) warning: Option<Warning>,
}

/// Reads a body until the end, or until a limit on its size or its time cuts it. If the connection
/// breaks, or too little came recently, the received part is kept.
///
/// # Errors
/// The failure, if a page's body is empty so far, and [`FetchFailure::Spool`].
pub(crate) async fn read(
    response: &mut Response<Incoming>,
    options: &FetchOptions,
) -> Result<ReceivedBody, FetchFailure> {
    let limits = &options.limits;
    let mut received = BodyBuffer::new(&options.memory, options.spool.as_deref());
    let began = Instant::now();
    let mut progress = Progress::new(limits, began);
    let mut silent_since = began;
    let mut stalled: Option<Stalled> = None;
    loop {
        let now = Instant::now();
        if now >= began + limits.body_time {
            return received.end(Some(Truncation::Time), None).await;
        }
        if now >= silent_since + limits.timeout {
            return received.broken_off(response, FetchFailure::Timeout).await;
        }
        if now >= progress.due() {
            stalled = match progress.end_span(now) {
                Movement::TooSlow => {
                    return received.broken_off(response, FetchFailure::TooSlow).await;
                }
                Movement::Stalled => stalled.or_else(|| Some(options.stalls.begin())),
                Movement::Moving => None,
            };
        }
        let silence_ends = silent_since + limits.timeout;
        let wake = progress
            .due()
            .min(silence_ends)
            .min(began + limits.body_time);
        let chunk = match timeout_at(wake, response.body_mut().frame()).await {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(None) => return received.end(None, None).await,
            Ok(Some(Err(error))) => {
                if ends_with_connection(response) && lacks_close_notify(&error) {
                    return received.end(Some(Truncation::Disconnect), None).await;
                }
                let failure = FetchFailure::of_body(&error);
                return received.broken_off(response, failure).await;
            }
            Err(_elapsed) => continue,
        };
        progress.add(chunk.len());
        silent_since = Instant::now();
        let room = limits.body - received.length();
        if chunk.len() as u64 > room {
            let room = usize::try_from(room).unwrap_or(chunk.len());
            received.add(&chunk[..room]).await?;
            return received.end(Some(Truncation::Length), None).await;
        }
        received.add(&chunk).await?;
    }
}

/// A body as received so far: the last part in memory, the earlier parts in the spool.
struct BodyBuffer<'a> {
    memory: &'a MemoryBudget,
    /// The directory of the spool; `None` if everything stays in memory.
    directory: Option<&'a Path>,
    held: Vec<u8>,
    /// The bytes that the share allows.
    granted: usize,
    share: Option<MemoryShare>,
    spool: Option<Spool>,
}

impl<'a> BodyBuffer<'a> {
    fn new(memory: &'a MemoryBudget, directory: Option<&'a Path>) -> Self {
        Self {
            memory,
            directory,
            held: Vec::new(),
            granted: 0,
            share: None,
            spool: None,
        }
    }

    fn length(&self) -> u64 {
        self.spool.as_ref().map_or(0, Spool::length) + self.held.len() as u64
    }

    async fn add(&mut self, chunk: &[u8]) -> Result<(), FetchFailure> {
        if !self.may_hold(self.held.len() + chunk.len()) {
            self.spill().await?;
        }
        self.held.extend_from_slice(chunk);
        Ok(())
    }

    /// Takes the missing share for `bytes`; returns true if they may be held.
    fn may_hold(&mut self, bytes: usize) -> bool {
        while self.granted < bytes.min(HELD) {
            let Some(step) = self.memory.try_body(STEP) else {
                return self.directory.is_none();
            };
            self.granted += STEP;
            match &mut self.share {
                Some(share) => share.merge(step),
                None => self.share = Some(step),
            }
        }
        bytes <= HELD || self.directory.is_none()
    }

    /// Moves the held bytes to the spool, off the reactor.
    async fn spill(&mut self) -> Result<(), FetchFailure> {
        let Some(directory) = self.directory.filter(|_| !self.held.is_empty()) else {
            return Ok(());
        };
        let (spool, mut held) = (self.spool.take(), std::mem::take(&mut self.held));
        let directory = directory.to_owned();
        let spilled = tokio::task::spawn_blocking(move || {
            let mut spool = spool.map_or_else(|| Spool::in_directory(&directory), Ok)?;
            spool.append(&held)?;
            held.clear();
            io::Result::Ok((spool, held))
        });
        let spilled = spilled
            .await
            .map_err(|_stopped| FetchFailure::Spool(io::ErrorKind::Interrupted))?;
        let (spool, held) = spilled.map_err(|error| match is_shortage_of_files(&error) {
            true => FetchFailure::OpenFiles,
            false => FetchFailure::Spool(error.kind()),
        })?;
        (self.spool, self.held) = (Some(spool), held);
        Ok(())
    }

    /// Ends a body whose rest is missing. For a page, some bytes of the body are required; for any
    /// other response the head is enough.
    async fn broken_off(
        self,
        response: &Response<Incoming>,
        failure: FetchFailure,
    ) -> Result<ReceivedBody, FetchFailure> {
        if self.length() == 0 && response.status().is_success() {
            return Err(failure);
        }
        let (truncated, warning) = match failure {
            FetchFailure::Timeout | FetchFailure::TooSlow => {
                (Truncation::Time, Warning::StalledBody)
            }
            _ => (Truncation::Disconnect, warning_of_broken(response)),
        };
        self.end(Some(truncated), Some(warning)).await
    }

    async fn end(
        mut self,
        truncated: Option<Truncation>,
        warning: Option<Warning>,
    ) -> Result<ReceivedBody, FetchFailure> {
        if self.spool.is_some() {
            self.spill().await?;
        }
        let body = match self.spool {
            Some(spool) => Body::stored(Arc::new(Stored(spool.finish()))),
            None => {
                self.held.shrink_to_fit();
                match self.share {
                    Some(share) => Body::from(share.hold(self.held)),
                    None => Body::from(self.held),
                }
            }
        };
        Ok(ReceivedBody {
            body,
            truncated,
            warning,
        })
    }
}

/// The bytes of a body in a spool.
#[derive(Debug)]
struct Stored(Spooled);

impl StoredBytes for Stored {
    fn length(&self) -> u64 {
        self.0.length()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }
}

/// Returns true if the body ends with its connection (RFC 9112 section 6.3).
fn ends_with_connection(response: &Response<Incoming>) -> bool {
    let fields = response.headers();
    response.version() < Version::HTTP_2
        && !fields.contains_key(CONTENT_LENGTH)
        && !fields.contains_key(TRANSFER_ENCODING)
}

/// Returns true if a TLS connection was closed without a close notification. Many servers omit it
/// after every body, and asking again would not change it. A reset connection has another error.
fn lacks_close_notify(error: &hyper::Error) -> bool {
    chain(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::UnexpectedEof)
}

/// Returns the warning for a body that broke off, by its framing.
fn warning_of_broken(response: &Response<Incoming>) -> Warning {
    let fields = response.headers();
    match () {
        () if response.version() >= Version::HTTP_2 => Warning::BrokenConnection,
        () if fields.contains_key(TRANSFER_ENCODING) => Warning::BrokenChunks,
        () if fields.contains_key(CONTENT_LENGTH) => Warning::ShortBody,
        () => Warning::BrokenConnection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn received(memory: &MemoryBudget, bytes: usize, chunk: usize) -> Body {
        let directory = tempfile::tempdir().unwrap();
        let mut received = BodyBuffer::new(memory, Some(directory.path()));
        let body: Vec<u8> = (0..bytes).map(|number| number as u8).collect();
        for chunk in body.chunks(chunk) {
            received.add(chunk).await.unwrap();
            assert!(received.held.len() <= HELD.max(chunk.len()));
        }
        let body_again = received.end(None, None).await.unwrap().body;
        assert_eq!(body_again.to_bytes().unwrap(), body);
        body_again
    }

    #[tokio::test]
    async fn a_body_is_held_up_to_its_limit_and_stored_beyond() {
        let memory = MemoryBudget::default();
        for (bytes, is_held) in [
            (0, true),
            (1, true),
            (HELD, true),
            (HELD + 1, false),
            (3 * HELD, false),
        ] {
            let body = received(&memory, bytes, 10_000).await;
            assert_eq!(body.held().is_some(), is_held, "{bytes}");
        }
        received(&memory, 3 * HELD, 2 * HELD).await;
    }

    #[tokio::test]
    async fn without_a_share_of_the_budget_a_body_is_stored() {
        let memory = MemoryBudget::new(8 << 20);
        let _all = memory.try_body(4 << 20).unwrap();
        assert!(received(&memory, 3 * STEP, STEP).await.held().is_none());
    }

    #[tokio::test]
    async fn without_a_directory_a_body_stays_in_memory() {
        let memory = MemoryBudget::new(8 << 20);
        let mut received = BodyBuffer::new(&memory, None);
        for _piece in 0..24 {
            received.add(&vec![7; HELD]).await.unwrap();
        }
        let body = received.end(None, None).await.unwrap().body;
        assert_eq!(body.held().unwrap().len(), 24 * HELD);
    }

    #[tokio::test]
    async fn a_body_that_cannot_be_stored_is_a_failure_of_its_own() {
        let memory = MemoryBudget::default();
        let mut received = BodyBuffer::new(&memory, Some(Path::new("/nowhere/at/all")));
        received.add(&vec![0; HELD]).await.unwrap();
        let failed = received.add(&[0]).await.unwrap_err();
        assert_eq!(failed, FetchFailure::Spool(io::ErrorKind::NotFound));
    }
}
