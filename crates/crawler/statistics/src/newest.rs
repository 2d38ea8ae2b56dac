//! The newest visits of each kind.

use std::collections::VecDeque;

use journal::{DiscoveredUrl, Fate, Limit, LinkCheck, Reason, VisitRecord};
use web::{PageUrl, Timestamp, UrlKey};

use crate::limits::{MAX_NEWEST, MAX_REMEMBERED, MAX_TEXT_CHARACTERS};
use crate::text::cut;

/// A kind of visits whose newest are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newest {
    /// Pages that were fetched and judged, duplicates included.
    Pages,
    /// Duplicates.
    Duplicates,
    /// URLs that could not be fetched, requisites included.
    Failures,
    /// URLs that a rule forbade, requisites included.
    Exclusions,
    /// Redirects.
    Redirects,
    /// Visits that a limit cut, requisites included.
    Truncated,
    /// Pages that have next to no text without their scripts, which were not run.
    NeedScripts,
}

impl Newest {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Pages,
        Self::Duplicates,
        Self::Failures,
        Self::Exclusions,
        Self::Redirects,
        Self::Truncated,
        Self::NeedScripts,
    ];

    /// Returns true for a visit of this kind.
    #[must_use]
    pub fn has(self, visit: &VisitRecord) -> bool {
        match self {
            Self::Pages => visit.is_page(),
            Self::Duplicates => visit.is_page() && visit.fate.is_duplicate(),
            Self::Failures => visit.fate == Fate::Failed,
            Self::Exclusions => visit.fate == Fate::Excluded,
            Self::Redirects => visit.requisite == 0 && target(visit).is_some(),
            Self::Truncated => !visit.details.cuts.is_empty(),
            Self::NeedScripts => visit.is_page() && visit.is_unrendered_shell(),
        }
    }
}

/// Returns the URL that a visit was redirected to.
fn target(visit: &VisitRecord) -> Option<&str> {
    let named = visit.reason.as_ref().and_then(Reason::redirects_to);
    let last = visit.final_url.as_ref().filter(|last| **last != visit.url);
    named.or_else(|| last.map(PageUrl::as_str))
}

/// A visit, with the data that lists show. Texts are cut after [`MAX_TEXT_CHARACTERS`].
#[derive(Clone, Debug, PartialEq)]
pub struct RecentVisit {
    /// The key of the URL, for a URL that was cut.
    pub key: UrlKey,
    /// The URL.
    pub url: Box<str>,
    /// The first page that was found to link to it; `None` for a seed.
    pub via: Option<Box<str>>,
    /// The URL that it redirects to.
    pub target: Option<Box<str>>,
    /// The time of the last request.
    pub at: Timestamp,
    /// The status code of the last response.
    pub status: Option<u16>,
    /// The outcome.
    pub verdict: Fate,
    /// The original of a duplicate, or the earlier version of a changed page.
    pub duplicate_of: Option<Box<str>>,
    /// Bits between the two fingerprints.
    pub distance: Option<u32>,
    /// The estimated resemblance of the two texts, 0 to 1.
    pub resemblance: Option<f64>,
    /// The rule or failure that decided.
    pub reason: Option<Box<str>>,
    /// True for a requisite of a page.
    pub is_requisite: bool,
    /// True if the archive has the response of this visit.
    pub kept: bool,
    /// True if the page has next to no text without its scripts, and they were not run.
    pub needs_scripts: bool,
    /// The limits that cut the visit.
    pub cuts: Vec<Limit>,
}

impl RecentVisit {
    /// Returns a visit as lists show it.
    #[must_use]
    pub fn of(visit: &VisitRecord) -> Self {
        let short = |text: &str| Box::from(cut(text, MAX_TEXT_CHARACTERS));
        Self {
            key: visit.url.key(),
            url: short(visit.url.as_str()),
            via: visit.via.as_ref().map(|url| short(url.as_str())),
            target: target(visit).map(short),
            at: visit.fetched_at,
            status: visit.status,
            verdict: visit.fate,
            duplicate_of: visit.duplicate_of.as_ref().map(|url| short(url.as_str())),
            distance: visit.distance,
            resemblance: visit.resemblance,
            reason: visit.reason_text().as_deref().map(short),
            is_requisite: visit.requisite > 0,
            kept: visit.kept,
            needs_scripts: visit.is_unrendered_shell(),
            cuts: visit.details.cuts.iter().map(|cut| cut.limit).collect(),
        }
    }

    /// Returns a broken link as lists show a failed visit.
    pub(crate) fn of_link(check: &LinkCheck) -> Self {
        let found = DiscoveredUrl::new(check.url.clone(), 0, check.linked_from.clone());
        let mut visit = VisitRecord::new(found, Fate::Failed, check.checked_at);
        (visit.status, visit.final_url) = (check.status, check.final_url.clone());
        visit.reason = check.reason.as_deref().map(Reason::said);
        Self::of(&visit)
    }
}

/// The visits of a kind: their number, and the newest in the order they ended.
#[derive(Clone, Debug, Default, PartialEq)]
struct VisitsOfKind {
    total: u64,
    newest: VecDeque<RecentVisit>,
}

/// The newest visits of each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NewestVisits([VisitsOfKind; Newest::ALL.len()]);

impl NewestVisits {
    /// Returns the newest visits of a kind, newest first.
    pub(crate) fn of(&self, kind: Newest) -> impl Iterator<Item = &RecentVisit> {
        let visits = &self.0[kind as usize].newest;
        visits.iter().rev().take(MAX_NEWEST)
    }

    /// Returns the number of all visits of a kind.
    pub(crate) fn total(&self, kind: Newest) -> u64 {
        self.0[kind as usize].total
    }

    /// Adds a visit.
    pub(crate) fn count(&mut self, visit: &VisitRecord) {
        for kind in Newest::ALL.into_iter().filter(|kind| kind.has(visit)) {
            let visits = &mut self.0[kind as usize];
            visits.total += 1;
            if visits.newest.len() == MAX_REMEMBERED {
                visits.newest.pop_front();
            }
            visits.newest.push_back(RecentVisit::of(visit));
        }
    }

    /// Takes back a visit that was added. A URL has one visit at a time that is not revoked.
    pub(crate) fn take_back(&mut self, record: &VisitRecord) {
        let key = record.url.key();
        for kind in Newest::ALL.into_iter().filter(|kind| kind.has(record)) {
            let visits = &mut self.0[kind as usize];
            visits.total = visits.total.saturating_sub(1);
            if let Some(place) = visits.newest.iter().rposition(|visit| visit.key == key) {
                visits.newest.remove(place);
            }
        }
    }
}
