//! Near-duplicate detection among files larger than memory.
//!
//! Calls block, work on threads of their own, and stay within a budget of memory: larger data go to
//! unnamed files in a directory that the caller names, which vanish with the process. They use
//! neither clock nor terminal; a [`Progress`] follows the work.
//!
//! - [`dedup::run`]: finds duplicates among documents: single duplicates, pairs or clusters.
//! - [`signature_file`]: signatures on disk, as shards, indexes and the progress of a run.
//! - [`with_distinct_ids()`]: checks on the way that no two documents have one id.
//! - [`repeated_parts()`]: finds lines or paragraphs that occurred before.
//! - [`containments()`]: finds documents whose shingles are part of another document's.
//! - [`query()`]: finds the fingerprints of a large file that are near one of many queries;
//!   [`ordered_query()`] sorts them by position, also for a [`Shard`] of the file on each machine,
//!   and [`grouped_query()`] by query.
//! - [`self_join()`]: finds all pairs of near fingerprints in a file; [`ordered_pairs()`] sorts
//!   them by position.
//! - [`FingerprintFile`]: the input of queries and joins. A [`FingerprintIndex`] of such a file is
//!   probed with each query instead of being streamed past all queries.

mod containment;
mod control;
pub mod dedup;
mod distinct_ids;
mod document_id;
mod document_names;
mod entries;
mod error;
mod fields;
mod fingerprint_file;
mod fingerprint_index;
mod ordered_pairs;
mod ordered_query;
mod pigeonhole;
mod query;
mod repeated_parts;
mod repository;
mod scratch;
mod self_join;
mod shard;
mod signature_bytes;
pub mod signature_file;
mod sorter;
mod workers;

pub use containment::{
    Containment, ContainmentOptions, ContainmentSummary, ShingledDocument, containments,
};
pub use control::{Control, Progress, Silent, Step};
pub use distinct_ids::with_distinct_ids;
pub use document_id::DocumentId;
pub use error::BatchError;
pub use fingerprint_file::{
    Block, FingerprintFile, FingerprintReader, FingerprintWriter, IdReader,
};
pub use fingerprint_index::{FingerprintIndex, IndexMatch, IndexOptions, IndexReader, IndexWriter};
pub use neardup::ParametersDigest;
pub use neardup::tables::Pair;
pub use ordered_pairs::ordered_pairs;
pub use ordered_query::{GroupedMatch, QueryOptions, QuerySummary, grouped_query, ordered_query};
pub use query::{Queries, QueryMatch, query};
pub use repeated_parts::{PartOptions, PartSummary, PartedDocument, RepeatedPart, repeated_parts};
pub use repository::{Repository, RepositoryIds};
pub use self_join::{JoinOptions, JoinSummary, self_join};
pub use shard::{InvalidShard, MAX_SHARDS, Shard};

/// The minimum memory that is used, even if the caller asks for less: 64 KiB.
pub const MIN_MEMORY: usize = 64 << 10;

/// The examples of the README, which are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeExamples;
