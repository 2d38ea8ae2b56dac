//! Time as a value.
//!
//! Only the command line reads the system clock; everything else receives a [`Clock`] or a
//! [`Timestamp`]. A test can therefore say "499 ms later" and never sleeps.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Latest value: "not before something else changes".
    pub const NEVER: Timestamp = Timestamp(u64::MAX);

    /// Creates the point in time `millis` milliseconds after 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// Returns the point in time `wait` earlier, at least 1970.
    #[must_use]
    pub fn before(self, wait: Duration) -> Timestamp {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.0.saturating_sub(millis))
    }

    /// Returns fourteen digits, `20261120190455`, as in archive file names and CDXJ (UTC).
    #[must_use]
    pub fn digits(self) -> String {
        self.civil().strftime("%Y%m%d%H%M%S").to_string()
    }

    /// Returns the year in UTC.
    #[must_use]
    pub fn year(self) -> i32 {
        self.civil().to_zoned(jiff::tz::TimeZone::UTC).year().into()
    }

    fn civil(self) -> jiff::Timestamp {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX)
    }
}

/// Writes RFC 3339 in UTC with milliseconds, `2026-11-20T19:04:55.120Z`, which is also a WARC/1.1
/// date (W3C profile of ISO 8601).
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.civil().strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

/// An invalid date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a date such as 2026-11-20T19:04:55.120Z, got {0:?}")]
pub struct BadTimestamp(String);

/// Parses RFC 3339 and truncates fractions below a millisecond.
impl FromStr for Timestamp {
    type Err = BadTimestamp;

    fn from_str(text: &str) -> Result<Self, BadTimestamp> {
        let bad = || BadTimestamp(text.to_owned());
        let civil: jiff::Timestamp = text.parse().map_err(|_error| bad())?;
        let millis = u64::try_from(civil.as_millisecond()).map_err(|_before_1970| bad())?;
        Ok(Self(millis))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, wait: Duration) -> Timestamp {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.0.saturating_add(millis))
    }
}

/// A source of the current time: the system clock in the command line, a number in a test.
///
/// A clock has two readings. [`Clock::now`] is for waits: it advances evenly while the process
/// lives, even if the system clock is set. [`Clock::date`] dates records for people and archives,
/// and follows the system clock. The two differ only after that clock was set.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    date: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Clock {
    /// Creates a clock from the function `now`.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let now = Arc::new(now);
        Self {
            now: Arc::clone(&now) as _,
            date: now,
        }
    }

    /// Returns the same clock with a separate source of dates.
    #[must_use]
    pub fn with_dates(self, date: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            date: Arc::new(date),
            ..self
        }
    }

    /// Creates a clock that never advances.
    #[must_use]
    pub fn fixed(at: Timestamp) -> Self {
        Self::new(move || at)
    }

    /// Returns the current time for waits; it is never set back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Returns the date for archives and logs. Never use it for waits.
    #[must_use]
    pub fn date(&self) -> Timestamp {
        (self.date)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_in_the_forms_of_warc_and_cdxj() {
        let moment = Timestamp::from_millis(1_795_199_095_120);
        assert_eq!(moment.to_string(), "2026-11-20T18:24:55.120Z");
        assert_eq!(moment.digits(), "20261120182455");
    }

    #[test]
    fn a_written_timestamp_is_parsed_again() {
        for millis in [0, 1, 999, 1_795_199_095_120] {
            let moment = Timestamp::from_millis(millis);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
        let coarse = Timestamp::from_millis(1_795_199_095_000);
        assert_eq!("2026-11-20T18:24:55Z".parse(), Ok(coarse));
        for wrong in ["", "now", "2026-11-20", "1969-12-31T23:59:59Z"] {
            assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn adding_to_never_is_never_and_the_time_since_a_later_moment_is_zero() {
        assert_eq!(Timestamp::NEVER + Duration::from_secs(1), Timestamp::NEVER);
        assert_eq!(
            Timestamp::from_millis(5).since(Timestamp::from_millis(9)),
            Duration::ZERO
        );
    }
}
