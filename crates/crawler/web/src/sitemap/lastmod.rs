//! The time of a page's last change in sitemaps.
//!
//! A date of the W3C profile of ISO 8601 (<https://www.w3.org/TR/NOTE-datetime>) has one of six
//! precisions, from a year to a fraction of a second, and covers the whole period: `2024-05` is all
//! of May.

use std::str::FromStr;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::time::Timestamp;

/// A period as long as the precision of its date. Times before 1970 become 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lastmod {
    /// Its first millisecond.
    pub first: Timestamp,
    /// Its last millisecond.
    pub last: Timestamp,
}

/// A text that is not a date in one of the six precisions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a date such as 2026, 2026-11, 2026-11-20 or 2026-11-20T19:04:55Z, got {0:?}")]
pub struct InvalidLastmod(String);

/// Maximum length of a quoted text, in characters.
const QUOTED_CHARS: usize = 40;

impl FromStr for Lastmod {
    type Err = InvalidLastmod;

    /// Parses a date. Tolerated beyond the profile: surrounding white space, a space for the `T`,
    /// an offset without its colon, and a time without an offset, which is UTC.
    fn from_str(text: &str) -> Result<Self, InvalidLastmod> {
        read(text.trim()).ok_or_else(|| InvalidLastmod(text.chars().take(QUOTED_CHARS).collect()))
    }
}

fn read(text: &str) -> Option<Lastmod> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = i16::try_from(number(parts.next()?, 4)?).ok()?;
    let month = match parts.next() {
        Some(month) => Some(small(month)?),
        None => None,
    };
    let day = match parts.next() {
        Some(day) => Some(small(day)?),
        None => None,
    };
    if parts.next().is_some() {
        return None;
    }
    let begins = Date::new(year, month.unwrap_or(1), day.unwrap_or(1)).ok()?;
    match (month, day, time) {
        (Some(_), Some(_), Some(time)) => moment(begins, time),
        (_, _, Some(_)) => None,
        (Some(month), None, None) => days(begins, days_in(year, month)?),
        (Some(_), Some(_), None) => days(begins, 1),
        (None, ..) => days(begins, i64::from(begins.days_in_year())),
    }
}

fn days_in(year: i16, month: i8) -> Option<i64> {
    Some(i64::from(Date::new(year, month, 1).ok()?.days_in_month()))
}

const MILLIS_A_DAY: i64 = 24 * 3600 * 1000;

fn days(begins: Date, days: i64) -> Option<Lastmod> {
    let first = Offset::UTC
        .to_timestamp(begins.to_datetime(Time::MIN))
        .ok()?;
    Some(stretch(first.as_millisecond(), days * MILLIS_A_DAY))
}

fn moment(date: Date, time: &str) -> Option<Lastmod> {
    let (clock, offset) = zone(time)?;
    let mut parts = clock.split(':');
    let (hour, minute) = (small(parts.next()?)?, small(parts.next()?)?);
    let second = parts.next();
    if parts.next().is_some() {
        return None;
    }
    let (second, fraction) =
        match second.map(|second| second.split_once('.').unwrap_or((second, ""))) {
            Some((second, fraction)) => (Some(small(second)?), fraction),
            None => (None, ""),
        };
    if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let time = Time::new(hour, minute, second.unwrap_or(0), 0).ok()?;
    let offset = Offset::from_seconds(offset).ok()?;
    let first = offset.to_timestamp(date.to_datetime(time)).ok()?;
    let width = match (second, fraction) {
        (None, _) => 60_000,
        (Some(_), "") => 1_000,
        (Some(_), _) => 1,
    };
    Some(stretch(first.as_millisecond() + millis, width))
}

/// Splits a time of day from its offset from UTC in seconds.
fn zone(time: &str) -> Option<(&str, i32)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (clock, offset) = time.split_at(at);
    let (sign, digits) = (if offset.starts_with('-') { -1 } else { 1 }, &offset[1..]);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => digits.split_at_checked(2)?,
    };
    let seconds = i32::from(small(hours)?) * 3600 + i32::from(small(minutes)?) * 60;
    Some((clock, sign * seconds))
}

fn stretch(first: i64, width: i64) -> Lastmod {
    let moment = |millis: i64| Timestamp::from_millis(u64::try_from(millis).unwrap_or(0));
    Lastmod {
        first: moment(first),
        last: moment(first + width - 1),
    }
}

fn small(text: &str) -> Option<i8> {
    number(text, 2).and_then(|number| i8::try_from(number).ok())
}

/// Parses a number of exactly this many digits.
fn number(text: &str, digits: usize) -> Option<u16> {
    let is_number = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_covers_the_whole_period_that_it_names() {
        for (text, first, last) in [
            ("2024", "2024-01-01T00:00:00Z", "2024-12-31T23:59:59.999Z"),
            (
                "2024-02",
                "2024-02-01T00:00:00Z",
                "2024-02-29T23:59:59.999Z",
            ),
            (
                "2023-12",
                "2023-12-01T00:00:00Z",
                "2023-12-31T23:59:59.999Z",
            ),
            (
                "2004-10-01",
                "2004-10-01T00:00:00Z",
                "2004-10-01T23:59:59.999Z",
            ),
            (
                "1997-07-16T19:20+01:00",
                "1997-07-16T18:20:00Z",
                "1997-07-16T18:20:59.999Z",
            ),
            (
                "1997-07-16T19:20:30+01:00",
                "1997-07-16T18:20:30Z",
                "1997-07-16T18:20:30.999Z",
            ),
            (
                "1997-07-16T19:20:30.45+01:00",
                "1997-07-16T18:20:30.45Z",
                "1997-07-16T18:20:30.45Z",
            ),
            (
                "2004-12-23T18:00:15Z",
                "2004-12-23T18:00:15Z",
                "2004-12-23T18:00:15.999Z",
            ),
            // Tolerated.
            (
                " 2004-12-23T18:00:15\n",
                "2004-12-23T18:00:15Z",
                "2004-12-23T18:00:15.999Z",
            ),
            (
                "2004-12-23 18:00-0530",
                "2004-12-23T23:30:00Z",
                "2004-12-23T23:30:59.999Z",
            ),
            ("1969-07-20", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("0000", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ] {
            let expected = Lastmod {
                first: first.parse().unwrap(),
                last: last.parse().unwrap(),
            };
            assert_eq!(text.parse(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn an_invalid_date_is_refused() {
        for text in [
            "",
            "yesterday",
            "24",
            "2024-",
            "2024-13",
            "2024-00",
            "2023-02-29",
            "2024-1-1",
            "2024-01-01-01",
            "2024T10:00Z",
            "2024-01-01T",
            "2024-01-01T24:00Z",
            "2024-01-01T10Z",
            "2024-01-01T10:00:00:00Z",
            "2024-01-01T10:00:00.xZ",
            "2024-01-01T10:00+1",
            "2024-01-01T10:00+é1",
            "Mon, 01 Jan 2024 00:00:00 GMT",
            "+024-01-01",
        ] {
            assert!(text.parse::<Lastmod>().is_err(), "{text:?}");
        }
    }
}
