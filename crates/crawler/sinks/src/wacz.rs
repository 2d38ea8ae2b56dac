//! WACZ 1.1.1: crawls in one file that replay tools open directly
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
//! - [`Packer`] writes a WACZ, in this order, front to back; `blocks` writes the index.
//! - [`MergedIndex`] merges the indexes of several crawls and of WARC files into one.
//! - [`check()`] checks a WACZ of any program. `entries` is the ZIP's list of files with their
//!   positions: files are never unpacked to a disk, so a name that points outside does no harm; it
//!   is reported.
//! - `signature` signs a package by a key pair, and checks such signatures.
//! - [`archives`] lists the WARC files in a WACZ, for readers of their records.
//!
//! Invariant: memory grows only with the number of files and, by one line for some thousand, with
//! the index. **The same crawl gives the same bytes**: all dates are the crawl's.

mod blocks;
mod check;
mod entries;
mod fault;
mod fused_writer;
mod index_lines;
mod indexes;
mod layout;
mod merged_index;
mod package;
mod problems;
mod signature;

pub use check::{WaczCheck, check};
pub use entries::{ArchivePart, archives};
pub use fault::WaczFault;
pub use fused_writer::FusedWriter;
pub use layout::WACZ_VERSION;
pub use merged_index::{MergedIndex, MissingOriginals, PackedFile};
pub use package::{PackageInfo, Packer, Page};
pub use signature::{PackageKey, PackageKeyError};
