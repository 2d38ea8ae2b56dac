//! The sitemaps of a crawl, compared with its pages.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use crawl::pages_of_sitemap;
use export::{AUDIT_ORPHANS, AUDIT_SITEMAP, AuditTable, AuditWriter, ExportFault, Value};
use journal::VisitRecord;
use serde::{Deserialize, Serialize};
use settings::read_again::ArchivedPages;
use web::PageUrl;

use super::entry_log::EntryLog;
use super::known_urls::KnownUrls;

/// Number of sitemaps that are read at a time, with all their entries in memory.
const BATCH: usize = 4;

/// The entries of the sitemaps. Memory: about 24 bytes per entry.
pub(super) struct Sitemaps {
    entries: EntryLog<ListedPage>,
}

/// An entry of a sitemap.
#[derive(Serialize, Deserialize)]
struct ListedPage {
    url: PageUrl,
    sitemap: PageUrl,
}

impl Sitemaps {
    /// Reads the sitemaps of these visits from the archive, and marks the URLs that they list.
    pub(super) fn read(
        visits: Vec<VisitRecord>,
        pages: &ArchivedPages,
        urls: &mut KnownUrls,
        scratch: &Path,
    ) -> io::Result<Self> {
        let mut entries = EntryLog::in_directory(scratch)?;
        let mut seen = HashSet::new();
        let mut visits = visits.into_iter();
        loop {
            let mut batch: Vec<VisitRecord> = visits.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(Self { entries });
            }
            pages.make_of_answers(
                &mut batch,
                |visit, exchange| {
                    let listed = pages_of_sitemap(&pages.policy, &exchange);
                    (visit.url.clone(), listed)
                },
                |(sitemap, listed)| {
                    let first = |url: &PageUrl| seen.insert(url.key());
                    for url in listed.into_iter().filter(first) {
                        if let Some(known) = urls.get_mut(&url) {
                            known.is_listed = true;
                        }
                        let sitemap = sitemap.clone();
                        entries.add(&ListedPage { url, sitemap })?;
                    }
                    io::Result::Ok(())
                },
            )?;
        }
    }

    /// Returns true if no sitemap lists anything.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes the entries that should not be listed, and the pages that no page links to.
    pub(super) fn write<W: Write + Send>(
        &self,
        urls: &KnownUrls,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        for entry in self.entries.iter() {
            let entry = entry?;
            let known = urls.get(&entry.url);
            let issue = match known {
                None => Some("not visited"),
                Some(known) => known.indexability.obstacle(),
            };
            let status = known.and_then(|known| known.status());
            let status = status.map(|status| Value::Number(status.into()));
            let url = Some(Value::Text(entry.url.as_str()));
            let sitemap = Some(Value::Text(entry.sitemap.as_str()));
            if let Some(issue) = issue {
                let fields: [Option<Value<'_>>; AUDIT_SITEMAP.columns.len()] =
                    [url, sitemap, Some(Value::Text(issue)), status];
                out.write(AuditTable::Sitemap, &fields)?;
            }
            let is_orphan = known.is_some_and(|known| {
                known.indexability.is_page() && known.inlinks == 0 && !known.is_reached
            });
            if is_orphan {
                let fields: [Option<Value<'_>>; AUDIT_ORPHANS.columns.len()] =
                    [url, sitemap, status];
                out.write(AuditTable::Orphans, &fields)?;
            }
        }
        Ok(())
    }
}
