//! The entries of a listing that is being read.

use std::ops::ControlFlow;

use crate::sitemap::listing::{ListedUrl, Listing, ListingWarning};
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// Number of entries kept before they are passed on.
const ENTRIES_AT_ONCE: usize = 1_000;

/// The entries gathered so far.
pub(super) struct Gathered<'a> {
    /// Entries not yet passed on.
    pub(super) part: Listing,
    pub(super) warnings: Vec<ListingWarning>,
    pub(super) use_part: &'a mut dyn FnMut(Listing) -> ControlFlow<()>,
    pub(super) page: &'a PageUrl,
    pub(super) form: &'a CanonicalForm,
    /// Remaining number of entries to keep.
    pub(super) room: usize,
    /// Remaining number of requisites to keep.
    pub(super) requisite_room: usize,
    /// True if there was one entry too many, or the receiver wants no more.
    pub(super) is_full: bool,
}

impl Gathered<'_> {
    pub(super) fn note(&mut self, warning: ListingWarning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub(super) fn note_if(&mut self, is_so: bool, warning: ListingWarning) {
        if is_so {
            self.note(warning);
        }
    }

    /// Resolves an address; relative ones are tolerated.
    pub(super) fn resolve(&mut self, base: Option<&PageUrl>, address: &str) -> Option<PageUrl> {
        let address = address.trim();
        let url = base.unwrap_or(self.page).join(address, self.form).ok();
        let url = url.filter(|_| !address.is_empty());
        self.note_if(url.is_none(), ListingWarning::NoUrl);
        url
    }

    pub(super) fn keep_page(&mut self, listed: ListedUrl) {
        if self.has_room() && listed.url != *self.page {
            self.part.pages.push(listed);
            self.kept();
        }
    }

    pub(super) fn keep_further(&mut self, listed: ListedUrl) {
        if self.has_room() && listed.url != *self.page {
            self.part.further.push(listed);
            self.kept();
        }
    }

    /// Keeps a picture or a film of a page. Too many of them do not lose the page.
    pub(super) fn keep_requisite(&mut self, url: PageUrl) {
        if self.requisite_room == 0 {
            self.note(ListingWarning::TooMany);
            return;
        }
        self.requisite_room -= 1;
        self.part.requisites.push(url);
        self.hand_on_if_many();
    }

    pub(super) fn kept(&mut self) {
        self.room -= 1;
        self.hand_on_if_many();
    }

    fn hand_on_if_many(&mut self) {
        let Listing {
            pages,
            further,
            requisites,
            ..
        } = &self.part;
        if pages.len() + further.len() + requisites.len() >= ENTRIES_AT_ONCE {
            self.hand_on();
        }
    }

    /// Passes on the entries gathered since the last call.
    pub(super) fn hand_on(&mut self) {
        let next = Listing::empty(self.part.kind);
        let part = std::mem::replace(&mut self.part, next);
        let is_empty =
            part.pages.is_empty() && part.further.is_empty() && part.requisites.is_empty();
        if !is_empty && (self.use_part)(part).is_break() {
            self.room = 0;
            self.is_full = true;
        }
    }

    pub(super) fn has_room(&mut self) -> bool {
        if self.room == 0 && !self.is_full {
            self.fill();
        }
        self.room > 0
    }

    pub(super) fn fill(&mut self) {
        self.is_full = true;
        self.note(ListingWarning::TooMany);
    }
}
