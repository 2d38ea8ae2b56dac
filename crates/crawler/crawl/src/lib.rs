//! A crawl, from the first lease to the closed archive.
//!
//! [`visit`] is the life of one page, from lease to settlement. [`run()`] runs many visits at a
//! time until the frontier is exhausted or a limit is reached. A [`CrawlContext`] contains
//! everything that visits need: the seams (`Fetch`, `Render`, `Frontier`, `NearDupIndex`, `Sink`)
//! and the rules of the crawl.
//!
//! A failure of a page is a value, its [`Outcome`]; a failure of our own machinery is a [`Fault`]
//! and ends the crawl.

mod page;
mod run;

// The crawl's state, and the steps of a visit.
mod context;
mod fault;
mod runtime;
mod steps;

// The same visits, from an archive.
mod rebuild;
mod widened;

// After the crawl.
mod link_check;

pub use context::CrawlContext;
pub use fault::{Fault, Shortage};
pub use link_check::{LinkQueue, LinkTarget, check_links};
pub use page::{Outcome, visit};
pub use rebuild::{
    ArchivedVisit, RebuildRules, RebuiltVisit, RetainedMatch, apply_verdict, rebuild_visit,
};
pub use run::{Finish, Limits, Stop, StopHandle, run, stop};
pub use runtime::active_overrides::ActiveOverrides;
pub use runtime::adaptive_signatures::AdaptiveSignatures;
pub use runtime::disk_space::{DiskSpace, DiskSpaceRules};
pub use runtime::earlier_archives::EarlierArchives;
pub use runtime::focus::{Focus, RECENT_PAGES};
pub use runtime::kept_pages::KeptPages;
pub use runtime::listing_quota::ListingQuota;
pub use runtime::renderer::Renderer;
pub use runtime::repeated_texts::RepeatedTexts;
pub use runtime::resuming::{commit_point, open_archive};
pub use runtime::retry;
pub use runtime::robots_files::RobotsFiles;
pub use runtime::seed_reports::{
    FailedSeed, MAX_SEED_REPORTS, MovedScope, SeedCounts, SeedFailure, SeedReport, SeedReports,
};
pub use runtime::shortest_ways::ShortestWays;
pub use runtime::soft_not_found::NotFoundPages;
pub use runtime::telemetry::{
    Counts, LinkProgress, MAX_TYPES, OTHER_TYPES, ReasonCount, Reasons, Responses, Telemetry,
};
pub use runtime::topic_of_seeds::TopicOfSeeds;
pub use runtime::unvisited_urls::DistinctUrls;
pub use steps::link_score::LinkScores;
pub use steps::listings::pages_of_sitemap;
pub use widened::{RuleChange, links_of_archived, offer_sitemaps};
