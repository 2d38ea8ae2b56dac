//! The audit of a site: its pages, redirects, titles, canonical pages, translations and sitemaps.
//!
//! A record of one page depends on others: on the pages that link to it, or the state of its
//! canonical page. So the crawl is read in three steps: the journal, for the state of each URL;
//! the archive, page by page, for links and content; and then the pages in a temporary file, which
//! are compared with what is known by then.
//!
//! Invariant: texts of pages wait in temporary files. Memory grows by about 120 bytes per URL, and
//! by 8 bytes per `hreflang` link.

mod entry_log;
mod files;
mod known_urls;
mod page_entry;
mod pages;
mod redirects;
mod sitemaps;
mod titles;
mod translations;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use export::{AuditTable, AuditWriter, ExportFault, Visit, Visits};
use messages::{CommandError, SlowProgress};
use rayon::prelude::*;
use settings::Settings;
use settings::read_again::{ArchivedPages, BATCH};
use web::Link;

use self::entry_log::EntryLog;
use self::known_urls::{Indexability, KnownUrls};
use self::page_entry::{PageContent, PageEntry, is_for_readers};
use self::redirects::Redirects;
use self::sitemaps::Sitemaps;
use self::titles::{Field, SharedTexts};
use self::translations::Translations;
use super::links::{self, FailedUrls};

/// The audit of a crawl.
pub struct SiteAudit {
    archived: ArchivedPages,
    directory: PathBuf,
    state: PathBuf,
    /// A directory for temporary files.
    scratch: PathBuf,
}

/// Everything that the records of a page need to know about other pages.
struct Gathered {
    urls: KnownUrls,
    failed: FailedUrls,
    pages: EntryLog<PageEntry>,
    redirects: Redirects,
    titles: SharedTexts,
    descriptions: SharedTexts,
    translations: Translations,
}

impl SiteAudit {
    /// Returns the audit of the crawl in `directory`, whose store is in `state`. Temporary files
    /// go to `scratch`.
    pub fn of_crawl(directory: &Path, state: &Path, scratch: &Path) -> Result<Self, CommandError> {
        let mut archived = ArchivedPages::of(&Settings::of_crawl(directory)?);
        let limits = &mut archived.archive.rules.limits;
        export::widen(limits);
        limits.audit = true;
        Ok(Self {
            archived,
            directory: directory.to_owned(),
            state: state.to_owned(),
            scratch: scratch.to_owned(),
        })
    }

    /// Writes all tables.
    fn write<W: Write + Send>(&self, out: &mut AuditWriter<W>) -> Result<(), ExportFault> {
        let mut sitemaps = Vec::new();
        let mut urls = KnownUrls::of_journal(&self.state, |visit| sitemaps.push(visit))?;
        let sitemaps = Sitemaps::read(sitemaps, &self.archived, &mut urls, &self.scratch)?;
        let mut gathered = Gathered {
            urls,
            failed: FailedUrls::of_crawl(&self.directory)?,
            pages: EntryLog::in_directory(&self.scratch)?,
            redirects: Redirects::in_directory(&self.scratch)?,
            titles: SharedTexts::of(Field::Title),
            descriptions: SharedTexts::of(Field::Description),
            translations: Translations::default(),
        };
        self.read_pages(&mut gathered, out)?;
        gathered.write(&sitemaps, out)
    }

    /// Reads all pages, and writes their broken links.
    fn read_pages<W: Write + Send>(
        &self,
        gathered: &mut Gathered,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        let mut progress = SlowProgress::new("pages read");
        let mut visits = Visits::open(&self.state, false)?;
        loop {
            let batch = visits.by_ref().take(BATCH);
            let mut batch: Vec<Visit> = batch.collect::<Result<_, _>>()?;
            if batch.is_empty() {
                return Ok(());
            }
            self.read_redirects(&batch, gathered)?;
            self.archived.make_all(
                &mut batch,
                |visit| Some(&visit.record),
                |_, page| (PageContent::of(&page.document), page.document.links),
                |visit, page| {
                    progress.step();
                    gathered.add(visit, page, out)
                },
            )?;
        }
    }

    /// Reads the redirects of these visits on all cores.
    fn read_redirects(&self, visits: &[Visit], gathered: &mut Gathered) -> io::Result<()> {
        let read = |visit| redirects::of_visit(&self.archived.archive, visit);
        let found: Vec<_> = visits.par_iter().map(read).collect();
        for (visit, found) in visits.iter().zip(found) {
            match found {
                Ok(found) => {
                    for redirect in found {
                        gathered.redirects.add(&redirect, &mut gathered.urls)?;
                    }
                }
                Err(trouble) => self.archived.count_unread(&visit.record, &trouble),
            }
        }
        Ok(())
    }

    /// Returns an error if pages are missing.
    pub fn check_unread(&self) -> Result<(), CommandError> {
        self.archived
            .check_unread("their content and links are missing; everything else is complete")
    }
}

impl Gathered {
    /// Adds a visit, and its content and links if they are archived. Writes its broken links.
    fn add<W: Write + Send>(
        &mut self,
        visit: Visit,
        page: Option<(PageContent, Vec<Link>)>,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        let (content, links) = page.unzip();
        let links = links.unwrap_or_default();
        for link in links.iter().filter(|link| is_for_readers(link)) {
            if let Some(target) = self.urls.get_mut(&link.url) {
                target.inlinks = target.inlinks.saturating_add(1);
            }
        }
        links::write(&visit.record, &links, Some(&self.failed), |fields| {
            out.write(AuditTable::Broken, fields)
        })?;
        if visit.record.kind() != "page" {
            return Ok(());
        }
        let page = PageEntry {
            visit: Box::new(visit.record),
            content,
        };
        if let (Some(content), Some(known)) = (&page.content, self.urls.get_mut(page.url())) {
            known.is_read = true;
            if content.is_noindex {
                known.indexability = Indexability::NoIndex;
            }
        }
        let number = self.pages.add(&page)?;
        self.titles.add(&page, number);
        self.descriptions.add(&page, number);
        self.translations.add(&page);
        Ok(())
    }

    /// Writes all tables but the broken links.
    fn write<W: Write + Send>(
        mut self,
        sitemaps: &Sitemaps,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        self.redirects.write(&mut self.urls, out)?;
        self.translations.sort();
        let mut progress = SlowProgress::new("pages written");
        for page in self.pages.iter() {
            let page = page?;
            progress.step();
            pages::write(&page, &self.urls, !sitemaps.is_empty(), out)?;
            self.translations.write(&page, &self.urls, out)?;
        }
        self.titles.write(&self.pages, &self.urls, out)?;
        self.descriptions.write(&self.pages, &self.urls, out)?;
        sitemaps.write(&self.urls, out)
    }
}
