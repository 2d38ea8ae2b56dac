//! The destination of records.

use std::io::Write;

use export::{ExportFault, ExtractedText, Parts, TableWriter, Value, Visit, VisitPosition};
use sinks::warc::{Conversion, ConversionWriter};

/// The destination of records.
pub enum Destination<W: Write + Send> {
    /// A table in one file.
    Table(TableWriter<W>),
    /// A table in several files.
    Parts(Box<Parts>),
    /// Texts as WARC records.
    Wet(Box<ConversionWriter<W>>),
}

impl<W: Write + Send> Destination<W> {
    /// Moves to the next visit. Returns `None` if its records are already written.
    pub fn advance(&mut self, visit: &Visit) -> Result<Option<VisitPosition>, ExportFault> {
        match self {
            Self::Table(_) | Self::Wet(_) => Ok(Some(VisitPosition::default())),
            Self::Parts(parts) => parts.advance(visit),
        }
    }

    /// Writes a record of a table. Only `write_text` writes WARC records.
    pub fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        match self {
            Self::Table(writer) => writer.write(fields),
            Self::Parts(parts) => parts.write(fields),
            Self::Wet(_) => Ok(()),
        }
    }

    /// Writes the text of a page whose record has the id `record`.
    pub(crate) fn write_text(
        &mut self,
        text: &ExtractedText<'_>,
        record: &str,
        content_type: &str,
    ) -> Result<(), ExportFault> {
        let Self::Wet(writer) = self else {
            return self.write(&text.fields());
        };
        let conversion = Conversion {
            target: text.final_url,
            date: text.fetched_at,
            refers_to: record,
            language: text.language,
            content_type,
            text: text.text,
        };
        writer.write(&conversion).map_err(ExportFault::from)
    }

    /// Marks all records up to a visit as written.
    pub fn wrote(&mut self, mark: VisitPosition) -> Result<(), ExportFault> {
        match self {
            Self::Table(_) | Self::Wet(_) => Ok(()),
            Self::Parts(parts) => parts.wrote(mark),
        }
    }

    /// Ends the last file.
    pub fn finish(self) -> Result<(), ExportFault> {
        match self {
            Self::Table(writer) => writer.finish().map(drop),
            Self::Parts(parts) => parts.finish(),
            Self::Wet(writer) => writer.finish().map(drop).map_err(ExportFault::from),
        }
    }
}
