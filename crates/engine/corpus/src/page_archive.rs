//! The archive of a crawl, whose pages are read again one by one.
//!
//! Each page is read from its own record, by the same code and with the same settings as when it
//! was visited. A rendered page is read from the record of its DOM.

use std::path::PathBuf;

use reading::ReadingRules;
use sinks::IndexText;
use sinks::warc::{self, Record, WarcStream};
use web::{Document, Exchange};

use crate::archive::exchange;
use crate::document::MAX_DOCUMENT;

/// A larger record is not read again.
const MAX_RECORD: usize = 64 << 20;

/// Bytes of a record that are held in memory; the rest of a body is spooled.
const HELD: usize = 256 << 10;

/// The archive of a crawl, and the rules for reading its pages.
#[derive(Clone, Debug)]
pub struct PageArchive {
    /// The directory of its files.
    pub directory: PathBuf,
    /// The rules for reading its pages.
    pub rules: ReadingRules,
}

/// A page of the archive.
#[derive(Debug)]
pub struct ArchivedPage {
    /// The page as it was read.
    pub document: Document,
    /// The id of its record, with angle brackets.
    pub record: String,
    /// The digest of its payload as its record has it; `None` for a DOM, which is no payload.
    pub digest: Option<String>,
}

impl PageArchive {
    /// Reads the page, or its DOM, in the record at `offset` of an archive file.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn page_at(&self, file: &str, offset: u64) -> Result<ArchivedPage, String> {
        let (response, record) = self.response_and_record(file, offset)?;
        let document = reading::document_here(&self.rules, &response)
            .ok_or_else(|| "reading it panicked".to_owned())?;
        let digest = record.field("WARC-Payload-Digest");
        Ok(ArchivedPage {
            document,
            record: record.id().to_owned(),
            digest: digest.map(str::to_owned),
        })
    }

    /// Reads the response in the record at `offset` of an archive file. A DOM is a response with
    /// its media type as the only header field.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn response_at(&self, file: &str, offset: u64) -> Result<Exchange, String> {
        let (response, _) = self.response_and_record(file, offset)?;
        Ok(response)
    }

    /// Returns the text of this record's page for the search index; `None` if it cannot be read.
    #[must_use]
    pub fn indexed_text_at(&self, file: &str, offset: u64) -> Option<String> {
        let stream = WarcStream::open_at(&warc::locate(&self.directory, file), offset).ok()?;
        let mut stream = stream.spooling_in(&self.directory, MAX_DOCUMENT);
        let record = stream.next_record(HELD).ok().flatten()?;
        let response = self.response(&record)?;
        let document = reading::document_here(&self.rules, &response)?;
        IndexText::of(document, self.rules.main_content).map(|text| text.text)
    }

    /// Opens an archive file at `offset`.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn open_at(&self, file: &str, offset: u64) -> Result<WarcStream, String> {
        let open = || WarcStream::open_at(&warc::locate(&self.directory, file), offset);
        // The crawl may be about to close the file, which changes its name.
        let reader = open().or_else(|_renamed| open());
        reader.map_err(|fault| fault.to_string())
    }

    fn response_and_record(&self, file: &str, offset: u64) -> Result<(Exchange, Record), String> {
        let record = next_record(&mut self.open_at(file, offset)?)?;
        let no_answer = || format!("{file} at {offset} is not its response");
        let has_content =
            |record: &Record| ["response", "resource"].contains(&record.kind()) || record.is_dom();
        let record = record.filter(has_content).ok_or_else(no_answer)?;
        let response = self.response(&record).ok_or_else(no_answer)?;
        Ok((response, record))
    }

    fn response(&self, record: &Record) -> Option<Exchange> {
        let form = &self.rules.canonical;
        // A DOM may begin like the head of a response.
        if record.is_dom() {
            return record.dom(form);
        }
        // Other crawlers archive resources, too.
        record.response(form).or_else(|| exchange(record, form))
    }
}

/// Reads the next record of an archive file, unless it is larger than a page can be.
///
/// # Errors
/// The reason why it cannot be read.
pub fn next_record(reader: &mut WarcStream) -> Result<Option<Record>, String> {
    reader
        .next_record(MAX_RECORD)
        .map_err(|fault| fault.to_string())
}
