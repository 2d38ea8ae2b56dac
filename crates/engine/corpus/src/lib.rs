//! Documents in files, as the commands on files and the Python package read them.
//!
//! A text or HTML file is one document; JSON lines, Parquet and Arrow files, WARC and WACZ files
//! have many; directories have files. [`Documents`] are read in a fixed order, and at most one
//! batch is in memory. A [`Reader`] extracts the text that a crawl would judge; [`signatures()`]
//! are computed on all cores. [`KeptDocuments`] writes chosen documents in the format of their
//! files. A [`PageArchive`] reads single pages of a crawl's archive again.
//!
//! Invariant: a document that cannot be read is [`Skipped`] with its name and the reason, and the
//! next one follows.

mod archive;
mod arrow_messages;
pub mod compared_pair;
mod compression;
mod document;
mod documents;
mod draft;
mod error;
mod fields;
mod file_texts;
mod fingerprint_distribution;
mod id_columns;
mod in_batches;
mod input_options;
pub mod json_id;
mod json_lines;
mod json_object;
mod keep;
pub mod labels;
mod lenient_json;
pub mod measures;
mod media;
pub mod named_fingerprints;
mod names;
mod nearest;
mod open_file;
mod packed_draft;
mod page_archive;
mod part_unit;
mod paths;
mod physical;
mod positioned_file;
mod projection;
mod reader;
mod result_table;
mod signatures;
pub mod similar;
mod table_column;
mod table_rows;
mod tables;
mod warnings;

pub use archive::{exchange, is_visited};
pub use document::{Content, Document, MAX_DOCUMENT, Skipped};
pub use documents::{Documents, InputDigest, only_document};
pub use error::CorpusError;
pub use file_texts::FileTexts;
pub use fingerprint_distribution::FingerprintDistribution;
pub use id_columns::{IdRanges, IdTypes, id_column};
pub use in_batches::computed;
pub use input_options::InputOptions;
pub use json_lines::{BadLine, JsonDocument, JsonLines, MAX_LINE};
pub use keep::{KeepError, Kept, KeptDocuments, KeptSummary, RepeatedPartReader, RepeatedParts};
pub use names::is_standard_input;
pub use page_archive::{ArchivedPage, PageArchive, PagePlace, next_record};
pub use part_unit::PartUnit;
pub use reader::{Page, Reader};
pub use result_table::{ResultTable, TableFormat};
pub use signatures::{SignedDocument, signatures};
pub use table_column::{BadCell, Column, Values};
pub use warnings::Warnings;
