//! The visits in archive files that other crawlers wrote.
//!
//! Other crawlers record less of a visit than we do, and in another order: wget writes the request
//! before the response, and browsers fetch many URLs at once. So a visit here is a response with
//! the redirects directly before it that end at it, or a `resource` with a URL that a crawl can
//! visit, or a `revisit` of either. Responses that do not represent a page (`sinks::captures`) are
//! counted. Requests, notes, texts extracted from pages, and robots.txt do not count as visits.
//! Damaged places are skipped with a warning.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use corpus::{MAX_DOCUMENT, exchange, is_visited};
use crawl::retry::VisitFailure;
use messages::{CommandError, SlowProgress, fault};
use settings::crawl_directory;
use sinks::captures::{CaptureKind, Requests};
use sinks::originals::DigestText;
use sinks::warc::{ReadFault, Record, WarcStream, is_foreign, name_of};
use web::{CanonicalForm, Exchange, PageUrl};

use super::revisits::{Names, Revisit};

/// Maximum number of seeds from an archive.
const MAX_SEEDS: usize = 100_000;

/// Bytes of a record that are read to find its status.
const GLANCE: usize = 64 << 10;

/// Bytes of a record that are held in memory; the rest of a body is spooled.
const HELD: usize = 256 << 10;

/// A visit that another crawler made.
pub(super) struct Visit {
    pub(super) exchanges: Vec<Exchange>,
    /// Offset of the page's record; `None` if the record cannot be read by its offset.
    pub(super) offset: Option<u64>,
    /// Digest and record id that revisits use to refer to the page.
    pub(super) names: Names,
}

/// The next item of a file.
pub(super) enum Next {
    Visit(Visit),
    /// A visit whose page is archived already.
    Revisit(Box<Revisit>),
    /// The text of a page, extracted by its archiver. Not a visit.
    Conversion,
    /// A response that does not represent a page: to a method other than GET, or with a part of a
    /// file.
    NoPage,
    /// A response whose head, URL or date cannot be read.
    Unusable(String),
    /// Number of records whose URLs will be requested again.
    Left(u64),
    /// An unreadable place that is skipped.
    Damage(String),
}

/// The visits in a file.
pub(super) struct Visits<'a> {
    form: &'a CanonicalForm,
    stream: WarcStream,
    /// Records that wait until the method of their request is known.
    requests: Requests<Record>,
    is_read: bool,
    /// The latest redirects, whose target may be the next record.
    hops: Vec<Exchange>,
    leads_to: Option<PageUrl>,
    /// The next item to return, if it is already known.
    ready: Option<Next>,
}

/// Returns other crawlers' files in the directory of an archive, in archive order.
pub(super) fn files(archive: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = crawl_directory::archive_files(archive).map_err(|error| fault(&error))?;
    files.retain(|path| is_foreign(path));
    Ok(files)
}

/// Returns the first page of each host.
pub(super) fn first_pages(
    archive: &Path,
    form: &CanonicalForm,
) -> Result<Vec<PageUrl>, CommandError> {
    let mut hosts = HashSet::new();
    let mut seeds = Vec::new();
    let mut progress = SlowProgress::new("records searched for seeds");
    for path in crawl_directory::archive_files(archive).map_err(|error| fault(&error))? {
        let mut stream = WarcStream::open(&path).map_err(|error| fault(&error))?;
        while seeds.len() < MAX_SEEDS {
            let record = match stream.next_record(GLANCE) {
                Ok(Some(record)) => record,
                Ok(None) => break,
                // The main reading of the file warns about it.
                Err(_broken) => continue,
            };
            progress.step();
            if let Some(exchange) = exchange(&record, form)
                && (200..400).contains(&exchange.status)
                && hosts.insert(exchange.url.host())
            {
                seeds.push(exchange.url);
            }
        }
    }
    Ok(seeds)
}

impl<'a> Visits<'a> {
    pub(super) fn open(path: &Path, form: &'a CanonicalForm) -> Result<Self, CommandError> {
        let stream = WarcStream::open(path).map_err(|error| fault(&error))?;
        let spool = path.parent().unwrap_or(Path::new("."));
        Ok(Self {
            form,
            stream: stream.spooling_in(spool, MAX_DOCUMENT),
            requests: Requests::default(),
            is_read: false,
            hops: Vec::new(),
            leads_to: None,
            ready: None,
        })
    }

    /// Returns the next record and its kind; `None` at the end.
    fn next_record(&mut self) -> Result<Option<(Record, CaptureKind)>, ReadFault> {
        loop {
            if let Some(next) = self.requests.pop() {
                return Ok(Some(next));
            }
            if self.is_read {
                return Ok(self.requests.pop_last());
            }
            match self.stream.next_record(HELD)? {
                None => self.is_read = true,
                Some(record) => {
                    let is_page = matches!(
                        record.kind(),
                        "response" | "revisit" | "resource" | "conversion"
                    );
                    let item = is_page.then(|| record.clone());
                    self.requests.push(&record, item);
                }
            }
        }
    }

    /// Returns the next item; `None` at the end.
    pub(super) fn next_visit(&mut self) -> Option<Next> {
        loop {
            if let Some(ready) = self.ready.take() {
                return Some(ready);
            }
            let (record, kind) = match self.next_record() {
                Ok(Some(next)) => next,
                Ok(None) => return self.leave_hops(),
                Err(damage) => return Some(Next::Damage(damage.to_string())),
            };
            if kind != CaptureKind::ByStatus {
                return Some(Next::NoPage);
            }
            if record.kind() == "conversion" {
                return Some(Next::Conversion);
            }
            if let Some(mut revisit) = Revisit::of(&record, self.form) {
                let before = self.hops_before(&revisit.url);
                revisit
                    .exchanges
                    .splice(..0, std::mem::take(&mut self.hops));
                self.ready = Some(Next::Revisit(Box::new(revisit)));
                if before.is_some() {
                    return before;
                }
                continue;
            }
            // Some crawlers also write revisits of redirects and failures.
            let Some(exchange) = exchange(&record, self.form) else {
                let target = record.target().unwrap_or_default();
                match record.kind() == "response" && is_visited(target) {
                    true => return Some(Next::Unusable(target.to_owned())),
                    false => continue,
                }
            };
            let before = self.hops_before(&exchange.url);
            let target = exchange
                .location()
                .map(|to| exchange.url.join(&to, self.form));
            let is_redirect = matches!(exchange.status, 301 | 302 | 303 | 307 | 308);
            let next = if let (true, Some(Ok(url))) = (is_redirect, target) {
                self.leads_to = Some(url);
                self.hops.push(exchange);
                None
            } else {
                let mut exchanges = std::mem::take(&mut self.hops);
                let is_over = is_over(exchange.status);
                exchanges.push(exchange);
                let offset = record.addressable.then_some(record.offset);
                let names = Names {
                    digest: record
                        .whole_payload()
                        .and_then(|digest| DigestText::of(&digest.to_string())),
                    id: Some(record.id().to_owned()),
                };
                Some(match is_over {
                    true => Next::Visit(Visit {
                        exchanges,
                        offset,
                        names,
                    }),
                    false => Next::Left(exchanges.len() as u64),
                })
            };
            self.ready = next;
            if before.is_some() {
                return before;
            }
        }
    }

    /// Gives up pending redirects unless their target is `url`.
    fn hops_before(&mut self, url: &PageUrl) -> Option<Next> {
        match self.leads_to.take() {
            Some(to) if to == *url => None,
            _ => self.leave_hops(),
        }
    }

    /// Gives up pending redirects.
    fn leave_hops(&mut self) -> Option<Next> {
        let hops = std::mem::take(&mut self.hops);
        (!hops.is_empty()).then_some(Next::Left(hops.len() as u64))
    }
}

/// Returns true if our own crawl would not repeat a visit with this status.
fn is_over(status: u16) -> bool {
    let may_pass = VisitFailure::Status(status).consequence().may_pass();
    (200..300).contains(&status) || (status >= 400 && !may_pass)
}

/// Returns the name of a file as it appears in visit records.
pub(super) fn name(path: &Path) -> String {
    name_of(path).unwrap_or_default().to_owned()
}
