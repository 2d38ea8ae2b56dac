//! The story of a crawl.
//!
//! [`visit`] is the life of one page, from lease to settlement; [`run()`] lives many of them at a
//! time until nothing is left or a limit is reached. Everything they need stands in a
//! [`CrawlContext`]: the four seams (`Fetch`, `Frontier`, `NearDupIndex`, `Sink`) and the rules of
//! the crawl.
//!
//! A failure of a page is a value, its [`Outcome`]; a failure of our own machinery is a [`Fault`]
//! and ends the crawl.

mod adaptive_signatures;
mod admission;
mod context;
mod disk_space;
mod duplicate_links;
mod earlier;
mod evidence;
mod fault;
mod indexing;
mod legacy_reason;
mod links;
mod listings;
mod outlinks;
mod page;
mod permission;
mod politeness;
mod reading;
mod rebuild;
mod redirects;
mod requisites;
mod resuming;
pub mod retry;
mod robots_files;
mod run;
mod runtime_overrides;
mod telemetry;
mod unvisited;
mod visit_record;

pub use adaptive_signatures::AdaptiveSignatures;
pub use admission::OnDuplicate;
pub use context::{CrawlContext, Policy};
pub use disk_space::{DiskSpace, DiskSpaceRules, Shortage};
pub use duplicate_links::{DuplicateLinks, UnknownDuplicateLinks};
pub use earlier::EarlierArchives;
pub use fault::Fault;
pub use indexing::{IndexedPages, UnknownIndexedPages, archived_text};
pub use listings::{ListingRules, Listings, Sitemaps, UnknownSitemaps};
pub use page::{Outcome, visit};
pub use reading::{document_here, page_text, payload_name};
pub use rebuild::{ArchivedVisit, RebuiltVisit, RetainedMatch, judged, retell};
pub use requisites::{Requisites, UnknownRequisites};
pub use resuming::{open_archive, settled_end};
pub use robots_files::RobotsFiles;
pub use run::{Finish, Limits, Stop, StopHandle, run, stop};
pub use runtime_overrides::{Live, RuntimeOverrides};
pub use telemetry::{Counts, Telemetry};
pub use unvisited::{Distinct, why_unvisited};
