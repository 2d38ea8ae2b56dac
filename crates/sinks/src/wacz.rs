//! WACZ 1.1.1: a crawl in one file, which replay tools open as it is
//! (<https://specs.webrecorder.net/wacz/1.1.1/>).
//!
//! ```text
//! archive/*.warc.gz          the archive, stored
//! indexes/index.cdx.gz       its index, in gzip members of some thousand lines (ZipNum), stored
//! indexes/index.idx          where the members begin
//! pages/pages.jsonl          the pages
//! datapackage.json           all of these with their lengths and digests
//! datapackage-digest.json    the digest of that
//! ```
//!
//! - [`Packer`] writes one, in this order and front to back; `blocks` writes the index.
//! - [`check()`] reads anybody's. `entries` is the ZIP as a list of places in the file: nothing is
//!   ever unpacked to a disk, so a name that leads outside leads nowhere, and is told.
//! - [`archives`] are the places of the WARC files in one, for whoever reads their records.
//!
//! Invariant: memory does not grow with the archive, only with the number of files and, a line for
//! some thousand, with the index. **The same crawl gives the same bytes**: whatever has a date has
//! one of the crawl's.

mod blocks;
mod check;
mod entries;
mod fault;
mod fused_writer;
mod indexes;
mod layout;
mod package;
mod problems;

pub use check::{WaczCheck, check};
pub use entries::{ArchivePart, archives};
pub use fault::WaczFault;
pub use fused_writer::FusedWriter;
pub use layout::WACZ_VERSION;
pub use package::{PackageInfo, Packer, Page};
