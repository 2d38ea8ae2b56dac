//! The journal of a crawl: everything that happened, as values, and the files that contain them.
//!
//! - Values of records: [`VisitRecord`] with its [`VisitDetails`], [`DiscoveredUrl`],
//!   [`QueueEntry`], [`Page`], [`Reason`], and the sums over them: [`Totals`], [`Harvest`].
//! - [`Record`]: one event that must not be forgotten, and its encoding.
//! - [`Journal`] appends records to segments and makes them durable.
//! - [`History`], [`visits`], [`record_at`] and [`JournalFollower`] read them back, during the
//!   crawl or afterwards.
//!
//! - [`LinkCheck`]: a link that leaves the scope and was checked, in a file of its own.
//!
//! Nothing is decided here: the crate `store` decides and writes the records, and its tables are
//! derived from them.

mod discovered_url;
mod duplicate_rule;
mod excluded_by;
mod fault;
mod finished_visit;
#[cfg(test)]
mod fixtures;
mod follower;
mod frame;
mod group_commit;
mod harvest;
mod history;
mod journal;
mod limit;
mod link_check;
mod link_check_log;
mod mark;
mod node_file;
mod page;
mod pattern_name;
mod queue_entry;
mod read_ahead;
mod reader;
mod reason;
mod reason_kind;
mod record;
mod rendered;
mod robots;
mod segment;
mod totals;
mod unread_format;
mod visit_details;
mod visit_record;

pub use topic::Relevance;

pub use self::discovered_url::DiscoveredUrl;
pub use self::duplicate_rule::{
    CONTAINED_IN, DuplicateRule, OF_CANONICAL, SAME_BYTES, SAME_CONTENT, SAME_TEXT,
};
pub use self::excluded_by::ExcludedBy;
pub use self::fault::{Holder, StoreFault};
pub use self::finished_visit::{ArchiveSpan, ExcludedLinks, FinishedVisit};
pub use self::follower::JournalFollower;
pub use self::frame::{Position, append_frame, encode};
pub use self::harvest::{Harvest, UrlHarvest};
pub use self::history::{
    History, Revocation, Revocations, record_at, records_at, revocations, visits,
};
pub use self::journal::{Journal, SEGMENT_BYTES};
pub use self::limit::{Cut, CutSum, Limit};
pub use self::link_check::{CheckMethod, LinkCheck, LinkCounts, LinkHop, LinkVerdict};
pub use self::link_check_log::{LINK_CHECKS_FILE, LinkCheckLog, LinkChecks};
pub use self::node_file::NodeFile;
pub use self::page::Page;
pub use self::pattern_name::PatternName;
pub use self::queue_entry::QueueEntry;
pub use self::reader::JournalReader;
pub use self::reason::Reason;
pub use self::reason_kind::{ReasonKind, UnknownKind};
pub use self::record::{DistinctPages, Record, RetainedPage, SettledVisit, with_details};
pub use self::rendered::Rendered;
pub use self::robots::Robots;
pub use self::segment::{FORMAT, Replay, TornTail, length, record_in, segments, torn_tail};
pub use self::totals::Totals;
pub use self::unread_format::UnreadFormat;
pub use self::visit_details::VisitDetails;
pub use self::visit_record::{Fate, VisitRecord};
