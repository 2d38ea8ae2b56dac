//! Failures and moves of seeds, reported to the user while the crawl runs.
//!
//! A crawl whose seeds fail is a crawl of nothing, so each failure is reported at once, with its
//! cause. The queue of reports is bounded: of a million seeds that fail, the first are reported and
//! the rest are counted.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use journal::{Fate, ReasonKind, VisitRecord};
use requests::FailureKind;
use tokio::sync::Notify;
use web::PageUrl;

/// Maximum number of reports in a session.
pub const MAX_SEED_REPORTS: usize = 20;

/// The reason why a seed was not fetched, for the choice of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedFailure {
    /// The host did not answer, for the seed or for its robots.txt.
    Fetch(FailureKind),
    /// The response has this status, which does not belong to a page.
    Status(u16),
    /// robots.txt is unavailable: its response has a status of trouble.
    Robots,
    /// A rule excludes the seed.
    Excluded(ReasonKind),
}

/// A seed that was not fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSeed {
    /// The seed.
    pub url: PageUrl,
    /// The kind of failure; `None` if it is only known as text.
    pub failure: Option<SeedFailure>,
    /// The cause, as a clause.
    pub cause: String,
}

/// The part of a place outside the scope that comes along with a seed that has moved there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedScope {
    /// It was in the scope before.
    Within,
    /// The territory that the target would span as a seed: it is of the seed's registrable domain.
    Along,
    /// The page only: it is of another site.
    PageOnly,
}

/// A report about a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedReport {
    /// It could not be fetched.
    Failed(FailedSeed),
    /// A redirect or a refresh points to another host.
    Moved {
        /// The seed.
        seed: PageUrl,
        /// The target.
        to: PageUrl,
        /// The part of the target's place that is in the scope.
        scope: MovedScope,
    },
}

/// Seeds of this session, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedCounts {
    /// Seeds that were fetched.
    pub fetched: u64,
    /// Seeds that failed for good.
    pub failed: u64,
    /// Fetched seeds without a link that is followed.
    pub without_links: u64,
    /// Fetched seeds without a followed link that have a script.
    pub with_scripts: u64,
    /// Fetched seeds without a followed link that have a form.
    pub with_forms: u64,
}

/// The reports about the seeds of this session.
#[derive(Debug, Default)]
pub struct SeedReports {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    counts: SeedCounts,
    /// The reports that were not taken yet.
    waiting: VecDeque<SeedReport>,
    /// The number of reports so far.
    reported: usize,
    /// The first seeds that failed, each with its last cause.
    failed: Vec<FailedSeed>,
}

impl SeedReports {
    /// Waits until there may be a new report.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Takes the new reports.
    pub fn take(&self) -> Vec<SeedReport> {
        self.locked().waiting.drain(..).collect()
    }

    /// Returns the counts.
    pub fn counts(&self) -> SeedCounts {
        self.locked().counts
    }

    /// Returns the first seeds that failed, at most [`MAX_SEED_REPORTS`].
    pub fn failed(&self) -> Vec<FailedSeed> {
        self.locked().failed.clone()
    }

    /// Reports a failed visit of a seed, which may be repeated.
    pub(crate) fn add_failure(&self, url: &PageUrl, failure: SeedFailure, cause: &str) {
        let failed = FailedSeed {
            url: url.clone(),
            failure: Some(failure),
            cause: cause.to_owned(),
        };
        self.locked().fail(failed);
        self.changed.notify_one();
    }

    /// Reports a seed that moved to another host.
    pub(crate) fn add_move(&self, seed: &PageUrl, to: &PageUrl, scope: MovedScope) {
        if seed.authority() == to.authority() && scope == MovedScope::Within {
            return;
        }
        let (seed, to) = (seed.clone(), to.clone());
        self.locked().report(SeedReport::Moved { seed, to, scope });
        self.changed.notify_one();
    }

    /// Counts a fetched seed without a link that is followed.
    pub(crate) fn add_dead_end(&self, has_script: bool, has_form: bool) {
        let counts = &mut self.locked().counts;
        counts.without_links += 1;
        counts.with_scripts += u64::from(has_script);
        counts.with_forms += u64::from(has_form);
    }

    /// Counts the end of a visit, and reports a seed that a rule excludes.
    pub(crate) fn add_visit(&self, record: &VisitRecord) {
        if record.depth > 0 || record.via.is_some() || record.requisite > 0 {
            return;
        }
        let Some(has_brought_page) = record.has_brought_page() else {
            return;
        };
        if has_brought_page {
            let mut state = self.locked();
            state.counts.fetched += 1;
            state.failed.retain(|known| known.url != record.url);
            return;
        }
        self.locked().counts.failed += 1;
        // Failures are reported when they happen, since the visit may be repeated.
        if record.fate == Fate::Excluded {
            let kind = SeedFailure::Excluded(ReasonKind::of_exclusion(record));
            let cause = record.reason.as_ref().map(ToString::to_string);
            self.add_failure(&record.url, kind, &cause.unwrap_or_default());
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fail(&mut self, seed: FailedSeed) {
        let mut known = self.failed.iter_mut();
        if let Some(known) = known.find(|known| known.url == seed.url) {
            *known = seed;
        } else if self.failed.len() < MAX_SEED_REPORTS {
            self.failed.push(seed.clone());
            self.report(SeedReport::Failed(seed));
        }
    }

    fn report(&mut self, report: SeedReport) {
        if self.reported < MAX_SEED_REPORTS {
            self.reported += 1;
            self.waiting.push_back(report);
        }
    }
}

/// Returns the part of a target's place that comes along with a seed that has moved out of the
/// scope: all that it spans within the seed's registrable domain, and else the page only.
pub(crate) fn scope_of_move(seed: &PageUrl, to: &PageUrl) -> MovedScope {
    match seed.registrable_domain() == to.registrable_domain() {
        true => MovedScope::Along,
        false => MovedScope::PageOnly,
    }
}

#[cfg(test)]
mod tests {
    use journal::{DiscoveredUrl, Reason};
    use web::{CanonicalForm, Timestamp};

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::default()).unwrap()
    }

    fn visit(path: &str, fate: Fate, status: Option<u16>, reason: Reason) -> VisitRecord {
        let found = DiscoveredUrl::new(url(&format!("http://a.test/{path}")), 0, None);
        VisitRecord {
            status,
            reason: Some(reason),
            ..VisitRecord::new(found, fate, Timestamp::default())
        }
    }

    const DNS: SeedFailure = SeedFailure::Fetch(FailureKind::Dns);

    #[test]
    fn each_failing_seed_is_reported_once_and_no_more_than_the_first_ones() {
        let reports = SeedReports::default();
        for number in 0..MAX_SEED_REPORTS + 30 {
            let seed = url(&format!("http://a.test/{number}"));
            for cause in ["first", "second"] {
                reports.add_failure(&seed, DNS, cause);
            }
            let second = Reason::said("second");
            reports.add_visit(&visit(&number.to_string(), Fate::Failed, None, second));
        }
        assert_eq!(reports.take().len(), MAX_SEED_REPORTS);
        assert_eq!(reports.take(), []);
        assert_eq!(reports.counts().failed, MAX_SEED_REPORTS as u64 + 30);
        let failed = reports.failed();
        assert_eq!(failed.len(), MAX_SEED_REPORTS);
        assert!(failed.iter().all(|seed| seed.cause == "second"));
    }

    #[test]
    fn a_seed_that_a_rule_excludes_failed_and_one_whose_target_is_visited_is_not_counted() {
        let reports = SeedReports::default();
        let forbidden = Reason::Robots {
            rule: "Disallow: / (line 2)".to_owned(),
        };
        reports.add_visit(&visit("1", Fate::Excluded, None, forbidden));
        let elsewhere = Reason::VisitedForItself {
            to: "http://b.test/".to_owned(),
        };
        reports.add_visit(&visit("2", Fate::Excluded, Some(301), elsewhere));
        reports.add_visit(&visit("3", Fate::Excluded, Some(200), Reason::NoArchive));
        reports.add_visit(&visit("4", Fate::Unique, Some(200), Reason::said("")));
        reports.add_visit(&visit("5", Fate::Excluded, Some(302), Reason::CookieCircle));
        let SeedCounts {
            fetched, failed, ..
        } = reports.counts();
        assert_eq!((fetched, failed), (2, 2));
        let robots = SeedFailure::Excluded(ReasonKind::Robots);
        assert_eq!(reports.failed()[0].failure, Some(robots));
        let other = SeedFailure::Excluded(ReasonKind::Other);
        assert_eq!(reports.failed()[1].failure, Some(other));
        assert_eq!(reports.failed()[1].cause, Reason::CookieCircle.to_string());
    }

    #[test]
    fn a_seed_that_succeeds_after_a_failure_did_not_fail() {
        let reports = SeedReports::default();
        reports.add_failure(&url("http://a.test/1"), DNS, "down");
        reports.add_visit(&visit("1", Fate::Unique, Some(200), Reason::said("")));
        assert_eq!(reports.failed(), []);
    }

    #[test]
    fn a_site_comes_along_within_its_registrable_domain() {
        for (seed, to, scope) in [
            (
                "http://a.example/",
                "https://www.a.example/x",
                MovedScope::Along,
            ),
            (
                "http://127.0.0.1:1/",
                "http://127.0.0.1:2/",
                MovedScope::Along,
            ),
            (
                "http://a.example/",
                "http://b.example/",
                MovedScope::PageOnly,
            ),
            (
                "http://a.github.io/",
                "http://b.github.io/",
                MovedScope::PageOnly,
            ),
        ] {
            assert_eq!(scope_of_move(&url(seed), &url(to)), scope, "{seed} {to}");
        }
    }
}
