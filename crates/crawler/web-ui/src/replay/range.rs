//! Parts of a body (RFC 9110, section 14), which browsers request to move within a film.

use std::ops::Range;

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Maximum bytes of a part; a browser requests the rest when it needs it.
const MAX_PART: usize = 4 << 20;

/// Returns the response with a body, or with the part of it that the `Range` field requests.
pub(super) fn response(status: StatusCode, body: Bytes, range: Option<&str>) -> Response {
    let length = body.len();
    let range = range.filter(|_| status == StatusCode::OK);
    match range.and_then(|range| requested(range, length)) {
        None => (status, [(header::ACCEPT_RANGES, "bytes")], body).into_response(),
        Some(part) if part.is_empty() => {
            let whole = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
            (StatusCode::RANGE_NOT_SATISFIABLE, whole).into_response()
        }
        Some(part) => {
            let place = format!("bytes {}-{}/{length}", part.start, part.end - 1);
            let place = [(header::CONTENT_RANGE, place)];
            (StatusCode::PARTIAL_CONTENT, place, body.slice(part)).into_response()
        }
    }
}

/// Returns the part that a field requests, empty if the body has none of it; `None` for the whole
/// body: a field of another form, or with several parts.
fn requested(field: &str, length: usize) -> Option<Range<usize>> {
    let (first, last) = field.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.trim().parse::<usize>();
    let (start, end) = match (number(first), number(last)) {
        (Ok(first), Ok(last)) if first <= last => (first, last.saturating_add(1)),
        (Ok(first), Err(_)) if last.trim().is_empty() => (first, length),
        (Err(_), Ok(suffix)) if first.trim().is_empty() => (length.saturating_sub(suffix), length),
        _ => return None,
    };
    let start = start.min(length);
    Some(
        start
            ..end
                .min(length)
                .min(start.saturating_add(MAX_PART))
                .max(start),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cut_to_the_body_and_to_the_maximum() {
        for (field, expected) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=2-", Some(2..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-30", Some(0..10)),
            ("bytes=5-99", Some(5..10)),
            ("bytes=10-", Some(10..10)),
            ("bytes=-0", Some(10..10)),
            ("bytes=4-2", None),
            ("bytes=0-1,3-4", None),
            ("bytes=-", None),
            ("items=0-1", None),
            ("bytes=0-18446744073709551615", Some(0..10)),
        ] {
            assert_eq!(requested(field, 10), expected, "{field}");
        }
        let long = 3 * MAX_PART;
        assert_eq!(requested("bytes=1-", long), Some(1..MAX_PART + 1));
    }
}
