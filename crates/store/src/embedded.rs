//! One machine, one directory: the journal is the truth, sled holds what is derived from it.
//!
//! ```text
//! DIR/lock                  who has it open                                  lock.rs
//! DIR/journal/NNNN….log     what happened, in order                          journal.rs, segment.rs, mark.rs, record.rs
//! DIR/sled/                 the frontier, the looks of pages, the watermark  frontier/, looks/, saving.rs
//! ```
//! Pages of earlier crawls that count as seen stay where they are, in journals that are only read
//! (earlier.rs).
//!
//! Every verb does the same three things: it decides (under one short mutex), appends a record of
//! what it decided to the journal, and hears that record. What was heard is folded into the tables
//! now and then (saving.rs). Opening loads the tables and hears the journal from their watermark on
//! (opening.rs); tables that cannot be read are set aside and made again from the journal's
//! beginning. So the invariant: memory and tables are a function of the journal (docs/adr/0006).
//!
//! What lies in sled is sealed or in blocks with checksums: `sorted/` for keys, `cards.rs` for what
//! verification needs, `meta.rs` for the rest; `database.rs` is the only module that knows sled.

mod admission;
mod checkpoint;
mod compaction;
mod database;
pub(crate) mod earlier;
mod frontier;
pub mod journal;
mod journal_rebuild;
mod lock;
mod near_dup;
mod options;
mod recovery;
mod store;
mod tables;
mod verify;

pub use self::database::Database;
pub use self::earlier::Earlier;
pub use self::journal::history::{History, Revocations, TakenBack, revocations, rows};
pub use self::journal::record;
pub use self::journal::segment::TornTail;
pub use self::journal_rebuild::{Admission as RestoredAdmission, RestoredVisit, Restoring};
pub use self::lock::DirectoryLock;
pub use self::near_dup::memory_index::SignatureIndexLocation;
pub use self::near_dup::records::{Card, Cards};
pub use self::options::StoreOptions;
pub use self::recovery::archive_tail::ArchiveTail;
pub use self::store::EmbeddedStore;
pub use self::tables::{Posting, Scan, SortedTables, Summary, Table};
pub use self::verify::{Audit, audit};

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod likeness_tests;
#[cfg(test)]
mod power_tests;
#[cfg(test)]
mod tests;
