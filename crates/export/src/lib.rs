//! The way out: what a crawl knows, as tables for other programs.
//!
//! A [`Table`] is a list of columns: [`VISITS`] has a record for each visit, [`LINKS`] one for each
//! link. A [`TableWriter`] writes the records of a table in a [`Form`]: JSON lines, CSV or Parquet.
//! Where a file is written, it is a [`WholeFile`], which has its name only once it is complete, or
//! [`Parts`], a directory of them. `docs/export.md` documents the columns; their names and order
//! are a contract.
//!
//! The writer of Parquet is the `parquet` crate, and only this crate knows it.
//!
//! Invariant: memory is bounded, whatever the number of records: a record at a time for text, a row
//! group for Parquet.

mod columnar;
mod export_info;
mod fault;
mod link;
mod linked;
mod parts;
mod table;
mod text;
mod visit;
mod whole_file;
mod writer;

pub use columnar::{ROW_GROUP_BYTES, ROW_GROUP_ROWS};
pub use export_info::ExportInfo;
pub use fault::ExportFault;
pub use link::{LINKS, Link};
pub use linked::{Linked, linked_so_far};
pub use parts::{DEFAULT_ROWS_PER_FILE, Parts, VisitPosition};
pub use table::{Column, Kind, Table, Value};
pub use visit::{SKETCHES, VISITS, Visit, VisitRow, Visits};
pub use whole_file::{Beginning, Differs, WholeFile, draft_of};
pub use writer::{Form, TableWriter};
