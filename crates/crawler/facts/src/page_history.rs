//! The history of a page in the journal: its last visit, and its signature.
//!
//! `why`, `pair` and `similar` begin with it. It is read once for the page and once for the
//! original that the page repeats, whose URL only the page's visit tells.

use std::path::{Path, PathBuf};

use journal::{History, Record, StoreFault, VisitRecord};
use neardup::{PageSignature, TextSignature};
use settings::{Settings, crawl_directory};
use store::EmbeddedStore;
use web::PageUrl;

/// The last visit of a page, and its signature if the journal has one.
#[derive(Default)]
pub(crate) struct PageHistory {
    pub(crate) visit: Option<VisitRecord>,
    pub(crate) signature: Option<PageSignature>,
}

/// The original of a page, in a crawl that kept it.
pub(crate) struct OriginalPage {
    /// The directory of that crawl: the crawl of the page, or an earlier one.
    pub(crate) directory: PathBuf,
    pub(crate) history: PageHistory,
}

impl PageHistory {
    /// Reads a page's history from the journal in this directory.
    pub(crate) fn of(state: &Path, url: &PageUrl) -> Result<Self, StoreFault> {
        let mut history = Self::default();
        for record in History::open(state)? {
            history.apply(&record?, url);
        }
        Ok(history)
    }

    /// Returns the signature of the page's text.
    pub(crate) fn text_signature(&self) -> Option<TextSignature> {
        let text = self.signature.as_ref()?.text.as_deref();
        text.cloned()
    }

    /// Applies the next record of the journal.
    pub(crate) fn apply(&mut self, record: &Record, url: &PageUrl) {
        match record {
            Record::Settled(settled) if settled.visit.record.url == *url => {
                self.visit = Some((*settled.visit.record).clone());
            }
            Record::Revoked { visit, .. } if visit.url == *url => self.visit = None,
            Record::Admitted { page, signature } if page.url == *url => {
                self.signature = Some((**signature).clone());
            }
            Record::Retained(retained) if retained.page.url == *url => {
                self.signature = Some(retained.signature.clone());
            }
            Record::Forgotten { page } if *page == url.key() => self.signature = None,
            _ => {}
        }
    }
}

impl OriginalPage {
    /// Reads the original of a visit's page: from this crawl, or from the newest crawl with the
    /// page that this crawl was run against. `None` if the page is not a duplicate, if the original
    /// is still being visited, or if its crawl is gone.
    pub(crate) fn of(
        visit: &VisitRecord,
        directory: &Path,
        settings: &Settings,
    ) -> Result<Option<Self>, StoreFault> {
        let Some(url) = &visit.duplicate_of else {
            return Ok(None);
        };
        let mut directories = vec![directory.to_owned()];
        if visit.of_earlier {
            directories.clone_from(&settings.against);
            directories.reverse();
        }
        for directory in directories {
            let state = crawl_directory::state(&directory);
            if !EmbeddedStore::exists(&state) {
                continue;
            }
            let history = PageHistory::of(&state, url)?;
            if history.visit.as_ref().is_some_and(|visit| visit.kept) {
                return Ok(Some(Self { directory, history }));
            }
        }
        Ok(None)
    }
}
