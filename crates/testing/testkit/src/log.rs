//! The requests that a server saw: the proof of politeness.
//!
//! A crawler may believe that it waits; the log has the times at which its requests arrived.

use std::ops::Deref;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

/// A request that was answered, or whose answer broke off.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The host name asked for, in lower case and without port.
    pub host: String,
    /// Path and query as sent.
    pub target: String,
    /// The method.
    pub method: String,
    /// The arrival of the whole request, since the server's start.
    pub at: Duration,
    /// The time at which the system took the answer's last byte, or the connection was found
    /// broken.
    pub finished: Duration,
    /// The status of the answer.
    pub status: u16,
    /// The `User-Agent` field; empty where there was none.
    pub user_agent: String,
    /// The number of the connection, from 0.
    pub connection: u64,
    /// True if the whole answer was sent.
    pub complete: bool,
    /// Request line and header fields as received, up to and with the empty line.
    pub request_head: Bytes,
    /// Status line and header fields as sent, up to and with the empty line; empty over HTTP/2.
    pub head: Bytes,
    /// The bytes after the head on the wire, transfer coding included, as if sent whole.
    pub framed: Bytes,
    /// The body without transfer coding: what an archive's payload must equal byte for byte.
    pub body: Bytes,
}

impl Hit {
    /// The whole answer as on the wire.
    #[must_use]
    pub fn wire(&self) -> Bytes {
        let mut wire = BytesMut::with_capacity(self.head.len() + self.framed.len());
        wire.extend_from_slice(&self.head);
        wire.extend_from_slice(&self.framed);
        wire.freeze()
    }

    fn is_page(&self) -> bool {
        self.target != "/robots.txt"
    }
}

/// The hits up to a moment, in the order in which the requests arrived. It is a slice of [`Hit`].
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<Hit>);

impl Log {
    pub(crate) fn new(mut hits: Vec<Hit>) -> Self {
        hits.sort_by_key(|hit| hit.at);
        Self(hits)
    }

    /// The hits on one host name, in order.
    pub fn of<'a, 'b>(&'a self, host: &'b str) -> impl Iterator<Item = &'a Hit> + use<'a, 'b> {
        self.0.iter().filter(move |hit| hit.host == host)
    }

    /// Returns the hits on pages, in order: all but robots.txt.
    pub fn pages(&self) -> impl Iterator<Item = &Hit> {
        self.0.iter().filter(|hit| hit.is_page())
    }

    /// Returns the targets of pages asked for at `host`, in order.
    #[must_use]
    pub fn pages_of(&self, host: &str) -> Vec<&str> {
        let pages = self.of(host).filter(|hit| hit.is_page());
        pages.map(|hit| hit.target.as_str()).collect()
    }

    /// Returns the targets of pages, in order.
    #[must_use]
    pub fn visits(&self) -> Vec<String> {
        self.pages().map(|hit| hit.target.clone()).collect()
    }

    /// Returns request lines and header fields of all requests to `host`.
    #[must_use]
    pub fn request_heads(&self, host: &str) -> String {
        let heads = self.of(host).map(|hit| &hit.request_head);
        heads.map(|head| String::from_utf8_lossy(head)).collect()
    }

    /// Returns the number of requests for `target` at `host`.
    #[must_use]
    pub fn count(&self, host: &str, target: &str) -> usize {
        self.of(host).filter(|hit| hit.target == target).count()
    }

    /// The targets asked for at `host`, in order.
    #[must_use]
    pub fn targets(&self, host: &str) -> Vec<&str> {
        self.of(host).map(|hit| hit.target.as_str()).collect()
    }

    /// The body that was last served for `target` at `host`.
    #[must_use]
    pub fn body(&self, host: &str, target: &str) -> Option<Bytes> {
        self.of(host)
            .filter(|hit| hit.target == target)
            .last()
            .map(|hit| hit.body.clone())
    }

    /// The gaps between the end of one answer of `host` and the start of its next request. Where
    /// the two overlapped, the gap is zero.
    #[must_use]
    pub fn intervals(&self, host: &str) -> Vec<Duration> {
        let mut gaps = Vec::new();
        let mut free_since: Option<Duration> = None;
        for hit in self.of(host) {
            gaps.extend(free_since.map(|end| hit.at.saturating_sub(end)));
            free_since = free_since.max(Some(hit.finished));
        }
        gaps
    }

    /// Returns the largest number of requests to `host` that were being answered at the same time.
    #[must_use]
    pub fn max_parallel(&self, host: &str) -> usize {
        let mut in_flight: Vec<Duration> = Vec::new();
        let mut most = 0;
        for hit in self.of(host) {
            in_flight.retain(|&finished| finished > hit.at);
            in_flight.push(hit.finished);
            most = most.max(in_flight.len());
        }
        most
    }
}

impl Deref for Log {
    type Target = [Hit];

    fn deref(&self) -> &[Hit] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Log {
    type Item = &'a Hit;
    type IntoIter = std::slice::Iter<'a, Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Log {
    type Item = Hit;
    type IntoIter = std::vec::IntoIter<Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
