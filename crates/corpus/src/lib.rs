//! Documents in files, as the commands on files and the Python package read them.
//!
//! A text or HTML file is one document; JSON lines, WARC and WACZ files have many; directories have
//! files. [`Documents`] are read in a fixed order, and at most one batch is in memory. A [`Reader`]
//! extracts the text that a crawl would judge; [`Signatures`] are computed on all cores.
//!
//! Invariant: a document that cannot be read is [`Skipped`] with its name and the reason, and the
//! next one follows.

mod archive;
mod document;
mod error;
mod json_lines;
mod reader;
mod signatures;
mod sources;

pub use archive::{ArchiveDocuments, SeenDeviations, WaczStreams, exchange, is_visited};
pub use document::{Content, Document, MAX_DOCUMENT};
pub use error::CorpusError;
pub use json_lines::{BadLine, JsonDocument, JsonLines, MAX_LINE};
pub use reader::{Page, Reader};
pub use signatures::{NumberedDocument, Signatures, SignedDocument};
pub use sources::{
    Documents, Skipped, is_archive, is_standard_input, is_wacz, media_type, only_document,
};
