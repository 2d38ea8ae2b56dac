//! Counts of this session, in addition to the counts that the frontier stores.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::StatusCode;
use journal::{ExcludedBy, Fate, Reason, ReasonKind, VisitRecord};
use requests::Consequence;
use web::{Host, PageUrl, UrlKey};

use super::seed_reports::SeedReports;
use super::unvisited_urls::{DistinctUrls, UnvisitedUrls};

/// The counts of this session.
#[derive(Debug, Default)]
pub struct Telemetry {
    counts: Mutex<Counts>,
    responses: Mutex<Responses>,
    /// Hosts past their last chance, with the last failure.
    down: Mutex<BTreeMap<Host, String>>,
    unvisited: UnvisitedUrls,
    seeds: SeedReports,
    links: Mutex<Option<LinkProgress>>,
}

/// The progress of checking links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkProgress {
    /// Links with a result, from earlier sessions too.
    pub checked: u64,
    /// All links to check; `None` until the archive is read.
    pub all: Option<u64>,
}

impl LinkProgress {
    /// Returns the number of links that are not checked yet.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.all.unwrap_or_default().saturating_sub(self.checked)
    }
}

/// Writes the progress as a clause.
impl fmt::Display for LinkProgress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.all {
            None => out.write_str("looking for links to check"),
            Some(all) => write!(out, "{} of {all} links are checked", self.checked),
        }
    }
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Links on pages that were read.
    pub links_found: u64,
    /// Links that the scope keeps out.
    pub links_out_of_scope: u64,
    /// Links that are too far from a seed.
    pub links_too_deep: u64,
    /// Links that their page asks not to follow.
    pub links_nofollow: u64,
    /// Entries of sitemaps whose dates are out of the range that is wanted.
    pub links_of_other_dates: u64,
    /// Entries of sitemaps and feeds, and sitemaps, beyond the quota of their host.
    pub links_too_many: u64,
    /// Links that look like a trap.
    pub links_to_traps: u64,
    /// Visits that will be tried again.
    pub retries: u64,
    /// Pages that were given up because their address is not on the public internet.
    pub private_addresses: u64,
    /// Pages that were not sent again, because they are unchanged since an earlier crawl.
    pub not_modified: u64,
}

/// The visits of this session by the status and the media type of their last response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Responses {
    /// Visits by status code; those without a response are not counted.
    pub statuses: BTreeMap<u16, u64>,
    /// Visits by media type; beyond [`MAX_TYPES`] types, new ones count as [`OTHER_TYPES`].
    pub types: BTreeMap<String, u64>,
    /// Pages that failed, by status or else by reason.
    pub failed: Reasons,
    /// Visits without a page to archive, by reason: redirects to pages of this crawl, mostly.
    pub excluded: Reasons,
}

/// Visits by reason, each with its number and the first URL; beyond 64 reasons, new ones count as
/// `other reasons`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons(pub BTreeMap<String, ReasonCount>);

/// The visits with one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonCount {
    /// Their number.
    pub count: u64,
    /// The URL of the first one.
    pub first: PageUrl,
    /// True if another visit may end otherwise.
    pub may_pass: bool,
}

/// Maximum number of reasons that are counted one by one: servers choose some of their words.
const MAX_REASONS: usize = 64;

/// The name of the reasons beyond [`MAX_REASONS`].
const OTHER_REASONS: &str = "other reasons";

impl Reasons {
    fn count(&mut self, reason: String, url: &PageUrl, may_pass: bool) {
        let is_room = self.0.len() < MAX_REASONS || self.0.contains_key(&reason);
        let name = if is_room {
            reason
        } else {
            OTHER_REASONS.to_owned()
        };
        let begun = || ReasonCount {
            count: 0,
            first: url.clone(),
            may_pass: false,
        };
        let counted = self.0.entry(name).or_insert_with(begun);
        counted.count += 1;
        counted.may_pass |= may_pass;
    }
}

/// Returns a status in words: `404 Not Found`.
fn status_in_words(status: u16) -> String {
    let known = StatusCode::from_u16(status).ok();
    match known.and_then(|status| status.canonical_reason()) {
        Some(words) => format!("{status} {words}"),
        None => format!("HTTP status {status}"),
    }
}

/// Returns the reason of a failed visit without the target of its redirects, which differs from URL
/// to URL: `redirects: cannot connect: connection refused`.
fn reason_of_failure(record: &VisitRecord) -> String {
    match &record.reason {
        Some(Reason::Redirect { because, .. }) => format!("redirects: {because}"),
        Some(reason) => reason.to_string(),
        None => String::new(),
    }
}

/// Maximum number of hosts that are down whose failures are remembered.
const MAX_DOWN: usize = 1000;

/// Maximum number of media types that are counted one by one: servers choose them.
pub const MAX_TYPES: usize = 64;

/// The name of the media types beyond [`MAX_TYPES`].
pub const OTHER_TYPES: &str = "other";

impl Responses {
    fn count(&mut self, record: &VisitRecord) {
        let reason = || {
            record
                .reason
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        match record.fate {
            _ if record.requisite > 0 => {}
            Fate::Failed => {
                let status = record.status.filter(|status| *status >= 400);
                let reason = status.map_or_else(|| reason_of_failure(record), status_in_words);
                let may_pass =
                    status.is_none_or(|status| Consequence::of_status(status).may_pass());
                self.failed.count(reason, &record.url, may_pass);
            }
            Fate::Excluded if ReasonKind::of(record).is_none() => {
                let kind = ExcludedBy::of(record);
                let reason = kind.words().map_or_else(reason, str::to_owned);
                self.excluded.count(reason, &record.url, false);
            }
            _ => {}
        }
        if let Some(status) = record.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        let Some(media) = &record.content_type else {
            return;
        };
        let is_room = self.types.len() < MAX_TYPES || self.types.contains_key(media);
        let name = if is_room { media.as_str() } else { OTHER_TYPES };
        *self.types.entry(name.to_owned()).or_default() += 1;
    }
}

impl Telemetry {
    /// Remembers the last failure of a host that is past its last chance.
    pub(crate) fn note_down(&self, host: &Host, failure: &str) {
        let mut down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        if down.len() < MAX_DOWN || down.contains_key(host) {
            down.insert(host.clone(), failure.to_owned());
        }
    }

    /// Returns hosts that were past their last chance in this session, with the last failure. Some
    /// may be well again.
    #[must_use]
    pub fn down(&self) -> BTreeMap<Host, String> {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        down.clone()
    }

    /// Returns the counts now.
    pub fn counts(&self) -> Counts {
        *self.locked()
    }

    /// Returns the responses of this session, counted.
    pub fn responses(&self) -> Responses {
        self.locked_responses().clone()
    }

    /// Returns the reports about the seeds.
    pub fn seeds(&self) -> &SeedReports {
        &self.seeds
    }

    /// Returns the progress of checking links; `None` before the first link is looked for.
    #[must_use]
    pub fn links(&self) -> Option<LinkProgress> {
        *self.locked_links()
    }

    /// Sets the progress of checking links.
    pub fn set_links(&self, progress: LinkProgress) {
        *self.locked_links() = Some(progress);
    }

    /// Counts a link that was checked.
    pub(crate) fn note_checked_link(&self) {
        if let Some(progress) = &mut *self.locked_links() {
            progress.checked += 1;
        }
    }

    fn locked_links(&self) -> MutexGuard<'_, Option<LinkProgress>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the response of a visit that has ended.
    pub(crate) fn add_response(&self, record: &VisitRecord) {
        self.locked_responses().count(record);
        self.seeds.add_visit(record);
    }

    fn locked_responses(&self) -> MutexGuard<'_, Responses> {
        self.responses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the different URLs that were not archived for this kind of reason.
    pub fn unvisited(&self, kind: ReasonKind) -> DistinctUrls {
        self.unvisited.count(kind)
    }

    /// Adds the excluded links of one page.
    pub(crate) fn add_unvisited(&self, urls: &[(ReasonKind, UrlKey)]) {
        self.unvisited.add(urls);
    }

    /// Adds the counts of one page.
    pub(crate) fn add(&self, more: &Counts) {
        let mut counts = self.locked();
        counts.links_found += more.links_found;
        counts.links_out_of_scope += more.links_out_of_scope;
        counts.links_too_deep += more.links_too_deep;
        counts.links_nofollow += more.links_nofollow;
        counts.links_of_other_dates += more.links_of_other_dates;
        counts.links_too_many += more.links_too_many;
        counts.links_to_traps += more.links_to_traps;
        counts.retries += more.retries;
        counts.private_addresses += more.private_addresses;
        counts.not_modified += more.not_modified;
    }

    fn locked(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use journal::{DiscoveredUrl, Fate};
    use web::{CanonicalForm, PageUrl, Timestamp};

    use super::*;

    #[test]
    fn types_beyond_the_cap_are_counted_together() {
        let url = PageUrl::parse("http://a.test/", &CanonicalForm::default()).unwrap();
        let page = DiscoveredUrl::new(url, 0, None);
        let mut record = VisitRecord::new(page, Fate::Unique, Timestamp::from_millis(0));
        let mut responses = Responses::default();
        responses.count(&record);
        assert_eq!(responses, Responses::default());
        for number in 0..MAX_TYPES + 5 {
            record.status = Some(if number % 2 == 0 { 200 } else { 404 });
            record.content_type = Some(format!("x/{number:03}"));
            responses.count(&record);
        }
        assert_eq!(responses.types.len(), MAX_TYPES + 1);
        assert_eq!(responses.types[OTHER_TYPES], 5);
        assert_eq!(responses.types["x/000"], 1);
        assert_eq!(
            responses.statuses.into_iter().collect::<Vec<_>>(),
            [(200, 35), (404, 34)]
        );
    }
}
