//! What earlier crawls archived of a page: by what to ask whether it has changed, and what it said
//! if it has not.
//!
//! A page that was archived whole is asked for with the validators that came with it (RFC 9110
//! section 13); nothing of them is in memory, nor in any journal: they are read from the record in
//! the archive when the page's turn has come. Where the answer is 304 Not Modified, the page is
//! what the archive has, and is read from there, because its links lead on.
//!
//! Invariant: what cannot be found or read here makes a request unconditional. It never costs a
//! page.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use sinks::warc::{self, Record, WarcReader};
use store::embedded::Earlier;
use store::{Page, VisitRecord};
use web::{CanonicalForm, Exchange, PageUrl, Timestamp, UrlKey, Validators};

/// The status of an answer that says that the page has not changed.
pub(crate) const NOT_MODIFIED: u16 = 304;

/// The archives of earlier crawls, in which pages are looked up that are to be fetched only if they
/// were modified.
#[derive(Debug)]
pub struct EarlierArchives {
    pages: Arc<Earlier>,
    /// Of each crawl in `pages`, in its order; none where its pages count as seen, and no more.
    directories: Vec<Option<PathBuf>>,
    warned: AtomicBool,
}

/// A page as an earlier crawl archived it.
#[derive(Clone, Debug)]
pub(crate) struct ArchivedPage {
    pub(crate) validators: Validators,
    pub(crate) page: Page,
    file: PathBuf,
    offset: u64,
}

/// A page that was not modified.
#[derive(Debug)]
pub(crate) struct UnmodifiedPage {
    /// As it was archived, its header fields brought up to date by the answer that said so.
    pub(crate) exchange: Exchange,
    /// Who it was then.
    pub(crate) original: Page,
}

/// The head of a record is read up to here: as much as a server may send us.
const MAX_HEAD: usize = 256 << 10;
/// A larger record is not read again: its page is fetched.
const MAX_RECORD: usize = 64 << 20;
/// A longer validator is not sent: servers refuse requests that are too large, and then the page
/// would be lost.
const MAX_VALIDATOR: usize = 1 << 10;

impl EarlierArchives {
    /// The crawls in `pages`, and of each the directory of its archive, if it is to be looked into.
    #[must_use]
    pub fn new(pages: Arc<Earlier>, directories: Vec<Option<PathBuf>>) -> Self {
        Self {
            pages,
            directories,
            warned: AtomicBool::new(false),
        }
    }

    /// Returns true if a crawl may have this page.
    pub(crate) fn knows(&self, url: UrlKey) -> bool {
        self.pages.knows(url)
    }

    /// A page that was found, at the time `at`, to be in an earlier crawl what it is in this, as
    /// that one archived it. `answer` is what its server said: that nothing has changed, or the
    /// same bytes again, which are not there any more. None where the crawls have no page of that
    /// time.
    ///
    /// # Errors
    /// Why what they have cannot be read.
    pub fn unchanged(
        &self,
        url: &PageUrl,
        at: Timestamp,
        answer: &Exchange,
        form: &CanonicalForm,
    ) -> Result<Option<Exchange>, String> {
        let Some(known) = self.find(url, form)?.filter(|known| known.page.at == at) else {
            return Ok(None);
        };
        let archived = known.read(form)?;
        Ok(Some(match answer.status {
            NOT_MODIFIED => freshened(archived, answer),
            _ => Exchange {
                body: archived.body,
                truncated: archived.truncated,
                ..answer.clone()
            },
        }))
    }

    /// What the newest of the archives that are looked into has of a page.
    pub(crate) fn find(
        &self,
        url: &PageUrl,
        form: &CanonicalForm,
    ) -> Result<Option<ArchivedPage>, String> {
        let is_asked = |crawl: usize| self.directories.get(crawl).is_some_and(Option::is_some);
        let newest = self.pages.newest(url.key(), is_asked);
        let Some((crawl, row)) = newest.map_err(|fault| fault.to_string())? else {
            return Ok(None);
        };
        let (Some(Some(directory)), Some(file), Some(offset)) =
            (self.directories.get(crawl), &row.warc_file, row.warc_offset)
        else {
            return Ok(None);
        };
        let file = warc::locate(directory, file);
        let record = warc::read_head(&file, offset, MAX_HEAD).map_err(|fault| fault.to_string())?;
        let Some(archived) = whole_page(&record, &row, form) else {
            return Ok(None);
        };
        Ok(Some(ArchivedPage {
            validators: usable(Validators::of(&archived)),
            page: row.page(),
            file,
            offset,
        }))
    }

    /// Says once that an archive cannot be read: there may be a complaint for each page.
    pub(crate) fn warn_once(&self, url: &PageUrl, error: &str) {
        if self.warned.swap(true, Ordering::Relaxed) {
            tracing::debug!(%url, error, "cannot be asked for conditionally");
        } else {
            tracing::warn!(%url, error, "an earlier archive cannot be read: pages are fetched whole; told only once");
        }
    }
}

impl ArchivedPage {
    /// Reads the page again from its archive.
    pub(crate) fn read(&self, form: &CanonicalForm) -> Result<Exchange, String> {
        let mut reader =
            WarcReader::open_at(&self.file, self.offset).map_err(|fault| fault.to_string())?;
        let record = reader
            .next_record(MAX_RECORD)
            .map_err(|fault| fault.to_string())?;
        let record =
            record.filter(|record| record.digests_hold() && record.head_and_payload().is_some());
        record
            .and_then(|record| record.answer(form))
            .ok_or_else(|| {
                format!(
                    "{} at {}: not what it was",
                    self.file.display(),
                    self.offset
                )
            })
    }
}

impl UnmodifiedPage {
    /// Returns the page as it was `archived`, brought up to date by the `answer` that said so.
    pub(crate) fn new(archived: Exchange, answer: &Exchange, original: Page) -> Self {
        Self {
            exchange: freshened(archived, answer),
            original,
        }
    }
}

/// The answer in a record, if it is the whole page that the row tells of, under the very URL that
/// is asked for: the validators of a page that a redirect led to say nothing of the redirect.
fn whole_page(record: &Record, row: &VisitRecord, form: &CanonicalForm) -> Option<Exchange> {
    let is_whole = record.kind() == "response"
        && record.truncated().is_none()
        && record.block_length <= MAX_RECORD as u64
        && record.date() == row.fetched_at.to_string();
    let archived = record.answer(form).filter(|_| is_whole)?;
    (archived.url == row.url && (200..300).contains(&archived.status)).then_some(archived)
}

fn usable(validators: Validators) -> Validators {
    let short = |value: &HeaderValue| !value.is_empty() && value.len() <= MAX_VALIDATOR;
    Validators {
        etag: validators.etag.filter(short),
        last_modified: validators.last_modified.filter(short),
    }
}

/// The fields of the newer answer replace those of the older (RFC 9111 section 3.2), but for what
/// is said of its own body.
fn freshened(archived: Exchange, answer: &Exchange) -> Exchange {
    let mut headers = archived.headers;
    let newer = |name: &HeaderName| {
        let of_body = *name == CONTENT_LENGTH || *name == TRANSFER_ENCODING;
        !of_body && !name.as_str().starts_with("content-")
    };
    for name in answer.headers.keys().filter(|name| newer(name)) {
        replace(&mut headers, name, &answer.headers);
    }
    Exchange {
        headers,
        started: answer.started,
        elapsed: answer.elapsed,
        address: answer.address,
        ..archived
    }
}

fn replace(headers: &mut HeaderMap, name: &HeaderName, by: &HeaderMap) {
    headers.remove(name);
    for value in by.get_all(name) {
        headers.append(name, value.clone());
    }
}
