//! The memory of a crawl: the URLs to visit, the finished visits, and the signatures of the pages.
//!
//! Two of the project's four seams are here. [`Frontier`] leases URLs and takes back the outcomes
//! of their visits; [`NearDupIndex`] decides, in one atomic method, whether a page repeats an
//! earlier one. [`EmbeddedStore`] implements both in one directory, with a journal as the source of
//! truth and sled tables derived from it. The crate `contract` tests every store against every
//! sentence of the traits' documentation. Its naive store in memory is the oracle for all others.
//!
//! The decisions that all stores share are here as well, and are pure: [`Known`] judges pages,
//! [`Patterns`] judges URLs, [`LeasedProbes`] says which URLs are new. The crate [`journal`] has
//! the events of a crawl, as values, and their files.

mod budget;
mod embedded;
#[cfg(test)]
mod fixtures;
mod frontier;
mod host_memory;
mod known;
mod near_dup;
mod off_topic_streak;
mod patterns;
mod rules;
mod seen;

pub use self::budget::{DomainCounts, exclude};
pub use self::embedded::{
    ArchiveTail, Audit, Database, DirectoryLock, DistinctEffect, EarlierCrawls, EmbeddedStore,
    JournalRebuild, LogChunk, LogStep, Posting, RecordWatch, RestoredAdmission, RestoredVisit,
    Scan, SignatureMemory, SignatureRecord, SignatureRecords, SortedTables, StoreOptions, Summary,
    Table, WorkingCopy, audit,
};
pub use self::frontier::{
    ArchivePlace, CRASHES_TO_QUARANTINE, Durable, Frontier, FrontierRules, FrontierStats,
    HOSTS_RULE, HostLimits, Lease, LeaseFilter, Settlement, Supply,
};
pub use self::host_memory::HostMemory;
pub use self::known::{Cluster, Decision, Held, Known, Originals, PageRef, RetainedEntry};
pub use self::near_dup::{EarlierCapture, NearDupIndex, Original, RetainedDuplicate, Verdict};
pub use self::off_topic_streak::OffTopicStreak;
pub use self::patterns::{
    Example, LeftRecords, PatternReport, PatternState, Patterns, RenderedPages, ScriptUse,
};
pub use self::rules::{ComparisonOptions, DuplicateScope, UnknownScope};
pub use self::seen::{LeasedProbes, requeued, seen_as, settled_probe};
