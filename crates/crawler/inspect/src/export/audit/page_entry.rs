//! A visited page with the parts of its content that an audit checks.

use journal::{VisitRecord, with_details};
use serde::{Deserialize, Serialize};
use web::{Directives, Document, Link, LinkKinds, Media, PageUrl};

/// A visited page.
#[derive(Serialize, Deserialize)]
pub(super) struct PageEntry {
    /// Its visit.
    #[serde(with = "with_details")]
    pub(super) visit: Box<VisitRecord>,
    /// Its content, if the archive has it.
    pub(super) content: Option<PageContent>,
}

/// The content of a page.
#[derive(Serialize, Deserialize)]
pub(super) struct PageContent {
    /// True for HTML.
    pub(super) is_html: bool,
    /// The first `<meta name=description>`.
    pub(super) description: Option<String>,
    /// Number of `<h1>` elements.
    pub(super) h1_count: u32,
    /// The text of the first `<h1>`.
    pub(super) h1: Option<String>,
    /// Its directives for crawlers, from the markup and the header.
    pub(super) robots: Option<String>,
    /// True if it asks not to be shown in search results.
    pub(super) is_noindex: bool,
    /// The canonical page that it names, even if it is this page.
    pub(super) canonical: Option<PageUrl>,
    /// Number of pages that it links to.
    pub(super) outlinks: u32,
    /// The translations that it names: value of `hreflang`, URL.
    pub(super) translations: Vec<(String, PageUrl)>,
}

impl PageContent {
    /// Returns the content of a document.
    pub(super) fn of(document: &Document) -> Self {
        let audit = &document.audit;
        let pages = document.links.iter().filter(|link| is_for_readers(link));
        let pages = pages.count();
        let translations = audit.translations.iter();
        Self {
            is_html: document.media == Media::Html,
            description: audit.description.clone(),
            h1_count: audit.h1_count,
            h1: audit.h1.clone(),
            robots: directives_text(&document.directives),
            is_noindex: document.directives.noindex,
            canonical: document.canonical.clone(),
            outlinks: u32::try_from(pages).unwrap_or(u32::MAX),
            translations: translations
                .map(|translation| (translation.language.clone(), translation.url.clone()))
                .collect(),
        }
    }
}

impl PageEntry {
    /// Returns the URL of the page, after redirects.
    pub(super) fn url(&self) -> &PageUrl {
        self.visit.final_url.as_ref().unwrap_or(&self.visit.url)
    }

    /// Returns true if a URL is this page's, before or after redirects.
    pub(super) fn is_at(&self, url: &PageUrl) -> bool {
        *url == self.visit.url || url == self.url()
    }

    /// Returns the canonical page that the page names, even if it is this page.
    pub(super) fn canonical(&self) -> Option<&PageUrl> {
        let declared = self
            .content
            .as_ref()
            .and_then(|content| content.canonical.as_ref());
        declared.or(self.visit.canonical.as_ref())
    }
}

/// Returns true for a link that readers can follow to a page, not only programs.
pub(super) fn is_for_readers(link: &Link) -> bool {
    let mut relations = link.rel.split(' ');
    let is_for_programs = relations.any(|rel| matches!(rel, "alternate" | "canonical"));
    LinkKinds::PAGES.has(link.kind) && !is_for_programs
}

/// Returns directives as a page writes them; `None` if there are none.
fn directives_text(directives: &Directives) -> Option<String> {
    let named = [
        (directives.noindex, "noindex"),
        (directives.nofollow, "nofollow"),
        (directives.noarchive, "noarchive"),
    ];
    let given = named.into_iter().filter(|(is_given, _)| *is_given);
    let mut words: Vec<String> = given.map(|(_, word)| word.to_owned()).collect();
    let end = directives.unavailable_after;
    words.extend(end.map(|end| format!("unavailable_after: {end}")));
    (!words.is_empty()).then(|| words.join(", "))
}
