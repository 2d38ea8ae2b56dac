//! The newest visits of each kind.

use std::collections::VecDeque;

use journal::{Fate, VisitRecord};
use web::{Timestamp, UrlKey};

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
}

impl Newest {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Pages,
        Self::Duplicates,
        Self::Failures,
        Self::Exclusions,
    ];

    /// Returns true for a visit of this kind.
    #[must_use]
    pub fn has(self, visit: &VisitRecord) -> bool {
        match self {
            Self::Pages => visit.is_page(),
            Self::Duplicates => visit.is_page() && visit.fate.is_duplicate(),
            Self::Failures => visit.fate == Fate::Failed,
            Self::Exclusions => visit.fate == Fate::Excluded,
        }
    }
}

/// A visit, with the data that lists show. Texts are cut after [`MAX_TEXT_CHARACTERS`].
#[derive(Clone, Debug, PartialEq)]
pub struct RecentVisit {
    /// The key of the URL, for a URL that was cut.
    pub key: UrlKey,
    /// The URL.
    pub url: Box<str>,
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
}

impl RecentVisit {
    /// Returns a visit as lists show it.
    #[must_use]
    pub fn of(visit: &VisitRecord) -> Self {
        let short = |text: &str| Box::from(cut(text, MAX_TEXT_CHARACTERS));
        Self {
            key: visit.url.key(),
            url: short(visit.url.as_str()),
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
        }
    }
}

/// The newest visits of each kind, in the order they ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NewestVisits([VecDeque<RecentVisit>; Newest::ALL.len()]);

impl NewestVisits {
    /// Returns the newest visits of a kind, newest first.
    pub(crate) fn of(&self, kind: Newest) -> impl Iterator<Item = &RecentVisit> {
        self.0[kind as usize].iter().rev().take(MAX_NEWEST)
    }

    /// Adds a visit.
    pub(crate) fn count(&mut self, visit: &VisitRecord) {
        for kind in Newest::ALL.into_iter().filter(|kind| kind.has(visit)) {
            let visits = &mut self.0[kind as usize];
            if visits.len() == MAX_REMEMBERED {
                visits.pop_front();
            }
            visits.push_back(RecentVisit::of(visit));
        }
    }

    /// Takes back a visit that was added. A URL has one visit at a time that is not revoked.
    pub(crate) fn take_back(&mut self, record: &VisitRecord) {
        let key = record.url.key();
        for kind in Newest::ALL.into_iter().filter(|kind| kind.has(record)) {
            let visits = &mut self.0[kind as usize];
            if let Some(place) = visits.iter().rposition(|visit| visit.key == key) {
                visits.remove(place);
            }
        }
    }
}
