//! Details of a visit that no decision about its page depends on.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use topic::Relevance;
use web::{PageUrl, Preferences};

use crate::duplicate_rule::DuplicateRule;
use crate::limit::Cut;
use crate::rendered::Rendered;
use crate::unread_format::UnreadFormat;

/// Details of a visit, for exports, statistics and harvests.
///
/// The order of the fields is on disk (postcard): a new one goes to the end, with a new format
/// version of the journal. Invariant: each field of the default is encoded as one zero byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitDetails {
    /// The rule that found the page to be a duplicate.
    pub rule: Option<DuplicateRule>,
    /// The time from the first byte of the last request to the last byte of its response, in whole
    /// milliseconds.
    pub duration: Option<Duration>,
    /// Number of words of the compared text.
    pub words: Option<u32>,
    /// Number of followed redirects.
    pub redirects: u32,
    /// The digest of the payload as received, as in `WARC-Payload-Digest` (WARC/1.1, section 5.9).
    pub digest: Option<String>,
    /// True for a sitemap whose entries were read.
    pub is_sitemap: bool,
    /// Relevance of the page to the topic of a focused crawl; `None` if it was not judged.
    pub relevance: Option<Relevance>,
    /// The limits that cut the visit, each once.
    pub cuts: Vec<Cut>,
    /// The format of a document that was archived but not parsed for its text and links.
    pub unread: Option<UnreadFormat>,
    /// Kept pages whose content is part of this page's, so that they repeat it.
    pub contains: Vec<PageUrl>,
    /// The name of the body without its content codings, like [`VisitRecord::payload`]; `None` if
    /// the body lacked a content coding, or could not be decoded completely.
    ///
    /// [`VisitRecord::payload`]: crate::VisitRecord::payload
    pub content: Option<u128>,
    /// Percentage of the text that is in the page's language; `None` if the text is too short to
    /// tell.
    pub language_confidence: Option<u8>,
    /// True for a page with scripts that browsers run, and next to no text without them.
    pub needs_scripts: bool,
    /// The result of running the scripts of the page; `None` if they were not run.
    pub rendered: Option<Rendered>,
    /// The owner's preferences for the use of the page; `None` if none is known.
    pub preferences: Option<Preferences>,
    /// Number of links since the last page in scope, as it was queued
    /// ([`crate::DiscoveredUrl::off_scope`]); 0 for a page in scope.
    pub off_scope: u8,
}

impl VisitDetails {
    /// Returns the share of the text in the page's language, 0 to 1.
    #[must_use]
    pub fn language_share(&self) -> Option<f64> {
        Some(f64::from(self.language_confidence?) / 100.0)
    }

    /// Returns the names of the limits that cut the visit, separated by spaces; `None` if no limit
    /// did.
    #[must_use]
    pub fn truncated_by(&self) -> Option<String> {
        let names: Vec<&str> = self.cuts.iter().map(|cut| cut.limit.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" "))
    }
}
