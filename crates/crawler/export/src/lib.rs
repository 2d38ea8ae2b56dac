//! Exports: the records of a crawl as tables for other programs.
//!
//! A [`Table`] is a list of columns: [`VISITS`] has a record for each visit, [`LINKS`] one for each
//! link, [`TEXTS`] one for the text of each page, with its [`QualitySignals`], [`SIGNATURES`] one
//! for the signature of each page that can be compared. A [`TableWriter`] writes the records of a
//! table in a [`Form`]: JSON lines, CSV, Parquet or Excel; an [`AuditWriter`] writes the tables of
//! an audit at the same time. A [`List`] has the items of other commands. An output file is a
//! [`WholeFile`], which gets its name once it is complete, or one of the [`Parts`] of a directory;
//! text may be [`Packed`].
//! `docs/formats/export.md` documents the columns; their names and order are a contract.
//!
//! Only this crate uses the crates `parquet` and `rust_xlsxwriter`.
//!
//! Invariant: memory does not grow with the number of records: text takes one record at a time,
//! Parquet one row group.

mod audit;
mod columnar;
mod export_info;
mod extracted_text;
mod fault;
mod link;
mod linked;
mod list;
mod markdown_file;
mod output;
mod packed;
mod page_text;
mod parts;
mod quality;
mod signature;
mod table;
mod text;
mod text_chunk;
mod visit;
mod whole_file;
mod workbook;
mod writer;

pub use audit::{
    AUDIT_CANONICALS, AUDIT_ORPHANS, AUDIT_PAGES, AUDIT_REDIRECTS, AUDIT_SITEMAP, AUDIT_TITLES,
    AUDIT_TRANSLATIONS, AuditTable, AuditWriter,
};
pub use columnar::{ROW_GROUP_BYTES, ROW_GROUP_ROWS};
pub use export_info::ExportInfo;
pub use extracted_text::{ExtractedText, TEXTS};
pub use fault::ExportFault;
pub use link::{BROKEN_LINKS, BrokenLink, LINKS, Link, widen};
pub use linked::{Linked, linked_so_far};
pub use list::{List, ListForm};
pub use markdown_file::markdown_file;
pub use output::{begin_output, output};
pub use packed::{Compression, Packed};
pub use page_text::{PageText, TextOptions, TextRules};
pub use parts::{DEFAULT_ROWS_PER_FILE, Parts, VisitPosition};
pub use quality::QualitySignals;
pub use signature::{PageSignatureRecord, SIGNATURES};
pub use table::{Column, Kind, Table, Value};
pub use text::csv_text;
pub use text_chunk::{CHUNKS, TextChunk};
pub use visit::{SKETCHES, VISITS, Visit, VisitRow, Visits};
pub use whole_file::{Beginning, Differs, WholeFile};
pub use writer::{Form, TableWriter};
