//! Where pages go.
//!
//! A crawl hands every finished [`Visit`] to a [`Sink`] and learns where it was kept. The one sink
//! so far is the [`WarcArchive`]: WARC/1.1 files, one gzip member a record. [`warc`] also reads
//! such files back, [`wacz`] packs them into one.

pub mod cdxj;
mod digest;
mod fault;
mod sink;
pub mod wacz;
pub mod warc;

pub use digest::{DigestAlgorithm, PayloadDigest, UnknownDigestAlgorithm};
pub use fault::SinkFault;
pub use sink::{Archived, IndexText, Keeping, MetadataField, Original, Resource, Sink, Visit};
pub use warc::{ArchiveEnd, ArchiveOptions, Settled, WarcArchive};
