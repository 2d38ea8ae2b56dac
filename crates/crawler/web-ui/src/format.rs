//! Numbers, sizes, times and text from the web, as people read them.

use std::cmp::Ordering;
use std::time::Duration;

use bytesize::ByteSize;
use web::{Timestamp, is_command};

/// Bytes that an escape of `web::printable` takes at most: `\u{202e}`.
const ESCAPE: usize = 8;
/// Bytes of a character of markup, escaped: `&#60;`.
const ENTITY: usize = 5;
/// The end of a text that was cut.
const ELLIPSIS: char = '…';

/// Formats a count in groups of three digits: `1,234,567`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a size: `1.5 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    ByteSize(bytes).display().iec().to_string()
}

/// Formats a duration: to the second from ten seconds on, to the millisecond below.
pub(crate) fn span(span: Duration) -> String {
    let shown = match span.as_secs() {
        0..10 => Duration::from_millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)),
        seconds => Duration::from_secs(seconds),
    };
    humantime::format_duration(shown).to_string()
}

/// Formats a duration to the second: `1m 5s`.
pub(crate) fn whole_seconds(span: Duration) -> String {
    humantime::format_duration(Duration::from_secs(span.as_secs())).to_string()
}

/// Formats seconds as a duration. An impossible duration (negative, infinite) is formatted as an
/// empty text.
pub(crate) fn seconds(seconds: f64) -> String {
    Duration::try_from_secs_f64(seconds).map_or_else(|_none| String::new(), span)
}

/// Formats a time to the second: `2026-11-23 09:50:16 UTC`.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{} UTC", civil(at))
}

/// Formats a time to the minute, without its zone: `2026-11-23 09:50`.
pub(crate) fn minute(at: Timestamp) -> String {
    let mut text = civil(at);
    text.truncate(text.rfind(':').unwrap_or(text.len()));
    text
}

/// Returns `2026-11-23 09:50:16`.
fn civil(at: Timestamp) -> String {
    let text = at.to_string().replace('T', " ");
    let seconds = text.find('.').unwrap_or(text.len());
    text[..seconds].to_owned()
}

/// Formats a part of a whole in per cent, with one decimal: `12.5 %`; a dash if the whole is 0.
pub(crate) fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".to_owned(),
        whole => format!("{:.1} %", part as f64 / whole as f64 * 100.0),
    }
}

/// Compares two texts as people sort them: numbers in them by their value, so `/p/2` is before
/// `/p/10`.
pub(crate) fn natural(one: &str, other: &str) -> Ordering {
    let (mut rest, mut other_rest) = (one, other);
    loop {
        let (part, other_part) = (leading(rest), leading(other_rest));
        let numbers = [part, other_part].map(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        let order = match numbers {
            [true, true] => {
                let [number, other] = [part, other_part].map(|part| part.trim_start_matches('0'));
                number.len().cmp(&other.len()).then(number.cmp(other))
            }
            _ => part.cmp(other_part),
        };
        if order.is_ne() || part.is_empty() {
            return order.then_with(|| one.cmp(other));
        }
        (rest, other_rest) = (&rest[part.len()..], &other_rest[other_part.len()..]);
    }
}

/// Returns the digits that a text begins with, or the part before its first digit.
fn leading(text: &str) -> &str {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != is_number);
    &text[..end.unwrap_or(text.len())]
}

/// Cuts text from the web so that it takes at most `cap` bytes where it is shown, with its escapes.
/// A text that is cut ends in an ellipsis.
#[must_use]
pub fn cut(text: &str, cap: usize) -> String {
    let (mut taken, mut end) = (0, 0);
    for (place, character) in text.char_indices() {
        if taken + ELLIPSIS.len_utf8() <= cap {
            end = place;
        }
        taken += shown_bytes(character);
        if taken > cap {
            return format!("{}{ELLIPSIS}", &text[..end]);
        }
    }
    text.to_owned()
}

/// Returns the number of bytes that a character takes where it is shown.
fn shown_bytes(character: char) -> usize {
    match character {
        '&' | '<' | '>' | '"' | '\'' => ENTITY,
        character if is_command(character) => ESCAPE,
        character => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_times_are_written_as_people_read_them() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345_678, "12,345,678"),
        ] {
            assert_eq!(count(number), text);
        }
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(share(1, 8), "12.5 %");
        assert_eq!(share(0, 0), "–");
        let at: Timestamp = "2026-11-23T09:50:16.120Z".parse().unwrap();
        assert_eq!(time(at), "2026-11-23 09:50:16 UTC");
        assert_eq!(minute(at), "2026-11-23 09:50");
        assert_eq!(seconds(0.25), "250ms");
        assert_eq!(seconds(3_661.4), "1h 1m 1s");
        assert_eq!(seconds(-1.0), "");
        assert_eq!(seconds(f64::INFINITY), "");
    }

    #[test]
    fn numbers_in_a_text_are_sorted_by_their_value() {
        let mut urls = ["/p/10", "/p/2", "/p/02x", "/p/1", "/p/", "/o/99", "/p/2/b"];
        urls.sort_by(|one, other| natural(one, other));
        assert_eq!(
            urls,
            ["/o/99", "/p/", "/p/1", "/p/2", "/p/2/b", "/p/02x", "/p/10"]
        );
    }

    #[test]
    fn a_text_is_cut_where_its_escapes_exceed_the_cap() {
        assert_eq!(cut("12345", 5), "12345");
        assert_eq!(cut("123456", 5), "12…");
        assert_eq!(cut("<<", 10), "<<");
        assert_eq!(cut("<<<", 13), "<<…");
        assert_eq!(cut("\u{202e}a", 9), "\u{202e}a");
        assert_eq!(cut("\u{202e}ab", 9), "…");
    }

    proptest! {
        #[test]
        fn a_text_takes_at_most_its_cap(text in any::<String>(), more in "[<&\\x00-\\x20é]{0,60}",
            cap in 3..80_usize,
        ) {
            let text = text + &more;
            let shown = cut(&text, cap);
            let taken: usize = shown.chars().map(shown_bytes).sum();
            prop_assert!(taken <= cap, "{taken} bytes of {shown:?}");
            let whole: usize = text.chars().map(shown_bytes).sum();
            prop_assert_eq!(whole <= cap, shown == text);
        }
    }
}
