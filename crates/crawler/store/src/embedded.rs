//! A store in one directory of one machine. The journal is the source of truth; sled holds data
//! derived from it.
//!
//! ```text
//! DIR/lock                  the process that has it open          lock.rs
//! DIR/journal/NNNN….log     everything that happened, in order    crate journal
//! DIR/sled/                 the tables: frontier, signatures      frontier/, near_dup/, tables/
//!                           and the watermark                     checkpoint/
//! ```
//!
//! Pages of earlier crawls that count as seen stay in their own journals, which are opened for
//! reading only (earlier.rs).
//!
//! Every operation does the same three things: it decides under one short mutex, appends a record
//! of the decision to the journal, and applies that record to memory. From time to time, a
//! checkpoint flushes memory into the tables (checkpoint.rs). Opening loads the tables and replays
//! the journal after their watermark (recovery.rs). Unreadable tables are quarantined and rebuilt
//! from the start of the journal. Invariant: memory and tables are a function of the journal
//! (docs/adr/0006).
//!
//! Every value in sled is either sealed or a block with a checksum: `tables/` holds keys,
//! `near_dup/records.rs` the records that verification needs, `checkpoint/meta.rs` the rest.
//! `database.rs` is the only module that knows sled.

mod actions;
mod admission;
mod checkpoint;
mod compaction;
mod crash_injection;
mod database;
pub(crate) mod earlier;
mod frontier;
mod journal_rebuild;
mod lock;
mod near_dup;
mod options;
mod recovery;
mod store;
mod tables;
mod verify;
mod working_copy;

pub use self::actions::DistinctEffect;
pub use self::database::Database;
pub use self::earlier::EarlierCrawls;
pub use self::frontier::RecordWatch;
pub use self::journal_rebuild::{Admission as RestoredAdmission, JournalRebuild, RestoredVisit};
pub use self::lock::DirectoryLock;
pub use self::near_dup::memory_index::SignatureMemory;
pub use self::near_dup::records::{SignatureRecord, SignatureRecords};
pub use self::options::StoreOptions;
pub use self::recovery::archive_tail::ArchiveTail;
pub use self::store::EmbeddedStore;
pub use self::tables::{Posting, Scan, SortedTables, Summary, Table};
pub use self::verify::{Audit, audit};
pub use self::working_copy::{LogChunk, LogStep, WorkingCopy};

#[cfg(test)]
mod actions_tests;
#[cfg(test)]
mod comparison_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod power_tests;
#[cfg(test)]
mod tests;
