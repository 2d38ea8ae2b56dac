//! Documents in files, as the commands on files and the Python package read them.
//!
//! A text or HTML file is one document; JSON lines, Parquet and Arrow files, WARC and WACZ files have
//! many; directories have files. [`Documents`] are read in a fixed order, and at most one batch is
//! in memory. A [`Reader`] extracts the text that a crawl would judge; [`Signatures`] are computed
//! on all cores.
//!
//! Invariant: a document that cannot be read is [`Skipped`] with its name and the reason, and the
//! next one follows.

mod archive;
mod compression;
mod document;
mod documents;
mod error;
mod fields;
mod input_options;
mod json_lines;
mod json_object;
mod media;
mod oddities;
mod open_file;
mod paths;
mod positioned_file;
mod reader;
mod signatures;
mod tables;

pub use archive::{exchange, is_visited};
pub use document::{Content, Document, MAX_DOCUMENT, Skipped};
pub use documents::{Documents, Tally, only_document};
pub use error::CorpusError;
pub use input_options::InputOptions;
pub use json_lines::{BadLine, JsonDocument, JsonLines, MAX_LINE};
pub use oddities::Oddities;
pub use paths::is_standard_input;
pub use reader::{Page, Reader};
pub use signatures::{NumberedDocument, Signatures, SignedDocument};
