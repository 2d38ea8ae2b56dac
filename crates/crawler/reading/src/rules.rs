//! The rules for reading a page.

use std::sync::Arc;

use web::{CanonicalForm, FieldSelectors, MainSelectors, ReadLimits, ReadPdf, SharedLines};

use crate::listing_rules::ListingRules;

/// The rules for reading a page: they decide what a document contains.
#[derive(Clone, Debug)]
pub struct ReadingRules {
    /// True if a page is compared by its main content; by all its text otherwise.
    pub main_content: bool,
    /// Selectors of the main content of pages, `CSS` or `HOST=CSS`; the first that matches counts.
    pub main_selectors: MainSelectors,
    /// Selectors of the user's fields, `HOST=CSS`, by name.
    pub fields: FieldSelectors,
    /// Lines of sites to leave out at both ends of texts. Verdicts compare texts with them.
    pub shared_lines: Option<Arc<dyn SharedLines>>,
    /// The product token that names this crawler in robots rules.
    pub agent: String,
    /// Maximum number of bytes of a decoded body that are read.
    pub max_decoded: u64,
    /// The reader of PDFs; `None` if they are not read.
    pub pdf: Option<ReadPdf>,
    /// The limits on reading a document.
    pub limits: ReadLimits,
    /// The rules for sitemaps and feeds.
    pub listings: ListingRules,
    /// The canonical form of URLs, with the query parameters that are dropped.
    pub canonical: CanonicalForm,
}

/// Maximum number of bytes of a decoded document that are read by default.
const MAX_DECODED: u64 = 8 << 20;

impl Default for ReadingRules {
    fn default() -> Self {
        Self {
            main_content: true,
            main_selectors: MainSelectors::default(),
            fields: FieldSelectors::default(),
            shared_lines: None,
            agent: "crawler".to_owned(),
            max_decoded: MAX_DECODED,
            pdf: None,
            limits: ReadLimits::default(),
            listings: ListingRules::default(),
            canonical: CanonicalForm::default(),
        }
    }
}
