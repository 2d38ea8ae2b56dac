//! Archives with a visit to a rendered page, for tests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disk::SystemDisk;
use http::{HeaderMap, HeaderValue, header};
use journal::{DiscoveredUrl, Fate, Rendered, VisitRecord};
use sinks::{ArchiveOptions, Archived, Keeping, MetadataField, Original, Sink, WarcArchive};
use web::{CanonicalForm, Clock, Exchange, PageUrl, Protocol, Timestamp};

/// The queued URL, which redirects to [`PAGE`].
pub(crate) const HOP: &str = "http://a.test/";
/// The URL of the page.
pub(crate) const PAGE: &str = "http://a.test/app";
/// The DOM of the page.
pub(crate) const DOM: &str = "<p>Gr\u{fc}\u{df}e <a href=next>next</a>";
/// The time of all requests.
pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_795_199_095_120);

pub(crate) fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

/// Writes a visit to a page whose script made two requests to another host.
pub(crate) async fn archived(
    directory: &Path,
    keeping: Keeping,
    notes: Vec<MetadataField>,
) -> Archived {
    let options = ArchiveOptions::new(Clock::fixed(NOON));
    let archive = WarcArchive::open(Arc::new(SystemDisk), directory, options, None).unwrap();
    let dom = matches!(keeping, Keeping::Whole | Keeping::Revisit { .. });
    let visit = sinks::Visit {
        url: url(HOP),
        at: NOON,
        robots: Vec::new(),
        exchanges: vec![
            exchange(HOP, 302, ""),
            exchange(PAGE, 200, "<script src=app.js>"),
        ],
        keeping,
        subrequests: vec![
            exchange("http://cdn.test/app.js", 200, "run()"),
            exchange("http://cdn.test/data", 404, "[]"),
        ],
        dom: dom.then(|| DOM.into()),
        picture: dom.then(|| b"\x89PNG".as_slice().into()),
        payload: None,
        metadata: notes,
        text: None,
    };
    archive.write(visit).await.unwrap()
}

/// Returns the keeping of a page with the bytes of another page.
pub(crate) fn revisit() -> Keeping {
    Keeping::Revisit {
        of: Original {
            url: url("http://a.test/other"),
            at: NOON,
        },
    }
}

/// Returns the record of the visit in the journal.
pub(crate) fn record(archived: &Archived, kept: bool) -> VisitRecord {
    let mut record = VisitRecord::new(DiscoveredUrl::new(url(HOP), 0, None), Fate::Unique, NOON);
    record.final_url = Some(url(PAGE));
    record.kept = kept;
    (record.warc_file, record.warc_offset) =
        (Some(archived.file.clone()), Some(archived.page_offset));
    record.details.rendered = Some(Rendered::Dom {
        adds: true,
        offset: archived.dom_offset,
    });
    record
}

fn exchange(place: &str, status: u16, body: &'static str) -> Exchange {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=latin1"),
    );
    headers.insert(
        header::LINK,
        HeaderValue::from_static("</canonical>; rel=canonical"),
    );
    if status == 302 {
        headers.insert(header::LOCATION, HeaderValue::from_static(PAGE));
    }
    Exchange {
        url: url(place),
        request_head: format!("GET {place} HTTP/1.1\r\n\r\n").into_bytes(),
        status,
        headers,
        body: body.into(),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started: NOON,
        elapsed: Duration::from_millis(5),
    }
}
