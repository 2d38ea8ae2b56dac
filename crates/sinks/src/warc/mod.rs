//! WARC/1.1 archives (ISO 28500:2017): written while crawling, read back to verify them.
//!
//! Each record is packed by itself, in a gzip member (annex D.2), a zstd frame or not at all, so
//! that any record can be read from its offset alone. Section numbers in this module are those of
//! WARC/1.1; WARC/1.0 counts differently.
//!
//! - [`WarcArchive`] is the sink: it builds and compresses records side by side and appends them
//!   one visit at a time.
//! - `packing` says how records are packed; `visit` says which records a visit becomes, `message`
//!   writes their blocks, `record` their bytes, `identity` their names, `warcinfo` what the archive
//!   says of itself.
//! - `tail` is the end of the archive: the order of the visits, and what happens on a fault.
//!   `volume` is one file of it, `files` the names that files have; `settled` notes how far the
//!   journal tells of it, `surplus` cuts what is behind that.
//! - `unpack` makes one stream of what is packed and knows where each member lies. [`WarcReader`]
//!   and [`check_file`] read our files again, [`whole_visits`] what a power cut left of their end,
//!   [`WarcStream`] those of others, with what is odd about them ([`Oddity`]); `parse` takes a
//!   record apart, `parsed` is what it is then, `answer` the exchange that it was made from.
//!   [`read_head`] looks at one record alone.

mod answer;
mod archive;
mod files;
mod foreign;
mod identity;
mod members;
mod message;
mod oddities;
mod packing;
mod parse;
mod parsed;
mod read;
mod record;
mod settled;
mod sound;
mod stream;
mod surplus;
mod tail;
mod unpack;
mod visit;
mod volume;
mod warcinfo;

pub use answer::Answer;
pub use archive::{ArchiveEnd, WarcArchive};
pub(crate) use files::file_number;
pub use files::{OPEN, is_prefix, locate, name_of};
pub use foreign::{begin_behind, beginning, is_foreign};
pub use oddities::{Oddities, Oddity};
pub use packing::{Compression, Dictionary, Packing, UnknownPacking, UnusableDictionary};
pub use parsed::{DigestCheck, Record};
pub(crate) use read::head_in;
pub use read::{FileCheck, ReadFault, WarcReader, check_file, read_head};
pub use settled::{Noted, Settled, is_beside};
pub use sound::whole_visits;
pub use stream::{WarcStream, next_record_behind};
pub use surplus::settled_behind;
pub use unpack::begins_archive;
pub use warcinfo::ArchiveOptions;
