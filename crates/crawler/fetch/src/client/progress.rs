//! The recent rate of a download: fast, stalled, or too slow to be waited for.
//!
//! Time is divided into spans, ten per grace time of the limits. A body is given up if the last ten
//! spans with any bytes brought less than the minimum rate together, and stalled if its last span
//! alone did. Silent spans do not count: silence has its own limit, the timeout. Earlier bytes do
//! not count after the grace time: a server that sends 4 MiB at once and then one byte per second
//! is given up as soon as a server that sends one byte per second from the beginning.

use std::time::Duration;

use tokio::time::Instant;

use crate::client::options::FetchLimits;

/// Spans over which the minimum rate counts.
const SPANS: usize = 10;

/// The bytes of a download, by span.
#[derive(Debug)]
pub(crate) struct Progress {
    span: Duration,
    /// Bytes that a span must bring on average.
    least: u64,
    /// The last spans that brought something, in turn.
    spans: [u64; SPANS],
    /// Spans that brought something and ended.
    ended: usize,
    /// Bytes of the current span.
    now: u64,
    due: Instant,
}

/// The recent movement of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Movement {
    Moving,
    /// Less than the minimum rate in the last span.
    Stalled,
    /// Less than the minimum rate in the last spans with any bytes, taken together.
    TooSlow,
}

impl Progress {
    pub(crate) fn new(limits: &FetchLimits, began: Instant) -> Self {
        let grace = limits.min_rate_grace.min(limits.timeout);
        let span = (grace / SPANS as u32).max(Duration::from_millis(1));
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            span,
            least: limits.min_rate.saturating_mul(millis) / 1000,
            spans: [0; SPANS],
            ended: 0,
            now: 0,
            due: began + span,
        }
    }

    /// Adds bytes that came.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.now += bytes as u64;
    }

    /// Returns the end of the present span.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Ends the present span. The next one begins at `now`: while this process was not running, no
    /// server could send.
    pub(crate) fn end_span(&mut self, now: Instant) -> Movement {
        self.due = now + self.span;
        let last = std::mem::take(&mut self.now);
        if last == 0 {
            return Movement::Stalled;
        }
        self.spans[self.ended % SPANS] = last;
        self.ended += 1;
        let all: u64 = self.spans.iter().sum();
        match () {
            () if self.ended >= SPANS && all < self.least.saturating_mul(SPANS as u64) => {
                Movement::TooSlow
            }
            () if last < self.least => Movement::Stalled,
            () => Movement::Moving,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seconds after which a download with these bytes per span is given up; none if it
    /// never is.
    fn given_up(min_rate: u64, bytes: impl Fn(usize) -> usize) -> Option<usize> {
        let limits = FetchLimits {
            min_rate,
            min_rate_grace: Duration::from_secs(20),
            ..FetchLimits::default()
        };
        let began = Instant::now();
        let mut progress = Progress::new(&limits, began);
        (0..100).find_map(|span| {
            progress.add(bytes(span));
            let end = progress.due();
            assert_eq!(end - began, Duration::from_secs(2) * (span as u32 + 1));
            (progress.end_span(end) == Movement::TooSlow).then_some((span + 1) * 2)
        })
    }

    #[test]
    fn the_rate_counts_after_the_grace_time_and_over_as_long() {
        // 100 bytes a second are 200 in a span.
        assert_eq!(given_up(100, |_span| 1), Some(20));
        assert_eq!(given_up(100, |_span| 199), Some(20));
        assert_eq!(given_up(100, |_span| 200), None);
        // A burst counts for the grace time and no longer.
        assert_eq!(
            given_up(100, |span| if span == 0 { 4 << 20 } else { 2 }),
            Some(22)
        );
        assert_eq!(
            given_up(100, |span| if span < 30 { 200 } else { 1 }),
            Some(62)
        );
        assert_eq!(given_up(0, |_span| 1), None, "no minimum");
    }

    /// A silence of 20 s ended a body, although 60 s are documented.
    #[test]
    fn silence_does_not_count_for_the_rate_and_does_not_hide_a_trickle() {
        assert_eq!(given_up(100, |_span| 0), None);
        let then_silent = |span| if span == 0 { 4 << 20 } else { 0 };
        assert_eq!(given_up(100, then_silent), None);
        // A byte every 8 s: the tenth span that brings something ends after 74 s.
        let trickle = |span| if span % 4 == 0 { 1 } else { 0 };
        assert_eq!(given_up(100, trickle), Some(74));
    }

    #[test]
    fn a_download_is_stalled_by_its_last_span_alone() {
        let mut progress = Progress::new(&FetchLimits::default(), Instant::now());
        for (bytes, expected) in [
            (2_000, Movement::Moving),
            (0, Movement::Stalled),
            (1_023, Movement::Stalled),
            (1_024, Movement::Moving),
        ] {
            progress.add(bytes);
            assert_eq!(progress.end_span(progress.due()), expected, "{bytes}");
        }
    }
}
