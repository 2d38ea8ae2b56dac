//! Documents in files, which `dedup`, `compare` and `fingerprint` read.
//!
//! A text, HTML or other file is one document; JSON lines and WARC files have many; directories
//! have files. Documents are read in a fixed order, and at most one batch is in memory.

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
