//! Details of a visit that no decision about its page depends on.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use topic::Relevance;
use web::PageUrl;

use crate::duplicate_rule::DuplicateRule;
use crate::limit::Cut;
use crate::unread_format::UnreadFormat;

/// Details of a visit, for exports, statistics and harvests. All are absent in records of journal
/// formats before 8; later fields say since which format they are there.
///
/// The order of the fields is on disk (postcard): a new one goes to the end, with a new format
/// version of the journal. Invariant: each field of the default is encoded as one zero byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitDetails {
    /// The rule by which the page repeats another.
    pub rule: Option<DuplicateRule>,
    /// The time from the first byte of the last request to the last byte of its response, in whole
    /// milliseconds.
    pub duration: Option<Duration>,
    /// The number of words of the text that was judged.
    pub words: Option<u32>,
    /// The number of redirects that were followed.
    pub redirects: u32,
    /// The digest of the payload as received, as in `WARC-Payload-Digest` (WARC/1.1, section 5.9).
    pub digest: Option<String>,
    /// True for a sitemap that was read for its entries.
    pub is_sitemap: bool,
    /// The relevance of the page to the topic of a focused crawl; none if it was not judged.
    pub relevance: Option<Relevance>,
    /// The limits that cut the visit, each once.
    pub cuts: Vec<Cut>,
    /// The format of a document that was archived and not read for its text and links.
    pub unread: Option<UnreadFormat>,
    /// Kept pages whose content is part of this page's: they repeat it.
    pub contains: Vec<PageUrl>,
    /// The name of the body without its content codings, like [`VisitRecord::payload`]; none if it
    /// had none or could not be decoded whole.
    ///
    /// [`VisitRecord::payload`]: crate::VisitRecord::payload
    pub content: Option<u128>,
    /// Hundredths of the text that are in the page's language; none if the text is too short to
    /// tell.
    pub language_confidence: Option<u8>,
}

impl VisitDetails {
    /// Returns the share of the text in the page's language, 0 to 1.
    #[must_use]
    pub fn language_share(&self) -> Option<f64> {
        Some(f64::from(self.language_confidence?) / 100.0)
    }

    /// Returns the names of the limits that cut the visit, separated by spaces; none if it is
    /// whole.
    #[must_use]
    pub fn truncated_by(&self) -> Option<String> {
        let names: Vec<&str> = self.cuts.iter().map(|cut| cut.limit.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" "))
    }
}
