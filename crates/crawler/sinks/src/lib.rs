//! Sinks: the destinations of visits.
//!
//! A crawl passes every finished [`Visit`] to a [`Sink`], which returns where it was stored. The
//! main sink is the [`WarcArchive`]: WARC/1.1 files, one gzip member per record. [`warc`] also
//! reads such files, [`cdxj`] indexes them, and [`wacz`] packs them into one file. [`captures`]
//! decides which captures represent a page, [`originals`] which record contains the content of a
//! revisit.

mod blocking;
pub mod captures;
pub mod cdxj;
mod digest;
mod fault;
pub mod originals;
mod sink;
pub mod wacz;
pub mod warc;

pub use digest::{DigestAlgorithm, PayloadDigest, UnknownDigestAlgorithm};
pub use fault::SinkFault;
pub use sink::{
    Archived, IndexText, Keeping, MetadataField, Original, QUEUED_URL, RENDER_REQUESTS, Resource,
    Sink, Visit,
};
pub use warc::{ArchiveEnd, ArchiveOptions, CommitPoint, WarcArchive};
