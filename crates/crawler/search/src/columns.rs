//! The columns of a segment: date and location of each page.

use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, SegmentReader, TantivyError};
use web::Timestamp;

use crate::fields::{DATE, FILE, OFFSET};

/// The position of a page's record in the archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordLocation {
    /// The archive file, without its directory.
    pub file: String,
    /// The offset of the record in bytes.
    pub offset: u64,
}

/// The columns of a segment.
#[derive(Clone)]
pub(crate) struct Columns {
    files: StrColumn,
    offsets: Column<u64>,
    dates: Column<u64>,
}

impl Columns {
    pub(crate) fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        Ok(Self {
            files: columns.str(FILE)?.ok_or_else(|| missing(FILE))?,
            offsets: columns.u64(OFFSET)?,
            dates: columns.u64(DATE)?,
        })
    }

    pub(crate) fn location(&self, page: DocId) -> tantivy::Result<RecordLocation> {
        let (number, offset) = self.place(page);
        let mut file = String::new();
        self.files
            .ord_to_str(number.ok_or_else(|| missing(FILE))?, &mut file)?;
        let offset = offset.ok_or_else(|| missing(OFFSET))?;
        Ok(RecordLocation { file, offset })
    }

    pub(crate) fn date(&self, page: DocId) -> tantivy::Result<Timestamp> {
        let date = self.milliseconds(page);
        Ok(Timestamp::from_millis(date.ok_or_else(|| missing(DATE))?))
    }

    /// Returns the date of a page, for comparison.
    pub(crate) fn milliseconds(&self, page: DocId) -> Option<u64> {
        self.dates.first(page)
    }

    /// Returns the location of a page, for comparison within the segment: the number of its file
    /// among the sorted names, and the offset.
    pub(crate) fn place(&self, page: DocId) -> (Option<u64>, Option<u64>) {
        (self.files.ords().first(page), self.offsets.first(page))
    }
}

fn missing(column: &str) -> TantivyError {
    TantivyError::SchemaError(format!("a page has no {column}"))
}
