//! The statistics of a crawl: one projection of its journal.
//!
//! [`CrawlStatistics`] applies the records of a journal in their order, once each, and answers from
//! memory. `crawler status`, the report, the dashboard and the metrics are views of it, so that all
//! count the same way.
//!
//! Invariants: the statistics are a function of the records, however they are cut into pieces; they
//! equal a recount of the visit records that `crawler export` prints; memory is bounded, and
//! [`limits`] has all caps. docs/adr/0018 has the reasons.

mod clusters;
mod counts;
mod crawl_statistics;
mod hosts;
mod in_flight;
pub mod limits;
mod link_statistics;
mod name_counts;
mod newest;
mod positions;
mod text;
mod timeline;
mod verdicts;
mod visit_index;
mod visit_sums;

pub use clusters::{Cluster, Clusters};
pub use counts::Counts;
pub use crawl_statistics::{CrawlStatistics, REDIRECTED};
pub use hosts::HostStatistics;
pub use in_flight::VisitInFlight;
pub use link_statistics::LinkStatistics;
pub use name_counts::NameCounts;
pub use newest::{Newest, RecentVisit};
pub use timeline::TimelinePoint;
pub use verdicts::VerdictRules;
pub use visit_sums::VisitSums;
