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

/// The place of a page in an archive.
#[derive(Clone, Copy, Debug)]
pub struct PagePlace<'a> {
    /// The file.
    pub file: &'a str,
    /// The offset of the page's record.
    pub page: u64,
    /// The offset of the record with its DOM, if it was rendered.
    pub dom: Option<u64>,
}

/// A page of the archive.
#[derive(Debug)]
pub struct ArchivedPage {
    /// The page as it was read.
    pub document: Document,
    /// The id of its record, with angle brackets.
    pub record: String,
    /// The digest of its payload as received, if a record that was read has it.
    pub digest: Option<String>,
}

impl PageArchive {
    /// Reads a page as it was judged: its DOM with the header fields of the page, if it was
    /// rendered.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn page(&self, place: PagePlace<'_>) -> Result<ArchivedPage, String> {
        let Some(dom) = place.dom else {
            return self.page_at(place.file, place.page);
        };
        let (content, record) = self.response_and_record(place.file, dom)?;
        let (page, digest) = self.head_at(place.file, place.page)?;
        self.read(&page.with_dom(content.body), &record, digest)
    }

    /// Reads a response as it was judged, like [`PageArchive::page`].
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn response(&self, place: PagePlace<'_>) -> Result<Exchange, String> {
        let content = self.response_at(place.file, place.dom.unwrap_or(place.page))?;
        match place.dom {
            Some(_) => {
                let (page, _) = self.head_at(place.file, place.page)?;
                Ok(page.with_dom(content.body))
            }
            None => Ok(content),
        }
    }

    /// Reads the page, or its DOM, in the record at `offset` of an archive file.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn page_at(&self, file: &str, offset: u64) -> Result<ArchivedPage, String> {
        let (response, record) = self.response_and_record(file, offset)?;
        self.read(&response, &record, digest_of(&record))
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

    /// Reads the redirects of a visit whose records begin at `from`, up to its page at `page`,
    /// which may be a redirect, too.
    ///
    /// # Errors
    /// The reason why they cannot be read.
    pub fn redirects(&self, file: &str, from: u64, page: u64) -> Result<Vec<Exchange>, String> {
        let mut reader = self.open_at(file, from)?;
        let mut redirects = Vec::new();
        loop {
            let record = reader.next_record(HELD);
            let record = record.map_err(|fault| fault.to_string())?;
            let Some(record) = record.filter(|record| record.offset <= page) else {
                return Ok(redirects);
            };
            if record.kind() == "response" {
                let exchange = record.response(&self.rules.canonical);
                redirects.extend(exchange.filter(|exchange| exchange.location().is_some()));
            }
        }
    }

    /// Returns the text of this record's page for the search index; `None` if it cannot be read.
    #[must_use]
    pub fn indexed_text_at(&self, file: &str, offset: u64) -> Option<String> {
        let stream = WarcStream::open_at(&warc::locate(&self.directory, file), offset).ok()?;
        let mut stream = stream.spooling_in(&self.directory, MAX_DOCUMENT);
        let record = stream.next_record(HELD).ok().flatten()?;
        let response = self.response_in(&record)?;
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
        let response = self.response_in(&record).ok_or_else(no_answer)?;
        Ok((response, record))
    }

    /// Reads the head of a rendered page, whose record may be a `revisit`, and its digest.
    fn head_at(&self, file: &str, offset: u64) -> Result<(Exchange, Option<String>), String> {
        let record = self.open_at(file, offset)?.next_record(HELD);
        let record = record.map_err(|fault| fault.to_string())?;
        let page = record
            .as_ref()
            .and_then(|record| record.response(&self.rules.canonical));
        let page = page.ok_or_else(|| format!("{file} at {offset} is not its response"))?;
        Ok((page, record.as_ref().and_then(digest_of)))
    }

    fn read(
        &self,
        response: &Exchange,
        record: &Record,
        digest: Option<String>,
    ) -> Result<ArchivedPage, String> {
        let document = reading::document_here(&self.rules, response)
            .ok_or_else(|| "reading it panicked".to_owned())?;
        Ok(ArchivedPage {
            document,
            record: record.id().to_owned(),
            digest,
        })
    }

    fn response_in(&self, record: &Record) -> Option<Exchange> {
        let form = &self.rules.canonical;
        // A DOM may begin like the head of a response.
        if record.is_dom() {
            return record.dom(form);
        }
        // Other crawlers archive resources, too.
        record.response(form).or_else(|| exchange(record, form))
    }
}

fn digest_of(record: &Record) -> Option<String> {
    record.field("WARC-Payload-Digest").map(str::to_owned)
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
