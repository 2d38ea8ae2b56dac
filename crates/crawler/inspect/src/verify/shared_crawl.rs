//! Checks a shared crawl: its rows against each other, and the times of its visits.
//!
//! For each archived visit, the store contains the time of its last request, by the node's clock.
//! Earlier requests of a visit, such as redirects, are in the archives:
//! `crawler verify DIR --store URL` checks them per node.

use facts::page_counts::PageCounts;
use facts::verify::{CheckedRequests, Findings, JournalPoliteness};
use messages::{CommandError, SlowProgress};
use serde::Serialize;
use setup::shared;
use shared_store::Audit;

/// The result of the check.
#[derive(Serialize)]
pub struct Report {
    /// True if nothing was found.
    pub agrees: bool,
    /// Counts of pages.
    #[serde(flatten)]
    pub pages: PageCounts,
    /// Number of terms.
    pub terms: u64,
    /// Number of terms that have not ended.
    pub live_terms: u64,
    /// Number of rows of the journal.
    pub journal_rows: u64,
    /// Number of admissions.
    pub admission_rows: u64,
    /// URLs in transfer from one node to another.
    pub links: u64,
    /// Number of revoked rows.
    pub revoked: u64,
    /// Unarchived pages that will be visited again because their original is gone.
    pub due: u64,
    /// Counts of requests.
    pub politeness: Requests,
    /// Number of findings.
    pub findings_total: u64,
    /// The first findings.
    pub findings: Findings,
}

/// The requests that were checked.
#[derive(Serialize)]
pub struct Requests {
    /// Number of requests.
    pub requests: u64,
    /// Number of hosts.
    pub hosts: u64,
    /// Number of requests compared with an earlier one.
    pub compared: u64,
    /// Number of requests that came too soon.
    pub too_soon: u64,
}

/// Checks the crawl in the store at `url`.
pub fn check(url: &str) -> Result<Report, CommandError> {
    let mut findings = Findings::default();
    let (audit, politeness) = shared::runtime()?.block_on(async {
        let crawl = shared::open_shared(url).await?;
        let settings = shared::settings_of(&crawl)?;
        let mut politeness = JournalPoliteness::without_archive(&settings);
        let mut progress = SlowProgress::new("rows read");
        let see = |record: &_| {
            progress.step();
            politeness.apply(record);
        };
        let audit = crawl
            .audit(settings.distance, see, |text| findings.add(text))
            .await
            .map_err(shared::read_error)?;
        Ok::<_, CommandError>((audit, politeness.end()))
    })?;
    for finding in &politeness.findings {
        findings.add(format!("politeness: {finding}"));
    }
    let named = politeness.findings.len() as u64;
    findings.count += politeness.too_soon.saturating_sub(named);
    Ok(Report::new(&audit, &politeness, findings))
}

impl Report {
    fn new(audit: &Audit, politeness: &CheckedRequests, findings: Findings) -> Self {
        Self {
            agrees: findings.count == 0,
            pages: PageCounts::from(&audit.totals),
            terms: audit.terms,
            live_terms: audit.live,
            journal_rows: audit.rows,
            admission_rows: audit.admissions,
            links: audit.links,
            revoked: audit.revoked,
            due: audit.due,
            politeness: Requests {
                requests: politeness.requests,
                hosts: politeness.hosts,
                compared: politeness.compared,
                too_soon: politeness.too_soon,
            },
            findings_total: findings.count,
            findings,
        }
    }
}
