//! A crawl, from the first lease to the closed archive.
//!
//! [`visit`] is the life of one page, from lease to settlement. [`run()`] runs many visits at a
//! time until the frontier is exhausted or a limit is reached. A [`CrawlContext`] contains
//! everything that visits need: the four seams (`Fetch`, `Frontier`, `NearDupIndex`, `Sink`) and
//! the rules of the crawl.
//!
//! A failure of a page is a value, its [`Outcome`]; a failure of our own machinery is a [`Fault`]
//! and ends the crawl.

mod page;
mod run;

// Changes to a running crawl, as text, and values as people write them.
pub mod control_file;
pub mod values;

// The crawl's state and rules, and the steps of a visit.
mod context;
mod failed_pages;
mod fault;
mod policy;
mod runtime;
mod steps;

// The same visits, from an archive.
mod rebuild;
mod widened;

pub use context::CrawlContext;
pub use failed_pages::{FailedPages, FailedPagesError, StatusRange};
pub use fault::{Fault, Shortage};
pub use page::{Outcome, visit};
pub use policy::{IndexedPages, OnDuplicate, Policy};
pub use rebuild::{
    ArchivedVisit, RebuildRules, RebuiltVisit, RetainedMatch, apply_verdict, rebuild_visit,
};
pub use run::{Finish, Limits, Stop, StopHandle, run, stop};
pub use runtime::adaptive_signatures::AdaptiveSignatures;
pub use runtime::disk_space::{DiskSpace, DiskSpaceRules};
pub use runtime::focus::{Focus, OffTopic, RECENT_PAGES};
pub use runtime::host_frames::LearnedFrames;
pub use runtime::kept_pages::KeptPages;
pub use runtime::learned_words::LearnedWords;
pub use runtime::resuming::{commit_point, open_archive};
pub use runtime::retry;
pub use runtime::runtime_overrides::{Actions, ActiveOverrides, RuntimeOverrides};
pub use runtime::seed_reports::{
    FailedSeed, MAX_SEED_REPORTS, MovedScope, SeedCounts, SeedFailure, SeedReport, SeedReports,
};
pub use runtime::shortest_ways::ShortestWays;
pub use runtime::telemetry::{
    Counts, MAX_TYPES, OTHER_TYPES, ReasonCount, Reasons, Responses, Telemetry,
};
pub use runtime::topic_of_seeds::TopicOfSeeds;
pub use runtime::unvisited_urls::DistinctUrls;
pub use steps::duplicate_links::DuplicateLinks;
pub use steps::earlier_archives::EarlierArchives;
pub use steps::link_score::LinkScores;
pub use steps::listings::quota::ListingQuota;
pub use steps::reading::payload_name;
pub use steps::requisites::Requisites;
pub use steps::robots_files::RobotsFiles;
pub use steps::unvisited::why_unvisited;
pub use widened::{RuleChange, links_of_archived, offer_sitemaps};
