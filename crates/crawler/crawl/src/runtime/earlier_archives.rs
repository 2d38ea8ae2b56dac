//! The archives of earlier crawls, for conditional requests.
//!
//! A page that was archived whole is requested with the validators that came with it (RFC 9110
//! section 13). They are neither in memory nor in a journal: they are read from the archive's
//! record when the page is visited. If the response is 304 Not Modified, the page is read from the
//! archive, because its links are followed.
//!
//! Invariant: a capture that cannot be found or read makes the request unconditional. It never
//! costs a page.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use journal::{Page, VisitRecord};
use sinks::warc::{self, Record, WarcReader};
use store::EarlierCrawls;
use web::{CanonicalForm, Exchange, PageUrl, Timestamp, UrlKey, Validators};

/// Status 304: the page has not changed.
pub(crate) const NOT_MODIFIED: u16 = 304;

/// The archives of earlier crawls.
#[derive(Debug)]
pub struct EarlierArchives {
    pages: Arc<EarlierCrawls>,
    /// The archive directory of each crawl in `pages`, in the same order; `None` if its pages
    /// only count as seen.
    directories: Vec<Option<PathBuf>>,
    warned: AtomicBool,
}

/// A capture of an earlier crawl.
#[derive(Clone, Debug)]
pub(crate) struct ArchivedPage {
    pub(crate) validators: Validators,
    pub(crate) page: Page,
    /// True if its scripts show more than the page as received.
    pub(crate) shows_more_by_scripts: bool,
    file: PathBuf,
    offset: u64,
}

/// A page that was not modified since an earlier crawl.
#[derive(Debug)]
pub(crate) struct UnmodifiedPage {
    /// The archived exchange, its header fields brought up to date by the 304 response.
    pub(crate) exchange: Exchange,
    /// The page in the earlier crawl.
    pub(crate) original: Page,
}

/// Maximum size of a record's head in bytes: as much as a server may send.
const MAX_HEAD: usize = 256 << 10;
/// The largest record that is read. The page of a larger one is fetched.
const MAX_RECORD: usize = 64 << 20;
/// The longest validator that is sent. Servers refuse requests that are too large, and the page
/// would be lost.
const MAX_VALIDATOR: usize = 1 << 10;

impl EarlierArchives {
    /// Returns the archives of the crawls in `pages`, with the archive directory of each that may
    /// be read.
    #[must_use]
    pub fn new(pages: Arc<EarlierCrawls>, directories: Vec<Option<PathBuf>>) -> Self {
        Self {
            pages,
            directories,
            warned: AtomicBool::new(false),
        }
    }

    /// Returns true if an archive that may be read may have this page.
    pub(crate) fn knows(&self, url: UrlKey) -> bool {
        self.directories.iter().any(Option::is_some) && self.pages.knows(url)
    }

    /// Returns the earlier crawls.
    pub(crate) fn pages(&self) -> &Arc<EarlierCrawls> {
        &self.pages
    }

    /// Returns the unchanged page of an earlier crawl, visited at the time `at`. `response` is the
    /// server's: 304 Not Modified, or the same bytes again, without a body. Returns `None` if no
    /// earlier crawl has a page of that time.
    ///
    /// # Errors
    /// The reason why the capture cannot be read.
    pub fn unchanged(
        &self,
        url: &PageUrl,
        at: Timestamp,
        response: &Exchange,
        form: &CanonicalForm,
    ) -> Result<Option<Exchange>, String> {
        let Some(known) = self.find(url, form)?.filter(|known| known.page.at == at) else {
            return Ok(None);
        };
        let archived = known.read(form)?;
        Ok(Some(match response.status {
            NOT_MODIFIED => freshened(archived, response),
            _ => Exchange {
                body: archived.body,
                truncated: archived.truncated,
                ..response.clone()
            },
        }))
    }

    /// Returns the capture in the newest of the archives that may be read.
    pub(crate) fn find(
        &self,
        url: &PageUrl,
        form: &CanonicalForm,
    ) -> Result<Option<ArchivedPage>, String> {
        let is_asked = |crawl: usize| self.directories.get(crawl).is_some_and(Option::is_some);
        let newest = self.pages.newest(url.key(), is_asked);
        let Some((crawl, visit)) = newest.map_err(|fault| fault.to_string())? else {
            return Ok(None);
        };
        // An unmodified page says nothing about the data that its scripts request.
        if visit.details.rendered.is_some() {
            return Ok(None);
        }
        let (Some(Some(directory)), Some(file), Some(offset)) = (
            self.directories.get(crawl),
            &visit.warc_file,
            visit.warc_offset,
        ) else {
            return Ok(None);
        };
        let file = warc::locate(directory, file);
        let record = warc::read_head(&file, offset, MAX_HEAD).map_err(|fault| fault.to_string())?;
        let Some(archived) = whole_page(&record, &visit, form) else {
            return Ok(None);
        };
        Ok(Some(ArchivedPage {
            validators: usable(Validators::of(&archived)),
            page: visit.page(),
            shows_more_by_scripts: visit.shows_more_by_scripts(),
            file,
            offset,
        }))
    }

    /// Warns once that an archive cannot be read: the same may hold for each page.
    pub(crate) fn warn_once(&self, url: &PageUrl, error: &str) {
        if self.warned.swap(true, Ordering::Relaxed) {
            tracing::debug!(%url, error, "cannot be requested conditionally");
        } else {
            tracing::warn!(
                %url,
                error,
                "an earlier archive cannot be read: pages are fetched in full; reported only once"
            );
        }
    }
}

impl ArchivedPage {
    /// Reads the page again from its archive.
    pub(crate) fn read(&self, form: &CanonicalForm) -> Result<Exchange, String> {
        let record = WarcReader::open_at(&self.file, self.offset)
            .and_then(|mut reader| reader.next_record(MAX_RECORD))
            .map_err(|fault| fault.to_string())?;
        let is_intact =
            |record: &Record| record.digests_hold() && record.head_and_payload().is_some();
        let response = record
            .filter(is_intact)
            .and_then(|record| record.response(form));
        let (file, offset) = (self.file.display(), self.offset);
        response.ok_or_else(|| format!("{file} at {offset}: not what it was"))
    }
}

impl UnmodifiedPage {
    /// Returns the page as it was `archived`, with the fields of the 304 `response`.
    pub(crate) fn new(archived: Exchange, response: &Exchange, original: Page) -> Self {
        Self {
            exchange: freshened(archived, response),
            original,
        }
    }
}

/// Returns the response in a record, if it is the whole page of `visit` under the requested URL
/// itself: the validators of a redirect's target say nothing about the redirect.
fn whole_page(record: &Record, visit: &VisitRecord, form: &CanonicalForm) -> Option<Exchange> {
    let is_whole = record.kind() == "response"
        && record.truncated().is_none()
        && record.block_length <= MAX_RECORD as u64
        && record.date().parse() == Ok(visit.fetched_at);
    let archived = record.response(form).filter(|_| is_whole)?;
    (archived.url == visit.url && (200..300).contains(&archived.status)).then_some(archived)
}

fn usable(validators: Validators) -> Validators {
    let short = |value: &HeaderValue| !value.is_empty() && value.len() <= MAX_VALIDATOR;
    Validators {
        etag: validators.etag.filter(short),
        last_modified: validators.last_modified.filter(short),
    }
}

/// Returns the archived page with the header fields of the newer answer (RFC 9111 section 3.2),
/// except those about that answer's own body.
fn freshened(archived: Exchange, response: &Exchange) -> Exchange {
    let mut headers = archived.headers;
    let newer = |name: &HeaderName| {
        let of_body = *name == CONTENT_LENGTH || *name == TRANSFER_ENCODING;
        !of_body && !name.as_str().starts_with("content-")
    };
    for name in response.headers.keys().filter(|name| newer(name)) {
        replace(&mut headers, name, &response.headers);
    }
    Exchange {
        headers,
        started: response.started,
        elapsed: response.elapsed,
        address: response.address,
        ..archived
    }
}

fn replace(headers: &mut HeaderMap, name: &HeaderName, by: &HeaderMap) {
    headers.remove(name);
    for value in by.get_all(name) {
        headers.append(name, value.clone());
    }
}
