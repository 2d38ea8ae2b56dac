//! The extent of a crawl according to its journal: the end of its settled archive, the time of its
//! last request, its first page, and the DOMs of its rendered pages.

use std::collections::HashMap;
use std::path::Path;

use facts::journal::visits;
use journal::{Revocation, StoreFault, VisitRecord};
use sinks::ArchiveEnd;
use web::Timestamp;

/// The extent of a crawl.
#[derive(Default)]
pub(crate) struct CrawlExtent {
    /// The end of the last settled visit in the crawl's own files.
    pub(crate) end: Option<ArchiveEnd>,
    /// The time of the last request.
    pub(crate) latest: Timestamp,
    /// The first page among the seeds.
    pub(crate) main_page: Option<(String, Timestamp)>,
    /// The offsets of the DOMs of rendered pages, by the file and the offset of the page.
    pub(crate) doms: HashMap<(String, u64), u64>,
}

impl CrawlExtent {
    /// Reads the journal of the store in `state`.
    pub(crate) fn of(state: &Path) -> Result<Self, StoreFault> {
        let mut extent = Self::default();
        for visit in visits(state)? {
            let (visit, revocation) = visit?;
            if revocation == Some(Revocation::Lost) {
                continue;
            }
            let record = visit.record;
            // A page in another crawler's file has a place but no span.
            if visit.archived.is_some() || record.warc_file.is_some() {
                extent.latest = extent.latest.max(record.fetched_at);
            }
            if let Some(span) = visit.archived {
                extent.end = Some(ArchiveEnd {
                    file: span.file,
                    end: span.end,
                });
            }
            if let Some(dom) = record.dom_offset()
                && let Some(page) = record.warc_file.clone().zip(record.warc_offset)
            {
                extent.doms.insert(page, dom);
            }
            let is_seed = revocation.is_none() && record.depth == 0;
            if extent.main_page.is_none() && is_seed && is_page(&record) {
                extent.main_page = Some((url(&record).to_owned(), record.fetched_at));
            }
        }
        Ok(extent)
    }
}

/// Returns true if the archive contains this page and a browser can show it.
pub(crate) fn is_page(visit: &VisitRecord) -> bool {
    let is_html = matches!(
        visit.content_type.as_deref(),
        Some("text/html" | "application/xhtml+xml")
    );
    visit.kept
        && visit.is_page()
        && visit.status == Some(200)
        && is_html
        && visit.warc_file.is_some()
}

/// Returns the archived URL.
pub(crate) fn url(visit: &VisitRecord) -> &str {
    visit.final_url.as_ref().unwrap_or(&visit.url).as_str()
}
