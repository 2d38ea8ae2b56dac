//! WARC/1.1 archives (ISO 28500:2017): written while crawling, read back to verify them.
//!
//! Each record is a gzip member of its own (annex D.2), so that any record can be read from its offset alone.
//! Section numbers in this module are those of WARC/1.1; WARC/1.0 counts differently.
//!
//! - [`WarcArchive`] is the sink: it builds and compresses records side by side and appends them one visit at a time.
//! - `visit` says which records a visit becomes, `message` writes their blocks, `record` their bytes,
//!   `identity` their names, `warcinfo` what the archive says of itself.
//! - `tail` is the end of the archive: the order of the visits, and what happens on a fault. `volume` is one file of
//!   it, `files` the names that files have.
//! - [`WarcReader`] and [`check_file`] read the files again, [`WarcStream`] those of others; `parse` takes a record apart, `parsed` is what it is then.

mod archive;
mod files;
mod identity;
mod message;
mod parse;
mod parsed;
mod read;
mod record;
mod stream;
mod tail;
mod visit;
mod volume;
mod warcinfo;

pub use archive::{ArchiveEnd, WarcArchive};
pub use parsed::{DigestCheck, Record};
pub use read::{FileCheck, ReadFault, WarcReader, check_file};
pub use stream::WarcStream;
pub use warcinfo::ArchiveOptions;
