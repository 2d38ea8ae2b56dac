//! The bounds of the output, in one place: first the bounds of a report, then of a
//! series of crawls and of the dashboard.
//!
//! A report is at most [`REPORT`] bytes, even for the largest crawl: each list has a maximum length
//! and each text a maximum number of bytes in HTML (see [`crate::cut`]). The test
//! `the_largest_report_is_at_most_1_mib` fills all of them.

/// Bytes of a report.
pub const REPORT: usize = 1 << 20;

/// Points of a timeline. More points of the crawl are added up in pairs.
pub const POINTS: usize = 120;
/// Hosts, by descending number of pages.
pub const HOSTS: usize = 100;
/// Clusters of duplicates, the largest first.
pub const CLUSTERS: usize = 40;
/// Duplicates that are shown of a cluster.
pub const EXAMPLES: usize = 3;
/// Status codes, media types, languages, kinds of failures and reasons of exclusions, each.
pub const NAMES: usize = 30;
/// Failures other than broken links, the newest first.
pub const FAILURES: usize = 50;
/// Links to pages that do not exist.
pub const BROKEN_LINKS: usize = 200;
/// Redirects, truncated visits, and pages that need scripts, each.
pub const PROBLEMS: usize = 50;
/// Entries of a list that are shown at once; the rest is folded.
pub const OPEN: usize = 10;
/// URL patterns that are closed, or were excluded.
pub const PATTERNS: usize = 40;
/// Settings.
pub const SETTINGS: usize = 120;
/// Findings about politeness, and remarks on damage.
pub const NOTICES: usize = 20;

/// Bytes of a URL.
pub const URL: usize = 240;
/// Bytes of a reason, a title or a name.
pub const TEXT: usize = 200;
/// Bytes of the value of a setting: some are lists.
pub const VALUE: usize = 400;

/// Changes that are listed of each kind, per crawl of a series.
pub const CHANGES: usize = 200;
/// Bytes of the changed words of a page, with the words around them.
pub const WORDS: usize = 4 << 10;
/// Bytes of a run of these words.
pub const PIECE: usize = 600;
/// Runs of these words.
pub const PIECES: usize = 100;

/// Entries of a list of the dashboard, or of one page of it.
pub const LISTED: usize = 500;
/// Pages in flight that are listed, the longest first.
pub const IN_FLIGHT: usize = 4_096;
/// Newest pages on the overview.
pub const NEWEST: usize = 10;
/// Bytes of a list as CSV. A longer one is refused: `crawler export` writes all.
pub const CSV: usize = 64 << 20;
/// Hits of a search that can be reached, and hits per page.
pub const HITS: usize = 500;
/// See [`HITS`].
pub const HITS_OF_A_PAGE: usize = 20;
/// Header fields of an archived response.
pub const HEADERS: usize = 100;
/// Captures of a page that are linked, the newest first.
pub const CAPTURES: usize = 50;
/// Bytes of a URL in the dashboard, which is whole in nearly all cases, so that it can be a link.
pub const ADDRESS: usize = 2_000;
/// Bytes of a reason that is shown alone on a page.
pub const REASON: usize = 2_000;
/// Bytes of the text, or of the source, of an archived page.
pub const PAGE_TEXT: usize = 64 << 10;
