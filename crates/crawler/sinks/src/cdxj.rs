//! CDXJ: the index that replay tools use to find records in an archive.
//!
//! - [`Indexed`] is a sink that wraps the archive: it builds the index during the crawl, in bounded
//!   memory, as sorted runs that are merged when it is closed. `capture` derives the line of a
//!   record, [`web::surt_key`] its sort key.
//! - `index` is the index on the disk, `manifest` its list of runs, `run` writes and merges runs.
//! - `scan` reads the parts of an archive that its index lacks; [`make_again`] rebuilds the index,
//!   [`index_files`] indexes WARC files of any crawler.
//! - `post` extends the key of a response to POST by the body of its request.
//! - `line_sorter` sorts lines of several indexes in bounded memory.
//! - [`captures_of`] finds the captures of one URL.
//! - [`CaptureReader`] reads the captures in CDXJ and CDX of any program.
//! - [`CdxjReader`] reads any index; [`Comparison`] compares an index with its archive.
//!
//! **The index is a function of the archive**: a lost index is rebuilt byte for byte.

mod any_index;
mod batch;
pub(crate) mod capture;
mod compare;
pub(crate) mod entry;
pub(crate) mod gather;
mod index;
mod indexed;
pub(crate) mod json;
pub(crate) mod line_sorter;
pub(crate) mod lines;
mod lookup;
mod manifest;
mod neighbours;
pub(crate) mod post;
mod run;
mod scan;
mod warcio_head;

pub use any_index::{CaptureReader, IndexedCapture};
pub use capture::{Capture, DUPLICATE};
pub use compare::{Comparison, Difference, compare};
pub use entry::{CdxjLine, LineError, MAX_LINE};
pub use gather::{IndexingReport, index_files};
pub use index::{INDEX, IndexCounts, MEMORY, is_manifest, make_again, remove, strays, whole};
pub use indexed::Indexed;
pub use line_sorter::SortedLines;
pub use lines::{CdxjReader, SkippedLines};
pub use lookup::captures_of;
