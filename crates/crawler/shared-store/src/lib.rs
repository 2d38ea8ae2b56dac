//! The store of a crawl that several nodes share: its journal, split by bucket, in PostgreSQL.
//!
//! ```text
//! node a: fetches, archives            node b: fetches, archives
//!   working copy of its buckets          working copy of its buckets      (store::EmbeddedStore)
//!     │ records     ▲ records of            │             ▲
//!     │             │ buckets acquired      │             │
//!     ▼             │ and all admissions    ▼             │
//!   ┌─────────────────────── PostgreSQL ─────────────────────────┐
//!   │ journal by bucket · inboxes · signature_log · terms        │
//!   └────────────────────────────────────────────────────────────┘
//! ```
//! A *bucket* holds the hosts of some registrable domains. Its owner is the *term* of a node: a
//! number that is new at each start and is kept alive by a heartbeat. The owner uses the code of
//! the embedded store, on a working copy, to decide about the bucket, and ships the records of its
//! decisions to the bucket's journal. A node that acquires a bucket applies these records.
//! Admissions of all nodes are in one log, which every node applies, so that each node compares a
//! page with the pages of all nodes.
//!
//! Invariant: PostgreSQL is the source of truth. A node's work does not count before it is in the
//! database, and nothing is added for a term that has ended. The functions of `migrations/` check
//! that in the database. Start reading at `store.rs`; docs/adr/0021 has the reasons.
//!
//! A program that does not take part only reads: `reading.rs` lists the nodes, `replica.rs` copies
//! a crawl into the journal of a directory, `audit.rs` checks the rows. `import.rs` brings in the
//! crawl of a directory.

mod admissions;
mod audit;
mod bucket;
mod calls;
mod connection;
mod earlier;
mod frontier;
mod heartbeat;
mod import;
mod keys;
mod near_dup;
mod ownership;
mod packing;
mod page_limit;
mod reading;
mod replica;
mod rows;
mod scope_seeds;
mod session;
mod shipping;
mod store;
mod term;
mod updates;

pub use self::audit::Audit;
pub use self::bucket::{BUCKETS, Bucket};
pub use self::connection::{ConnectError, Connection};
pub use self::earlier::EarlierError;
pub use self::import::{Import, ImportError, ImportScan};
pub use self::packing::ROWS_PER_PACK;
pub use self::reading::{NodeState, ReadError, SharedCrawl, TermState, Unowned};
pub use self::replica::{Replica, ReplicaPart};
pub use self::scope_seeds::Widen;
pub use self::session::{CrawlSettings, JoinError, NodeFailure, Session};
pub use self::shipping::SyncArchive;
pub use self::store::{SharedOptions, SharedStore};
pub use self::term::Term;
