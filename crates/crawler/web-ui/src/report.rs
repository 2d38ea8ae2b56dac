//! The report of a crawl: its sections as values, and the page that shows them.
//!
//! The fields of [`Report`] and of its sections are the names in `--format json`, in the units that
//! their comments state; docs/guide/report.md lists them. The page does not contain scripts,
//! references to other files or links to crawled pages: a report is sent to others and published,
//! where a link would tell the site about each reader, and would serve spam pages.
//!
//! Source of the policy in its head: W3C, Content Security Policy Level 3, sections 6.1 and 6.6.

pub(crate) mod gather;
mod hosts;
mod links;
mod report_counts;
pub(crate) mod summary;
mod timeline;
mod verdicts;

use std::io;

use askama::Template;
use data_encoding::BASE64;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use statistics::Counts;
use web::Timestamp;

pub use self::gather::{Beside, BrokenLinkCollector};
pub use self::hosts::{HostLine, HostSums, Hosts, Politeness};
pub use self::links::{
    CutVisits, ExcludedLinks, Failures, ListedUrl, Pattern, PatternExample, Patterns, Skipped,
    SkippedKind, UrlList,
};
pub use self::report_counts::{Count, ReportCounts};
pub use self::summary::Setting;
pub use self::timeline::{Point, Timeline};
pub use self::verdicts::{Cluster, Clusters, Duplicate, Verdicts};
use crate::filters;

/// The statistics of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The seeds' hosts, in words.
    pub title: String,
    /// Remarks on unreadable data. The statistics cover the readable data.
    pub notices: Vec<String>,
    /// The counts of the crawl.
    pub summary: Counts,
    /// The settings of the last session, without secrets.
    pub settings: Vec<Setting>,
    /// Pages over time.
    pub timeline: Timeline,
    /// Hosts.
    pub hosts: Hosts,
    /// Verdicts on pages.
    pub verdicts: Verdicts,
    /// Clusters of duplicates.
    pub clusters: Clusters,
    /// Visits by the status code of their last answer.
    pub status_codes: ReportCounts,
    /// Visits by media type.
    pub types: ReportCounts,
    /// Pages by language.
    pub languages: ReportCounts,
    /// Failures.
    pub failures: Failures,
    /// Links to pages that do not exist: they are gone (404, 410), or their host did not respond.
    /// The first ones, by the page that has the link.
    pub broken_links: UrlList,
    /// Redirects, the newest first.
    pub redirects: UrlList,
    /// Visits that a limit cut, the newest first.
    pub truncated: UrlList,
    /// Pages that need their scripts, which were not run, the newest first.
    pub need_scripts: UrlList,
    /// URLs that were seen and not visited.
    pub skipped: Skipped,
    /// URL patterns that bring little, or were closed.
    pub patterns: Patterns,
    /// The check of waits between requests.
    pub politeness: Politeness,
}

/// The page of a report. Its fields are the names that the fragments use, so that another page can
/// include some fragments.
#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    style: Style,
    /// False: a report is handed on, and contains no links.
    linked: bool,
    title: &'a str,
    notices: &'a [String],
    summary: &'a Counts,
    settings: &'a [Setting],
    timeline: &'a Timeline,
    hosts: &'a Hosts,
    verdicts: &'a Verdicts,
    clusters: &'a Clusters,
    status_codes: &'a ReportCounts,
    types: &'a ReportCounts,
    languages: &'a ReportCounts,
    failures: &'a Failures,
    broken_links: &'a UrlList,
    redirects: &'a UrlList,
    truncated: &'a UrlList,
    need_scripts: &'a UrlList,
    skipped: &'a Skipped,
    patterns: &'a Patterns,
    politeness: &'a Politeness,
}

impl Report {
    /// Writes the report as a page of HTML.
    ///
    /// # Errors
    /// The writer's own.
    pub fn write_html(&self, out: &mut impl io::Write) -> io::Result<()> {
        let page = ReportPage {
            style: Style(STYLE),
            linked: false,
            title: &self.title,
            notices: &self.notices,
            summary: &self.summary,
            settings: &self.settings,
            timeline: &self.timeline,
            hosts: &self.hosts,
            verdicts: &self.verdicts,
            clusters: &self.clusters,
            status_codes: &self.status_codes,
            types: &self.types,
            languages: &self.languages,
            failures: &self.failures,
            broken_links: &self.broken_links,
            redirects: &self.redirects,
            truncated: &self.truncated,
            need_scripts: &self.need_scripts,
            skipped: &self.skipped,
            patterns: &self.patterns,
            politeness: &self.politeness,
        };
        page.write_into(out)
    }
}

/// Serializes a time in RFC 3339 format, as other commands do.
fn rfc_3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

const STYLE: &str = include_str!("../templates/report.css");

/// Our own style sheet: it is written as it is.
#[derive(Clone, Copy)]
pub(crate) struct Style(pub(crate) &'static str);

impl Style {
    /// Returns the source expression that allows this style sheet and no other (Content Security
    /// Policy Level 3, section 2.3.1).
    pub(crate) fn allowed(self) -> String {
        format!("'sha256-{}'", BASE64.encode(&Sha256::digest(self.0)))
    }
}

impl std::fmt::Display for Style {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl askama::filters::HtmlSafe for Style {}
