//! `Retry-After`, in seconds or as a date (RFC 9110 section 10.2.3).

use std::time::{Duration, UNIX_EPOCH};

use web::Timestamp;

/// Returns the wait that the server asks for, counted from `now`; `None` if the field is invalid.
///
/// A date in the past is "now". The wait is not capped: cap it where it is obeyed.
#[must_use]
pub fn retry_after(field: &str, now: Timestamp) -> Option<Duration> {
    let field = field.trim();
    if !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number with too many digits is a very long wait.
        return Some(Duration::from_secs(field.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(field).ok()?;
    let millis = date.duration_since(UNIX_EPOCH).ok()?.as_millis();
    Some(Timestamp::from_millis(u64::try_from(millis).ok()?).since(now))
}
