//! WARC/1.1 archives (ISO 28500:2017): written while crawling, read back to verify them.
//!
//! Each record is packed separately, in a gzip member (annex D.2) or a zstd frame, or not at all,
//! so that any record can be read from its offset alone. Section numbers in this module refer to
//! WARC/1.1; WARC/1.0 counts differently.
//!
//! - [`WarcArchive`] is the sink: it builds and compresses records side by side and appends them
//!   one visit at a time.
//! - `packing` compresses records; `visit` decides which records a visit becomes, `message` writes
//!   their blocks, `record` their bytes, `identity` their ids, `warcinfo` the archive's
//!   description.
//! - `tail` is the end of the archive: the order of the visits, and the handling of faults.
//!   `warc_file` is one file of it, `files` has the file names, `archive_end` is a position in the
//!   archive; `commit_point` records how much is settled, `unsettled_tail` cuts the rest,
//!   `recovery` finds the visits that a power cut left whole.
//! - [`ConversionWriter`] writes texts made from archived pages (WET files).
//! - `unpack` decompresses files and knows the extent of each member. [`WarcReader`] and
//!   [`check_file`] read our files strictly. [`WarcStream`] reads the files of any crawler, ARC
//!   files (`arc`) included, and counts their deviations from the standard ([`Deviation`]). `parse`
//!   parses a record, `parsed` is the result, `response` the exchange in it, `chunks` its transfer
//!   coding. [`read_head`] reads the head of one record.

mod arc;
pub(crate) mod archive;
pub(crate) mod archive_end;
mod chunks;
pub(crate) mod commit_point;
mod content;
mod conversion;
mod date;
mod deviations;
pub(crate) mod files;
pub(crate) mod foreign;
mod identity;
mod members;
mod message;
mod packing;
pub(crate) mod parse;
pub(crate) mod parsed;
pub(crate) mod read;
mod record;
mod recovery;
mod response;
mod spooled;
pub(crate) mod stream;
mod tail;
mod unpack;
mod unsettled_tail;
mod visit;
mod warc_file;
mod warcinfo;

pub use archive::WarcArchive;
pub use archive_end::ArchiveEnd;
pub use commit_point::{CommitPoint, CommitPointFile, is_beside};
pub use conversion::{Conversion, ConversionInfo, ConversionWriter};
pub(crate) use date::completed;
pub use date::date;
pub use deviations::{Deviation, Deviations};
pub use files::{OPEN, is_prefix, locate, name_of};
pub use foreign::{begin_behind, beginning, is_foreign};
pub use packing::{Compression, Dictionary, Packing, UnknownPacking, UnusableDictionary};
pub use parsed::{DigestCheck, Record};
pub use read::{FileCheck, ReadFault, WarcReader, check_file, read_head};
pub use recovery::whole_visits;
pub use response::Response;
pub use stream::{WarcStream, next_record_behind};
pub use unpack::{ArchiveFormat, archive_format};
pub use unsettled_tail::settled_behind;
pub use visit::PICTURE_OF;
pub use warcinfo::ArchiveOptions;
