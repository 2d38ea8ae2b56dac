//! Checks of links that leave the scope (`--check-links`), as values.
//!
//! The targets of these links are neither archived nor judged, so they have no record in the
//! journal.

use std::fmt;

use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp};

/// The verdict on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkVerdict {
    /// Its target answered.
    Ok,
    /// Its target does not exist, or always fails.
    Broken,
    /// The server refuses programs, or demands a login; readers may see the page.
    Blocked,
    /// The response does not decide it, such as a timeout or 429 Too Many Requests.
    Unknown,
    /// A rule forbids the request, such as robots.txt.
    NotChecked,
}

impl LinkVerdict {
    /// Returns the verdict on a link whose last response, after any repetition, has this status.
    ///
    /// Refusals (401, 403, 407), legal reasons (451, RFC 7725) and numbers beyond the standards
    /// (999 by linkedin.com) depend on the client. 408, 421, 425, 429 and 503 are temporary by
    /// definition (RFC 9110 section 15, RFC 6585 section 4, RFC 8470 section 5.2).
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            304 | 408 | 421 | 425 | 429 | 503 => Self::Unknown,
            200..=399 => Self::Ok,
            401 | 403 | 407 | 451 | 600.. => Self::Blocked,
            _ => Self::Broken,
        }
    }
}

/// The method of the last request of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CheckMethod {
    /// HEAD.
    Head,
    /// GET, whose body was not read.
    Get,
}

/// A response that redirected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkHop {
    /// The URL that was requested.
    pub url: PageUrl,
    /// The status of its response.
    pub status: u16,
}

/// A check of a link. Field names are used in `link-checks.jsonl` and in `crawler why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCheck {
    /// The target of the link.
    pub url: PageUrl,
    /// The verdict.
    pub verdict: LinkVerdict,
    /// The method of the last request; absent if none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<CheckMethod>,
    /// The end of the check.
    #[serde(with = "rfc_3339")]
    pub checked_at: Timestamp,
    /// The status of the last response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The reason of a verdict other than `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The redirects that were followed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<LinkHop>,
    /// The URL of the last response, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_url: Option<PageUrl>,
    /// The first page that was found to link to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_from: Option<PageUrl>,
}

/// Writes the result for people: `checked by HEAD on 2026-11-30T11:20:50.000Z: 404 Not Found`.
impl fmt::Display for LinkCheck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            None => write!(out, "not checked on {}", self.checked_at)?,
            Some(CheckMethod::Head) => write!(out, "checked by HEAD on {}", self.checked_at)?,
            Some(CheckMethod::Get) => write!(out, "checked by GET on {}", self.checked_at)?,
        }
        match (&self.reason, self.status) {
            (Some(reason), _) => write!(out, ": {reason}")?,
            (None, Some(status)) => write!(out, ": {status}")?,
            (None, None) => {}
        }
        match &self.final_url {
            Some(url) => write!(out, ", at {url}"),
            None => Ok(()),
        }
    }
}

/// Numbers of links by verdict. Field names are used in `--format json`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkCounts {
    /// Links whose targets were requested.
    pub checked: u64,
    /// Links that work.
    pub ok: u64,
    /// Broken links.
    pub broken: u64,
    /// Links to servers that refuse programs.
    pub blocked: u64,
    /// Links without a clear result.
    pub unknown: u64,
    /// Links that a rule kept from being checked.
    pub not_checked: u64,
}

/// Writes `412 checked: 7 broken, 3 blocked, 402 ok`.
impl fmt::Display for LinkCounts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} checked: {}", self.checked, self.by_verdict())
    }
}

impl LinkCounts {
    /// Returns the numbers by verdict as a clause, without zeros.
    #[must_use]
    pub fn by_verdict(&self) -> String {
        let counts = [
            (self.broken, "broken"),
            (self.blocked, "blocked"),
            (self.unknown, "unknown"),
            (self.ok, "ok"),
            (self.not_checked, "not checked"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        match counts.is_empty() {
            true => "none".to_owned(),
            false => counts.join(", "),
        }
    }

    /// Counts a verdict.
    pub fn add(&mut self, verdict: LinkVerdict) {
        let count = match verdict {
            LinkVerdict::Ok => &mut self.ok,
            LinkVerdict::Broken => &mut self.broken,
            LinkVerdict::Blocked => &mut self.blocked,
            LinkVerdict::Unknown => &mut self.unknown,
            LinkVerdict::NotChecked => &mut self.not_checked,
        };
        *count += 1;
        self.checked += u64::from(verdict != LinkVerdict::NotChecked);
    }
}

/// A time as text (RFC 3339), as other files for users have it.
mod rfc_3339 {
    use serde::{Deserialize, Deserializer, Serializer};
    use web::Timestamp;

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(at)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
