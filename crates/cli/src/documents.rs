//! Documents as they lie in files: what `dedup` compares, and `fingerprint` and `compare` read.
//!
//! Text, HTML and other files are a document each; JSON lines and WARC files hold many; directories
//! hold files. They are read one after the other, in an order that does not change, and never more
//! than one batch of them is in memory.

mod archive;
mod document;
mod read;
mod signatures;
mod skip_report;
mod sources;

pub(crate) use crate::input::is_standard_input;
pub(crate) use archive::{ArchiveDocuments, SeenDeviations, WaczStreams, exchange, is_visited};
pub(crate) use document::{Content, Document, MAX_DOCUMENT};
pub(crate) use read::Reader;
pub(crate) use signatures::Signatures;
pub(crate) use skip_report::SkipReport;
pub(crate) use sources::{Documents, Skipped, is_archive, is_wacz, media_type, only};
