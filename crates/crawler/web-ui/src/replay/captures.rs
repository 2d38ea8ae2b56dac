//! Finds the capture of a URL, and the record with its content.
//!
//! The journal knows the last visit of each URL, also while the crawl runs, and the DOM of a
//! rendered page. The CDXJ index knows all other captures: redirects, requests of scripts, earlier
//! visits. It is complete once the crawl has ended.
//!
//! The capture nearest to a time is found; failures only if nothing else is archived under the URL,
//! as they do not hide a page. A revisit has the content of the record that it refers to.

use sinks::cdxj;
use sinks::originals::Reference;
use sinks::warc::{Record, WarcStream, date, locate};
use unpack::absolute;
use web::Timestamp;

use crate::dashboard::Dashboard;
use crate::dashboard::frame::Refusal;
use crate::dashboard::page::{archived_name, visit_of};

/// Captures of one key in one run of the index that are considered.
const MAX_CAPTURES: usize = 1_000;
/// Captures of a URL that are opened until one has content.
const MAX_TRIES: usize = 20;
/// Revisits that are followed.
const MAX_REVISITS: usize = 5;

/// The place of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    pub(crate) at: Timestamp,
    pub(crate) is_failure: bool,
    file: String,
    offset: u64,
    /// The offset of the DOM of a rendered page.
    dom: Option<u64>,
}

/// The record with the content of a capture.
pub(crate) struct FoundCapture {
    /// The URL that its links are relative to: that of the capture, even if the record with the
    /// content is one of another URL.
    pub(crate) url: String,
    pub(crate) record: Record,
}

/// An archived answer to a URL.
pub(crate) enum Finding {
    Content(Box<FoundCapture>),
    /// The absolute target of a redirect.
    Redirect(String),
}

/// The content of a record, or where it is.
enum Step {
    Finding(Finding),
    /// The URL and the time of the original of a revisit.
    Original(String, Timestamp),
}

/// Returns the archived answer to `url` nearest to `at`, with at most `keep` bytes of its record.
///
/// # Errors
/// [`Refusal::Unavailable`] if the archive has captures and none can be read.
pub(crate) fn find(
    dashboard: &Dashboard,
    url: &str,
    at: Timestamp,
    keep: usize,
) -> Result<Option<Finding>, Refusal> {
    let (mut url, mut at) = (url.to_owned(), at);
    let (mut revisits, mut revisited) = (Vec::new(), None);
    while revisits.len() <= MAX_REVISITS {
        let mut captures = captures_of(dashboard, &url)?;
        captures.retain(|capture| !revisits.contains(capture));
        captures.sort_by_key(|capture| order(capture, at));
        captures.truncate(MAX_TRIES);
        match first_step(dashboard, captures, keep)? {
            None => return Ok(None),
            Some((_, Step::Finding(finding))) => return Ok(Some(of_revisit(finding, revisited))),
            Some((revisit, Step::Original(target, date))) => {
                revisited.get_or_insert(url);
                revisits.push(revisit);
                (url, at) = (target, date);
            }
        }
    }
    Ok(None)
}

/// Returns what was found for the URL of a revisit.
fn of_revisit(finding: Finding, revisited: Option<String>) -> Finding {
    match (finding, revisited) {
        (Finding::Content(found), Some(url)) => {
            let record = found.record;
            Finding::Content(Box::new(FoundCapture { url, record }))
        }
        (finding, _) => finding,
    }
}

/// Returns the capture that is shown for a time.
pub(crate) fn nearest(captures: &[Capture], at: Timestamp) -> Option<&Capture> {
    captures.iter().min_by_key(|capture| order(capture, at))
}

/// Returns the key that sorts captures by the wish to show them for a time.
fn order(capture: &Capture, at: Timestamp) -> (bool, u64) {
    let distance = capture.at.as_millis().abs_diff(at.as_millis());
    (capture.is_failure, distance)
}

/// Returns the captures of a URL, at most once each: that of its last visit, then those of the
/// index.
pub(crate) fn captures_of(dashboard: &Dashboard, url: &str) -> Result<Vec<Capture>, Refusal> {
    let parsed = dashboard.parse(url).ok();
    let mut captures = Vec::new();
    if let Some(url) = &parsed
        && let Some(visit) = visit_of(dashboard, url)?
        && let Some((file, offset)) = visit.warc_file.as_ref().zip(visit.warc_offset)
        && (visit.kept || is_capture(dashboard, file, offset))
    {
        captures.push(Capture {
            at: visit.fetched_at,
            is_failure: !visit.has_page_status(),
            file: file.clone(),
            offset,
            dom: visit.dom_offset(),
        });
    }
    let lines = cdxj::captures_of(&dashboard.crawl.archive, url, MAX_CAPTURES);
    for line in lines.map_err(|error| Refusal::Unavailable(error.to_string()))? {
        let own = line.text("url").unwrap_or_default();
        let is_same = own == url || parsed.is_some() && dashboard.parse(own).ok() == parsed;
        let status = line.text("status").unwrap_or_default();
        let (file, offset) = (line.file().to_owned(), line.offset());
        let is_known = |known: &Capture| known.file == file && known.offset == offset;
        if let Some(at) = date(&line.timestamp).filter(|_| is_same)
            && !captures.iter().any(is_known)
        {
            captures.push(Capture {
                at,
                is_failure: status.starts_with(['4', '5']),
                file,
                offset,
                dom: None,
            });
        }
    }
    Ok(captures)
}

/// Returns true if the record of a visit that was not kept is a capture, such as a revisit, and not
/// only the verdict.
fn is_capture(dashboard: &Dashboard, file: &str, offset: u64) -> bool {
    let head = read(dashboard, file, offset, 0);
    head.is_ok_and(|record| matches!(record.kind(), "response" | "revisit"))
}

/// Returns the first capture that leads to content, and its step.
fn first_step(
    dashboard: &Dashboard,
    captures: Vec<Capture>,
    keep: usize,
) -> Result<Option<(Capture, Step)>, Refusal> {
    let mut unreadable = None;
    for capture in captures {
        match step(dashboard, &capture, keep) {
            Ok(Some(step)) => return Ok(Some((capture, step))),
            Ok(None) => {}
            Err(reason) => unreadable = Some(reason),
        }
    }
    unreadable.map_or(Ok(None), |reason| Err(Refusal::Unavailable(reason)))
}

/// Reads the record of a capture. Returns `None` for a record without content, such as the verdict
/// on a page that was not archived.
fn step(dashboard: &Dashboard, capture: &Capture, keep: usize) -> Result<Option<Step>, String> {
    let record = read(dashboard, &capture.file, capture.offset, keep)?;
    let is_revisit = record.kind() == "revisit";
    if !is_revisit && !matches!(record.kind(), "response" | "resource") {
        return Ok(None);
    }
    let url = record.target().unwrap_or_default().to_owned();
    if let Some(dom) = capture.dom
        && let Ok(record) = read(dashboard, &capture.file, dom, keep)
        && record.is_dom()
    {
        return Ok(Some(content(url, record)));
    }
    if let Some(target) = redirect(&record, &url) {
        return Ok(Some(Step::Finding(Finding::Redirect(target))));
    }
    if is_revisit {
        let reference = Reference::of(&record);
        let target = reference.target().unwrap_or(&url).to_owned();
        return Ok(Some(Step::Original(
            target,
            reference.date().unwrap_or(capture.at),
        )));
    }
    Ok(Some(content(url, record)))
}

fn content(url: String, record: Record) -> Step {
    Step::Finding(Finding::Content(Box::new(FoundCapture { url, record })))
}

/// Reads the record at an offset of an archive file, with at most `keep` bytes of its block.
fn read(dashboard: &Dashboard, file: &str, offset: u64, keep: usize) -> Result<Record, String> {
    let file = archived_name(file).ok_or("the index names a file outside the archive")?;
    let stream = WarcStream::open_at(&locate(&dashboard.crawl.archive, file), offset);
    let record = stream.and_then(|mut stream| stream.next_record(keep));
    let record = record.map_err(|fault| fault.to_string())?;
    record.ok_or_else(|| "the archive ends before the record".to_owned())
}

/// Returns the absolute target of a redirect.
fn redirect(record: &Record, url: &str) -> Option<String> {
    let response = record.http()?;
    if !matches!(response.status, 300..=303 | 307 | 308) {
        return None;
    }
    let location = response.headers.get(axum::http::header::LOCATION)?;
    absolute(url, &web::url_field(location))
}
