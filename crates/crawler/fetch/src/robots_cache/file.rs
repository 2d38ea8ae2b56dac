//! A robots.txt as a response brings it, and as it is stored.
//!
//! The stored text has the lines of robots.txt and, behind a comment, the statements of the other
//! [`SiteFile`](web::SiteFile)s. Other readers of the text ignore them.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use requests::{Consequence, FailureKind};
use web::{
    CanonicalForm, DecodeError, Exchange, MAX_ROBOTS_BYTES, PageUrl, Timestamp, UrlError, decode,
    gunzip, robots_text, whole_lines,
};

use crate::failure::FetchFailure;

/// The comment between a stored robots.txt and the lines of the [`SiteFile`](web::SiteFile)s. An
/// owner who writes it states their own preferences.
const STATED: &[u8] = b"\n# Stated in other files:\n";
/// Bytes of robots.txt that are decoded: one more than are read, so that a cut line shows.
const READ: u64 = MAX_ROBOTS_BYTES as u64 + 1;
/// The time that a response holds (section 2.4).
pub(super) const HOLDS: Duration = Duration::from_secs(24 * 3600);
/// The time that a ban on all pages holds before the host is tried again.
const HOLDS_UNREACHABLE: Duration = Duration::from_secs(30);

/// The text of a robots.txt, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsText {
    /// Its lines, followed by the lines of the [`SiteFile`](web::SiteFile)s; each file has at most
    /// [`MAX_ROBOTS_BYTES`]. `None` if the site has none of these files.
    pub lines: Option<Bytes>,
    /// The expiry of the text.
    pub until: Timestamp,
}

/// The reason why a robots.txt is unavailable, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RobotsError {
    /// There was no response.
    #[error(transparent)]
    Lost(#[from] FetchFailure),
    /// There was a response with this status: the host is in trouble.
    #[error("HTTP status {0}")]
    Status(u16),
    /// The file cannot be decoded, so its rules are unknown.
    #[error("it is {0}")]
    Coding(DecodeError),
}

impl RobotsError {
    /// Returns the kind of failure if there was no response.
    #[must_use]
    pub const fn kind(&self) -> Option<FailureKind> {
        match self {
            Self::Lost(failure) => Some(failure.kind()),
            Self::Status(_) | Self::Coding(_) => None,
        }
    }
}

/// The result of an exchange.
#[derive(Clone)]
pub(super) enum RobotsFile {
    Given(Bytes),
    Missing,
    /// The reason.
    Unreachable(RobotsError),
}

impl RobotsFile {
    pub(super) fn of(exchange: &Exchange) -> Self {
        match exchange.status {
            _ if is_file(exchange) => Self::read(exchange),
            status @ (429 | 500..) => Self::Unreachable(RobotsError::Status(status)),
            _ => Self::Missing,
        }
    }

    /// Reads a file. A file that cannot be read permits nothing, and neither does one whose coding
    /// breaks off: the missing part may forbid what the rest allows (section 2.3.1.4).
    fn read(exchange: &Exchange) -> Self {
        let mut decoded = decode(&exchange.headers, &exchange.body, READ);
        if decoded.bytes.starts_with(GZIP) {
            // Packed, and no header says so.
            let error = decoded.error;
            decoded = gunzip(&decoded.bytes, READ);
            decoded.error = decoded.error.or(error);
        }
        let text = match robots_text(&decoded.bytes) {
            Cow::Borrowed(_) => decoded.bytes.clone(),
            Cow::Owned(text) => text.into(),
        };
        match decoded.error {
            Some(error @ DecodeError::Broken) => Self::Unreachable(RobotsError::Coding(error)),
            Some(error) if text.is_empty() || is_binary(&text) => {
                Self::Unreachable(RobotsError::Coding(error))
            }
            _ => Self::Given(text),
        }
    }

    /// Returns the time that the file holds, by whether it was unreachable the time before.
    pub(super) fn holds(&self, was_unreachable: bool) -> Duration {
        match self {
            Self::Given(_) | Self::Missing => HOLDS,
            Self::Unreachable(error) => match error.kind() {
                Some(kind @ (FailureKind::Disconnected | FailureKind::Connect)) => {
                    Consequence::of_robots(Some(kind)).wait(0, !was_unreachable)
                }
                _ => HOLDS_UNREACHABLE,
            },
        }
    }

    /// Returns the text to store, with the lines of the [`SiteFile`](web::SiteFile)s. A host in
    /// trouble is asked again soon, and not worth storing.
    pub(super) fn to_remember(&self, until: Timestamp, stated: &str) -> Option<RobotsText> {
        let rules = match self {
            Self::Given(body) => Some(body.slice(..whole_lines(body).len())),
            Self::Missing => None,
            Self::Unreachable(_) => return None,
        };
        let lines = match stated.is_empty() {
            true => rules,
            false => {
                let rules = rules.unwrap_or_default();
                Some([&rules, STATED, stated.as_bytes()].concat().into())
            }
        };
        Some(RobotsText { lines, until })
    }

    /// Returns the file in a stored text, and the lines of the [`SiteFile`](web::SiteFile)s.
    pub(super) fn remembered(lines: Option<Bytes>) -> (Self, String) {
        let Some(lines) = lines else {
            return (Self::Missing, String::new());
        };
        let mark = lines.windows(STATED.len()).rposition(|part| part == STATED);
        let Some(mark) = mark else {
            return (Self::Given(lines), String::new());
        };
        let stated = String::from_utf8_lossy(&lines[mark + STATED.len()..]).into_owned();
        match mark {
            0 => (Self::Missing, stated),
            end => (Self::Given(lines.slice(..end)), stated),
        }
    }
}

/// Returns true if the body of a response is the file: as for pages, a redirect without a target is
/// a document (RFC 9110 section 15.4).
pub(super) fn is_file(response: &Exchange) -> bool {
    match response.status {
        200..300 => true,
        NOT_MODIFIED => false,
        300..400 => target(response).is_none(),
        _ => false,
    }
}

/// Returns the target of a redirect. As in browsers, a blank or invalid `Location` does not name a
/// target.
pub(super) fn target(response: &Exchange) -> Option<Result<PageUrl, UrlError>> {
    let location = response.location()?;
    if location.trim().is_empty() {
        return None;
    }
    let target = response.url.join(&location, &CanonicalForm::keep_all());
    (!matches!(target, Err(UrlError::Malformed(_)))).then_some(target)
}

/// The status of a response that refers to an earlier response. Our requests never ask for it.
const NOT_MODIFIED: u16 = 304;

/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Returns true for control characters that are in no text.
fn is_binary(text: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f);
    text.iter().any(is_control)
}
