//! Time as a value.
//!
//! Nothing outside the command line asks the machine what time it is: whoever needs to know is
//! handed a [`Clock`] or a [`Timestamp`]. So a test can say "499 ms later" and never sleeps.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Later than anything that will happen: "not before something else changes".
    pub const NEVER: Timestamp = Timestamp(u64::MAX);

    /// The moment `millis` milliseconds after 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero where it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The moment so long before this; 1970 where that is earlier.
    #[must_use]
    pub fn before(self, wait: Duration) -> Timestamp {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.0.saturating_sub(millis))
    }

    /// Fourteen digits, `20261120190455`, as archive file names and CDXJ have it (UTC).
    #[must_use]
    pub fn digits(self) -> String {
        self.civil().strftime("%Y%m%d%H%M%S").to_string()
    }

    /// The year, UTC.
    #[must_use]
    pub fn year(self) -> i32 {
        self.civil().to_zoned(jiff::tz::TimeZone::UTC).year().into()
    }

    fn civil(self) -> jiff::Timestamp {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX)
    }
}

/// RFC 3339 in UTC with milliseconds, `2026-11-20T19:04:55.120Z`: also a WARC/1.1 date (W3C profile
/// of ISO 8601).
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.civil().strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

/// Not a date as archives and our own exports have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no date such as 2026-11-20T19:04:55.120Z")]
pub struct BadTimestamp(String);

/// Reads RFC 3339, fractions below a millisecond cut off.
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

/// Where the present comes from: the machine's clock in the command line, a number in a test.
///
/// It has two hands. Waits are counted by [`Clock::now`], which goes evenly as long as the process
/// lives, whatever becomes of the machine's clock. What is written down for people and archives has
/// [`Clock::date`], which follows that clock when it is set. The two differ only after it was set.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    date: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Clock {
    /// A clock that answers what `now` answers.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let now = Arc::new(now);
        Self {
            now: Arc::clone(&now) as _,
            date: now,
        }
    }

    /// The same clock with dates of their own.
    #[must_use]
    pub fn with_dates(self, date: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            date: Arc::new(date),
            ..self
        }
    }

    /// A clock that stands still.
    #[must_use]
    pub fn fixed(at: Timestamp) -> Self {
        Self::new(move || at)
    }

    /// The present, by which waits are counted: never set back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// The date of the present, for archives and logs. Nothing may wait by it.
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
    fn a_moment_is_written_as_warc_and_cdxj_have_it() {
        let moment = Timestamp::from_millis(1_795_199_095_120);
        assert_eq!(moment.to_string(), "2026-11-20T18:24:55.120Z");
        assert_eq!(moment.digits(), "20261120182455");
    }

    #[test]
    fn what_is_written_is_read_again() {
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
    fn waiting_from_never_stays_never_and_the_past_is_zero_away() {
        assert_eq!(Timestamp::NEVER + Duration::from_secs(1), Timestamp::NEVER);
        assert_eq!(
            Timestamp::from_millis(5).since(Timestamp::from_millis(9)),
            Duration::ZERO
        );
    }
}
