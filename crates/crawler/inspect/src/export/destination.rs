//! The destination of records.

use std::io::Write;

use export::{ExportFault, ExtractedText, Parts, TableWriter, Value, Visit, VisitPosition};
use sinks::warc::{Conversion, ConversionWriter};

use super::markdown_files::MarkdownFiles;

/// The destination of records, which counts them.
pub struct Destination<W: Write + Send> {
    target: Target<W>,
    records: u64,
}

/// The files that receive records.
pub enum Target<W: Write + Send> {
    /// A table in one file.
    Table(TableWriter<W>),
    /// A table in several files.
    Parts(Box<Parts>),
    /// Texts as WARC records.
    Wet(Box<ConversionWriter<W>>),
    /// Texts as Markdown files.
    Files(Box<MarkdownFiles>),
}

impl<W: Write + Send> From<Target<W>> for Destination<W> {
    fn from(target: Target<W>) -> Self {
        Self { target, records: 0 }
    }
}

impl<W: Write + Send> Destination<W> {
    /// Moves to the next visit. Returns `None` if its records are already written.
    pub fn advance(&mut self, visit: &Visit) -> Result<Option<VisitPosition>, ExportFault> {
        match &mut self.target {
            Target::Table(_) | Target::Wet(_) | Target::Files(_) => {
                Ok(Some(VisitPosition::default()))
            }
            Target::Parts(parts) => parts.advance(visit),
        }
    }

    /// Writes a record of a table. Only `write_text` writes WARC records and files.
    pub fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        self.records += 1;
        match &mut self.target {
            Target::Table(writer) => writer.write(fields),
            Target::Parts(parts) => parts.write(fields),
            Target::Wet(_) | Target::Files(_) => Ok(()),
        }
    }

    /// Writes the text of a page whose record has the id `record`.
    pub(crate) fn write_text(
        &mut self,
        text: &ExtractedText<'_>,
        record: &str,
        content_type: &str,
    ) -> Result<(), ExportFault> {
        let writer = match &mut self.target {
            Target::Wet(writer) => writer,
            Target::Files(files) => {
                self.records += 1;
                return files.write(text);
            }
            Target::Table(_) | Target::Parts(_) => return self.write(&text.fields()),
        };
        self.records += 1;
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
        match &mut self.target {
            Target::Table(_) | Target::Wet(_) | Target::Files(_) => Ok(()),
            Target::Parts(parts) => parts.wrote(mark),
        }
    }

    /// Ends the last file. Returns the number of records.
    pub fn finish(self) -> Result<u64, ExportFault> {
        match self.target {
            Target::Table(writer) => drop(writer.finish()?),
            Target::Parts(parts) => parts.finish()?,
            Target::Wet(writer) => drop(writer.finish()?),
            Target::Files(files) => files.complete()?,
        }
        Ok(self.records)
    }
}
