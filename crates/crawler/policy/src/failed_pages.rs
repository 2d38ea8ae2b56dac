//! Failed pages that a user wants requested again: `crawler retry`, and `retry` in `control.toml`.
//!
//! A selection is written as text, and every part narrows it: `status=404,5xx host=example.org
//! reason=timed out`. Without a status and a reason it selects the pages whose failure may have
//! passed ([`Consequence`]); an empty selection is written `temporary`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use journal::{Fate, VisitRecord};
use requests::Consequence;
use thiserror::Error;
use web::Host;

use crate::values::host_named;

/// A selection of failed pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedPages {
    /// The statuses to select.
    pub statuses: Vec<StatusRange>,
    /// The hosts to select.
    pub hosts: Vec<Host>,
    /// A part of the reason; case is ignored.
    pub reason: Option<String>,
}

/// A status, or a class of statuses: `404`, `5xx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusRange(RangeInclusive<u16>);

/// A text that selects no failed pages.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FailedPagesError {
    /// Not a status.
    #[error("{0:?} is not a status, such as 404 or 5xx")]
    Status(String),
    /// Not a host.
    #[error("{0:?} is not a host, such as example.org")]
    Host(String),
    /// Not a part of a selection.
    #[error("{0:?} is not valid; use temporary, status=404,5xx, host=example.org or reason=WORDS")]
    Part(String),
}

/// The word for failures that may have passed.
const TEMPORARY: &str = "temporary";

impl FailedPages {
    /// Returns true for the record of a page to request again.
    #[must_use]
    pub fn select(&self, visit: &VisitRecord) -> bool {
        let is_host = self.hosts.is_empty() || self.hosts.contains(&visit.url.host());
        visit.fate == Fate::Failed && is_host && self.selects_failure(visit)
    }

    fn selects_failure(&self, visit: &VisitRecord) -> bool {
        if self.statuses.is_empty() && self.reason.is_none() {
            return may_have_passed(visit);
        }
        let is_in = |status| self.statuses.iter().any(|range| range.0.contains(&status));
        let is_status = self.statuses.is_empty() || visit.status.is_some_and(is_in);
        // People search the text that they were shown.
        let shown = visit.reason.as_ref().map(ToString::to_string);
        let shown = shown.unwrap_or_default().to_lowercase();
        let part = self.reason.as_deref().unwrap_or_default().to_lowercase();
        is_status && shown.contains(&part)
    }

    /// Returns the hosts in this list, separated by commas.
    ///
    /// # Errors
    /// A name in the list is not a host.
    pub fn hosts_in(list: &str) -> Result<Vec<Host>, FailedPagesError> {
        let host =
            |name: &str| host_named(name).ok_or_else(|| FailedPagesError::Host(name.to_owned()));
        list.split(',').map(host).collect()
    }

    /// Returns the statuses in this list, separated by commas.
    ///
    /// # Errors
    /// A part of the list is not a status.
    pub fn statuses_in(list: &str) -> Result<Vec<StatusRange>, FailedPagesError> {
        list.split(',').map(str::parse).collect()
    }
}

/// Returns true if another visit may bring the page: nobody answered, not even a redirect's target,
/// or the response was not final.
fn may_have_passed(visit: &VisitRecord) -> bool {
    visit.status.is_none_or(|status| {
        (300..400).contains(&status) || Consequence::of_status(status).may_pass()
    })
}

impl FromStr for StatusRange {
    type Err = FailedPagesError;

    fn from_str(text: &str) -> Result<Self, FailedPagesError> {
        let class = text
            .strip_suffix("xx")
            .and_then(|class| class.parse::<u16>().ok());
        let range = match class {
            Some(class) => (1..=9)
                .contains(&class)
                .then(|| class * 100..=class * 100 + 99),
            None => text.parse().ok().map(|status| status..=status),
        };
        let possible = range.filter(|range| (100..=999).contains(range.start()));
        let range = possible.ok_or_else(|| FailedPagesError::Status(text.to_owned()))?;
        Ok(Self(range))
    }
}

impl fmt::Display for StatusRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.start() == self.0.end() {
            true => write!(f, "{}", self.0.start()),
            false => write!(f, "{}xx", self.0.start() / 100),
        }
    }
}

impl FromStr for FailedPages {
    type Err = FailedPagesError;

    fn from_str(text: &str) -> Result<Self, FailedPagesError> {
        let mut selected = Self::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            if let Some(reason) = rest.strip_prefix("reason=") {
                selected.reason = Some(reason.to_owned());
                break;
            }
            let (part, behind) = rest.split_once(' ').unwrap_or((rest, ""));
            if let Some(list) = part.strip_prefix("status=") {
                selected.statuses.extend(Self::statuses_in(list)?);
            } else if let Some(list) = part.strip_prefix("host=") {
                selected.hosts.extend(Self::hosts_in(list)?);
            } else if part != TEMPORARY {
                return Err(FailedPagesError::Part(part.to_owned()));
            }
            rest = behind.trim_start();
        }
        Ok(selected)
    }
}

impl fmt::Display for FailedPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(key: &str, items: &[T]) -> Option<String> {
            let items: Vec<String> = items.iter().map(T::to_string).collect();
            (!items.is_empty()).then(|| format!("{key}={}", items.join(",")))
        }
        let parts = [
            list("status", &self.statuses),
            list("host", &self.hosts),
            self.reason
                .as_ref()
                .map(|reason| format!("reason={reason}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => f.write_str(TEMPORARY),
            false => f.write_str(&parts.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use journal::DiscoveredUrl;
    use web::{CanonicalForm, PageUrl, Timestamp};

    use super::*;

    fn visit(fate: Fate, status: Option<u16>, reason: &str) -> VisitRecord {
        let url = PageUrl::parse("http://a.test/1", &CanonicalForm::default()).unwrap();
        VisitRecord {
            status,
            reason: Some(journal::Reason::said(reason)),
            ..VisitRecord::new(DiscoveredUrl::new(url, 1, None), fate, Timestamp::default())
        }
    }

    #[test]
    fn a_selection_is_read_as_it_is_written() {
        for text in [
            "temporary",
            "status=404,5xx",
            "host=a.test,b.test",
            "status=503 host=a.test reason=timed out, twice",
        ] {
            let read: FailedPages = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        assert_eq!("".parse(), Ok(FailedPages::default()));
        for (text, wrong) in [
            ("status=5x", FailedPagesError::Status("5x".to_owned())),
            ("status=", FailedPagesError::Status(String::new())),
            ("status=99", FailedPagesError::Status("99".to_owned())),
            ("status=0xx", FailedPagesError::Status("0xx".to_owned())),
            ("host=a/b", FailedPagesError::Host("a/b".to_owned())),
            ("all", FailedPagesError::Part("all".to_owned())),
        ] {
            assert_eq!(text.parse::<FailedPages>(), Err(wrong), "{text}");
        }
    }

    #[test]
    fn failed_pages_are_selected_by_status_host_and_reason() {
        let gone = visit(Fate::Failed, Some(404), "HTTP status 404");
        let down = visit(Fate::Failed, Some(503), "HTTP status 503");
        let silent = visit(Fate::Failed, None, "the request timed out");
        let hop = visit(Fate::Failed, Some(301), "the request timed out");
        let page = visit(Fate::Unique, Some(200), "");
        for (text, expected) in [
            ("temporary", [false, true, true, true, false]),
            ("status=404", [true, false, false, false, false]),
            ("status=4xx,503", [true, true, false, false, false]),
            ("host=a.test", [false, true, true, true, false]),
            ("host=b.test", [false; 5]),
            ("reason=TIMED OUT", [false, false, true, true, false]),
            ("status=5xx reason=timed", [false; 5]),
            ("host=a.test status=404", [true, false, false, false, false]),
        ] {
            let selection: FailedPages = text.parse().unwrap();
            let found = [&gone, &down, &silent, &hop, &page].map(|visit| selection.select(visit));
            assert_eq!(found, expected, "{text}");
        }
    }
}
