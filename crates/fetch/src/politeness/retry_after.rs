//! `Retry-After`, in seconds or as a date (RFC 9110 section 10.2.3).

use std::time::{Duration, UNIX_EPOCH};

use web::Timestamp;

/// How long the server asks us to stay away, counted from `now`; `None` where the field makes no
/// sense.
///
/// A date in the past is "now". The wait is as long as the server says: cap it where it is obeyed.
#[must_use]
pub fn retry_after(field: &str, now: Timestamp) -> Option<Duration> {
    let field = field.trim();
    if !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a number: a very long wait.
        return Some(Duration::from_secs(field.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(field).ok()?;
    let millis = date.duration_since(UNIX_EPOCH).ok()?.as_millis();
    Some(Timestamp::from_millis(u64::try_from(millis).ok()?).since(now))
}
