//! The visits in one of our archives, restored from its records.
//!
//! `sinks::warc` writes the records of a visit one after another: a `resource` for each robots.txt
//! that was read for it; a `response` and its `request` per redirect; the page (a `response` or
//! `revisit` with its `request`; for an unarchived page, nothing or a `conversion` with its text);
//! for a rendered page, a `response` and its `request` per sub-request of its scripts, and a
//! `conversion` with its DOM if the page is archived; and always a `metadata` record. So a visit
//! ends with its `metadata`. Records without a `metadata` record belong to a visit that was not
//! written completely: it was never settled, and is repeated.
//!
//! Only the `metadata` tells which exchange is the page: it names the page's record, or the number
//! of exchanges that are sub-requests of an unarchived page.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use corpus::MAX_DOCUMENT;
use http::HeaderMap;
use settings::crawl_directory;
use sinks::warc::{ReadFault, Record, WarcReader, is_foreign, name_of, next_record_behind};
use sinks::{QUEUED_URL, RENDER_REQUESTS};
use store::ArchivePlace;
use web::{Body, CanonicalForm, Exchange, PageUrl, Protocol, Timestamp};

/// Bytes of a record that are held in memory; the rest of a body is spooled.
const HELD: usize = 1 << 20;

/// Maximum length of notes, in bytes. Pages with very many links have the longest notes.
const MAX_NOTES: u64 = 64 << 20;

/// A visit with its place in the archive.
#[derive(Debug, Default)]
pub struct Visit {
    /// The page's URL as queued.
    pub url: Option<PageUrl>,
    /// The start of the visit.
    pub at: Timestamp,
    /// The requests of the visit with their responses, redirects first, without sub-requests.
    pub exchanges: Vec<Exchange>,
    /// The page with its DOM in place of its body, if its scripts were run and it is archived.
    pub dom: Option<Exchange>,
    /// True if the page is archived with its body.
    pub kept: bool,
    /// The fields of its `metadata` record.
    pub notes: Vec<(String, String)>,
    /// The robots.txt files that were read for the visit, with their URLs.
    pub robots: Vec<(PageUrl, Vec<u8>)>,
    /// Date of the archived page that it repeats, if any.
    pub original_at: Option<Timestamp>,
    /// The offset of the page's record.
    pub page_offset: u64,
    /// The offset of the record with its DOM.
    pub dom_offset: Option<u64>,
    /// The end of the visit in its file.
    pub end: u64,
}

/// The records of a visit whose `metadata` has not been read yet.
#[derive(Default)]
struct PendingVisit {
    captures: Vec<Capture>,
    robots: Vec<(PageUrl, Vec<u8>)>,
    /// The offset of the text of a page that was not archived.
    text_offset: Option<u64>,
    dom: Option<Dom>,
}

/// A `response` or `revisit` record.
struct Capture {
    exchange: Exchange,
    /// The id of the record.
    id: String,
    offset: u64,
    /// True if it has the body.
    is_whole: bool,
    /// The date of the record that a `revisit` refers to.
    original_at: Option<Timestamp>,
}

/// The record of a DOM.
struct Dom {
    /// The id of the page's record.
    of: String,
    offset: u64,
    html: Body,
}

/// An unreadable place that is skipped.
pub struct Damage(pub String);

/// The visits of an archive, from a given place.
pub struct Visits<'a> {
    form: &'a CanonicalForm,
    files: VecDeque<PathBuf>,
    open: Option<Open>,
    pending: PendingVisit,
}

struct Open {
    path: PathBuf,
    name: String,
    reader: WarcReader<BufReader<File>>,
}

impl<'a> Visits<'a> {
    /// Opens the archive in `directory` after the position `after`.
    pub fn open(
        directory: &Path,
        after: Option<&ArchivePlace>,
        form: &'a CanonicalForm,
    ) -> io::Result<Self> {
        let mut files: VecDeque<PathBuf> = crawl_directory::archive_files(directory)?.into();
        files.retain(|path| !is_foreign(path));
        let mut open = None;
        if let Some(after) = after.filter(|_| !files.is_empty()) {
            let place = files
                .iter()
                .position(|path| crawl_directory::is_named(path, &after.file));
            // If the file is gone, it is unknown which records follow its visits.
            let path = files
                .drain(..=place.unwrap_or(files.len().saturating_sub(1)))
                .next_back();
            open = match path.filter(|_| place.is_some()) {
                Some(path) => Some(Open::at(path, after.end).map_err(io::Error::other)?),
                None => None,
            };
        }
        Ok(Self {
            form,
            files,
            open,
            pending: PendingVisit::default(),
        })
    }

    /// Returns the next visit with the name of its file; `None` at the end.
    pub fn next_visit(&mut self) -> Option<Result<(String, Visit), Damage>> {
        loop {
            let Some(open) = &mut self.open else {
                let path = self.files.pop_front()?;
                match Open::at(path, 0) {
                    Ok(open) => self.open = Some(open),
                    Err(fault) => return Some(Err(Damage(fault.to_string()))),
                }
                continue;
            };
            match open.reader.next_record(HELD) {
                Ok(Some(record)) => {
                    if let Some(visit) = self.pending.take(&record, self.form) {
                        return Some(Ok((open.name.clone(), visit)));
                    }
                }
                Ok(None) => {
                    self.pending = PendingVisit::default();
                    self.open = None;
                }
                Err(fault) => {
                    // The incomplete visit before the damage is lost, too.
                    self.pending = PendingVisit::default();
                    if let Some(damage) = self.pass_over(&fault) {
                        return Some(Err(damage));
                    }
                }
            }
        }
    }

    /// Continues after a damaged place. An incomplete last record, as left by a kill, does not
    /// count as damage.
    fn pass_over(&mut self, fault: &ReadFault) -> Option<Damage> {
        let open = self.open.take()?;
        let at = fault.offset();
        let is_last = self.files.is_empty();
        match next_record_behind(&open.path, at) {
            Ok(Some(next)) => {
                self.open = Open::at(open.path, next).ok();
                Some(Damage(format!(
                    "{} is damaged from {at} to {next}: the records there are lost",
                    open.name
                )))
            }
            Ok(None) if is_last => None,
            Ok(None) => Some(Damage(format!(
                "{} is damaged from {at} onwards",
                open.name
            ))),
            Err(fault) => Some(Damage(fault.to_string())),
        }
    }
}

impl PendingVisit {
    /// Takes the next record. If it is the last record of the visit, returns the visit and starts
    /// an empty one.
    fn take(&mut self, record: &Record, form: &CanonicalForm) -> Option<Visit> {
        match record.kind() {
            "response" | "revisit" => {
                let Some(exchange) = record.response(form) else {
                    *self = Self::default();
                    return None;
                };
                let original_at = record.field("WARC-Refers-To-Date");
                self.captures.push(Capture {
                    exchange,
                    id: record.id().to_owned(),
                    offset: record.offset,
                    is_whole: record.kind() == "response",
                    original_at: original_at.and_then(|date| date.parse().ok()),
                });
            }
            "request" => {
                if let Some(capture) = self.captures.last_mut() {
                    capture.exchange.request_head = block(record).into_owned();
                }
            }
            "resource" => {
                if let Some(url) = record.page_url(form) {
                    self.robots.push((url, whole_lines(record)));
                }
            }
            "conversion" => match record.field("WARC-Refers-To") {
                Some(of) => self.dom = Dom::of(of, record, form),
                None => self.text_offset = Some(record.offset),
            },
            "metadata" => return std::mem::take(self).ended(record, form),
            _ => {}
        }
        None
    }

    /// Returns the visit, which ends with this `metadata` record; `None` if that belongs to another
    /// visit.
    fn ended(mut self, record: &Record, form: &CanonicalForm) -> Option<Visit> {
        let notes = notes(&block(record));
        let mut visit = Visit {
            robots: std::mem::take(&mut self.robots),
            notes,
            end: record.offset + record.length,
            ..Visit::default()
        };
        match record.field("WARC-Concurrent-To") {
            Some(page) => self.archived_page(page, &mut visit)?,
            None => self.unarchived_page(record, form, &mut visit)?,
        }
        let queued = visit.note(QUEUED_URL).map(|url| PageUrl::parse(url, form));
        if let Some(Ok(queued)) = queued {
            visit.url = Some(queued);
        }
        Some(visit)
    }

    /// Adds the exchanges of a visit whose page has the record `page`. Later exchanges are
    /// sub-requests.
    fn archived_page(self, page: &str, visit: &mut Visit) -> Option<()> {
        let place = self
            .captures
            .iter()
            .position(|capture| capture.id == page)?;
        let mut captures = self.captures;
        captures.truncate(place + 1);
        let page = captures.last()?;
        visit.page_offset = page.offset;
        visit.kept = page.is_whole;
        visit.original_at = page.original_at;
        if let Some(dom) = self.dom.filter(|dom| dom.of == page.id) {
            visit.dom = Some(page.exchange.with_dom(dom.html));
            visit.dom_offset = Some(dom.offset);
        }
        visit.set_exchanges(captures);
        Some(())
    }

    /// Adds the exchanges of a visit whose page was not archived or not received. The last ones are
    /// sub-requests, as many as the notes say.
    fn unarchived_page(
        self,
        record: &Record,
        form: &CanonicalForm,
        visit: &mut Visit,
    ) -> Option<()> {
        let (url, at) = record.page_url(form).zip(record.date().parse().ok())?;
        let subrequests: Option<usize> = visit.number(RENDER_REQUESTS);
        let status: Option<u16> = visit.number("http-status");
        let mut hops = self.captures;
        hops.truncate(hops.len().saturating_sub(subrequests.unwrap_or_default()));
        visit.original_at = hops.last().and_then(|last| last.original_at);
        visit.set_exchanges(hops);
        if visit.url.is_none() {
            (visit.url, visit.at) = (Some(url.clone()), at);
        }
        if let Some(status) = status {
            visit.exchanges.push(not_archived(url, at, status));
        }
        visit.page_offset = self.text_offset.unwrap_or(record.offset);
        Some(())
    }
}

impl Dom {
    /// Reads the DOM of the page with the record `of`; `None` for another conversion.
    fn of(of: &str, record: &Record, form: &CanonicalForm) -> Option<Self> {
        Some(Self {
            of: of.to_owned(),
            offset: record.offset,
            html: record.dom(form)?.body,
        })
    }
}

impl Visit {
    fn set_exchanges(&mut self, captures: Vec<Capture>) {
        self.exchanges = captures
            .into_iter()
            .map(|capture| capture.exchange)
            .collect();
        if let Some(first) = self.exchanges.first() {
            (self.url, self.at) = (Some(first.url.clone()), first.started);
        }
    }

    /// Returns the value of a note.
    pub fn note(&self, name: &str) -> Option<&str> {
        let found = self.notes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn number<N: FromStr>(&self, name: &str) -> Option<N> {
        self.note(name)?.parse().ok()
    }
}

impl Open {
    /// Opens a file. Large bodies are spooled to the archive's directory.
    fn at(path: PathBuf, offset: u64) -> Result<Self, ReadFault> {
        let spool = path.parent().unwrap_or(Path::new(".")).to_owned();
        let name = name_of(&path).unwrap_or_default().to_owned();
        Ok(Self {
            reader: WarcReader::open_at(&path, offset)?.spooling_in(&spool, MAX_DOCUMENT),
            path,
            name,
        })
    }
}

/// Returns the block of a record without a page, or its beginning.
fn block(record: &Record) -> Cow<'_, [u8]> {
    let whole = record.whole_block().filter(|_| record.block.len() == HELD);
    match whole.map(|block| block.beginning(MAX_NOTES)) {
        Some(Ok(block)) => Cow::Owned(block.into()),
        Some(Err(_)) | None => Cow::Borrowed(&record.block),
    }
}

/// Returns the complete lines of a robots.txt.
fn whole_lines(file: &Record) -> Vec<u8> {
    let lines = block(file);
    let end = match file.truncated() {
        Some(_) => lines
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(0),
        None => lines.len(),
    };
    lines[..end].to_vec()
}

/// Returns an exchange for a page if the archive only contains its notes.
fn not_archived(url: PageUrl, started: Timestamp, status: u16) -> Exchange {
    Exchange {
        url,
        request_head: Vec::new(),
        status,
        headers: HeaderMap::new(),
        body: Body::default(),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started,
        elapsed: std::time::Duration::ZERO,
    }
}

fn notes(block: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(block);
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests;
