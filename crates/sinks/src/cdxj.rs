//! CDXJ: the index by which replay tools find what is in an archive.
//!
//! - [`Indexed`] is a sink around the archive: it makes the index while the crawl runs, in bounded
//!   memory, by sorted runs that are merged when it is closed. `capture` says what a record's line
//!   is, [`key()`] what it is sorted by.
//! - `index` is the index on the disk, `manifest` what it knows of its runs, `run` how they are
//!   written and merged.
//! - `scan` reads an archive again, for what is missing from its index; [`make_again`] all of it,
//!   [`index_files`] those of others.
//! - [`CdxjReader`] reads any index, and [`Comparison`] an index side by side with its archive.
//!
//! **The index is a function of the archive**: lost, it is made again, and comes out the same byte
//! for byte.

mod batch;
pub(crate) mod capture;
mod compare;
pub(crate) mod entry;
mod gather;
mod index;
mod indexed;
mod json;
mod key;
pub(crate) mod lines;
mod manifest;
mod run;
mod scan;
mod sessions;
mod warcio_head;

pub use capture::{Capture, DUPLICATE};
pub use compare::{Comparison, Difference, compare};
pub use entry::{CdxjLine, LineError, MAX_LINE};
pub use gather::{IndexingReport, index_files};
pub use index::{
    INDEX, IndexCounts, is_manifest, make_again, make_again_with, remove, strays, whole,
};
pub use indexed::Indexed;
pub use key::key;
pub use lines::{CdxjReader, SkippedLines};
