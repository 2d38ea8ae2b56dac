//! `WARC-Date` of any precision.
//!
//! WARC/1.1 (section 5.4) takes the W3C profile of ISO 8601: a year, a month, a day, a minute, a
//! second or a fraction of one, with `Z` or an offset. A missing part means the beginning of the
//! period, as in pywb and cdxj-indexer. Fourteen digits and a missing `Z` are read, too.

use std::borrow::Cow;

use web::Timestamp;

/// Returns the moment of a date; `None` if the text is not a date, or before 1970.
#[must_use]
pub fn date(text: &str) -> Option<Timestamp> {
    completed(text).parse().ok()
}

/// Returns a date with all parts down to the second, in UTC or with an offset, if it lacks some.
pub(crate) fn completed(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if text.len() == 14 && is_digits(text) {
        let (day, time) = text.split_at(8);
        let (year, month, day) = (&day[..4], &day[4..6], &day[6..]);
        let (hour, minute, second) = (&time[..2], &time[2..4], &time[4..]);
        return Cow::Owned(format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"));
    }
    let Some((day, time)) = text.split_once(['T', 't']) else {
        return match day_shape(text) {
            Some(rest) => Cow::Owned(format!("{text}{rest}")),
            None => Cow::Borrowed(text),
        };
    };
    let zone = time.find(['Z', 'z', '+', '-']);
    let (clock, zone) = time.split_at(zone.unwrap_or(time.len()));
    let seconds = match clock.len() {
        5 => ":00",
        _ => "",
    };
    let utc = if zone.is_empty() { "Z" } else { zone };
    match seconds.is_empty() && !zone.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{day}T{clock}{seconds}{utc}")),
    }
}

/// Returns the missing end of a year, a month or a day.
fn day_shape(text: &str) -> Option<&'static str> {
    let shape = |parts: &[usize]| {
        let found = text.split('-').map(|part| (part.len(), part));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        text.split('-').count() == parts.len()
            && found
                .zip(parts)
                .all(|((length, part), wanted)| length == *wanted && is_digits(part))
    };
    match () {
        () if shape(&[4]) => Some("-01-01T00:00:00Z"),
        () if shape(&[4, 2]) => Some("-01T00:00:00Z"),
        () if shape(&[4, 2, 2]) => Some("T00:00:00Z"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days and minutes were missing from the index, years to days from a rebuilt crawl, without a
    /// word.
    #[test]
    fn a_date_of_any_precision_is_the_beginning_of_its_period() {
        for (text, digits) in [
            ("2024", "20240101000000"),
            ("2024-03", "20240301000000"),
            ("2024-03-02", "20240302000000"),
            ("2024-03-02T03:04Z", "20240302030400"),
            ("2024-03-02T03:04+01:00", "20240302020400"),
            ("2024-03-02T03:04:05Z", "20240302030405"),
            ("2024-03-02T03:04:05", "20240302030405"),
            ("2024-03-02T03:04:05.123456789Z", "20240302030405"),
            ("2024-03-02T23:04:05-01:30", "20240303003405"),
            ("20240302030405", "20240302030405"),
        ] {
            let found = date(text).map(Timestamp::digits);
            assert_eq!(found.as_deref(), Some(digits), "{text}");
        }
        for text in [
            "",
            "now",
            "24",
            "2024-3",
            "2024-13-01",
            "2024-03-02T",
            "é-01",
            "20261-11-21",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
