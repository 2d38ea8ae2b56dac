//! The parts of a page that an audit of its site checks, as values.

use crate::html::relations::has_relation;
use crate::url::page_url::PageUrl;

/// Maximum number of translations of a page.
const MAX_TRANSLATIONS: usize = 1_000;

/// Maximum length of a language tag in characters: BCP 47 section 4.4.1 expects 35.
const MAX_LANGUAGE: usize = 40;

/// The parts of a page that an audit checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFields {
    /// The first `<meta name=description>` that is not blank.
    pub description: Option<String>,
    /// Number of `<h1>` elements.
    pub h1_count: u32,
    /// The text of the first `<h1>`.
    pub h1: Option<String>,
    /// The translations that the page names, including itself.
    pub translations: Vec<Translation>,
}

/// A page that another page names as its translation (`hreflang`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The value of `hreflang`, in lower case: a language tag or `x-default`.
    pub language: String,
    /// The translation.
    pub url: PageUrl,
}

impl AuditFields {
    /// Adds the target of a link if it is a translation.
    pub(crate) fn translate(
        &mut self,
        rel: &str,
        hreflang: &str,
        target: impl FnOnce() -> Option<PageUrl>,
    ) {
        let language = hreflang.trim();
        let is_tag = (1..=MAX_LANGUAGE).contains(&language.len());
        if is_tag
            && has_relation(rel, "alternate")
            && self.translations.len() < MAX_TRANSLATIONS
            && let Some(url) = target()
        {
            let language = language.to_ascii_lowercase();
            self.translations.push(Translation { language, url });
        }
    }
}
