//! The record of a visit: kept in the journal, exported, and counted in summaries.

use neardup::Fingerprint;
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp};

use crate::discovered_url::DiscoveredUrl;
use crate::duplicate_rule::DuplicateRule;
use crate::page::Page;
use crate::reason::Reason;
use crate::rendered::Rendered;
use crate::visit_details::VisitDetails;

/// The outcome of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fate {
    /// The page is new, and was kept.
    Unique,
    /// The same bytes or the same text as an earlier page.
    ExactDuplicate,
    /// Nearly the same text as an earlier page.
    NearDuplicate,
    /// It could not be fetched: no response, or a response with an error.
    Failed,
    /// A rule forbade it: robots.txt, the scope, a limit.
    Excluded,
    /// An earlier crawl archived other bytes under its URL. The page is a new version, and was
    /// kept.
    Changed,
    /// The page is not about the topic of a focused crawl. It was not admitted, so later pages are
    /// not compared with it.
    OffTopic,
}

impl Fate {
    /// Returns the word used in exports, the archive and the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::ExactDuplicate => "exact-duplicate",
            Self::NearDuplicate => "near-duplicate",
            Self::Failed => "failed",
            Self::Excluded => "excluded",
            Self::Changed => "changed",
            Self::OffTopic => "off-topic",
        }
    }

    /// Returns the fate with this word ([`Fate::as_str`]).
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let all = [
            Self::Unique,
            Self::Changed,
            Self::ExactDuplicate,
            Self::NearDuplicate,
            Self::OffTopic,
            Self::Failed,
            Self::Excluded,
        ];
        all.into_iter().find(|fate| fate.as_str() == word)
    }

    /// Returns true for a page that was admitted as an original: later pages are compared with it.
    #[must_use]
    pub const fn is_original(self) -> bool {
        matches!(self, Self::Unique | Self::Changed)
    }

    /// Returns true for a duplicate of an earlier page.
    #[must_use]
    pub const fn is_duplicate(self) -> bool {
        matches!(self, Self::ExactDuplicate | Self::NearDuplicate)
    }

    /// Returns true if a page was fetched and judged.
    #[must_use]
    pub const fn is_page(self) -> bool {
        self.is_original() || self.is_duplicate() || matches!(self, Self::OffTopic)
    }
}

/// One visited URL. The order of the fields is on disk (postcard), in the journal and in the
/// tables, so it must not change; further data about a visit is in [`VisitDetails`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitRecord {
    /// Its URL as it was queued.
    pub url: PageUrl,
    /// The final URL of its redirects, if it differs.
    pub final_url: Option<PageUrl>,
    /// The status code of the last response.
    pub status: Option<u16>,
    /// The time of the last request, or of the decision not to send one.
    pub fetched_at: Timestamp,
    /// Number of links from a seed.
    pub depth: u32,
    /// The page that it was found on.
    pub via: Option<PageUrl>,
    /// The media type, without parameters.
    pub content_type: Option<String>,
    /// Payload bytes as received.
    pub bytes: u64,
    /// The character set of the encoded text.
    pub charset: Option<String>,
    /// The language, by ISO 639-1.
    pub language: Option<String>,
    /// The document's title.
    pub title: Option<String>,
    /// The outcome.
    pub fate: Fate,
    /// The page that it duplicates, or the page whose new version it is.
    pub duplicate_of: Option<PageUrl>,
    /// Distance in bits between the two fingerprints.
    pub distance: Option<u32>,
    /// Estimated resemblance of the two texts, 0 to 1.
    pub resemblance: Option<f64>,
    /// The text's fingerprint.
    pub fingerprint: Option<Fingerprint>,
    /// The rule or failure that decided.
    pub reason: Option<Reason>,
    /// The archive file with the page, or with the record of why it was not.
    pub warc_file: Option<String>,
    /// The offset in that file.
    pub warc_offset: Option<u64>,
    /// True if the archive has the response of this visit; false if it was not kept, or if the
    /// archive already had the same bytes.
    pub kept: bool,
    /// True if `duplicate_of` is a page of an earlier crawl that counts as seen.
    pub of_earlier: bool,
    /// The URL that the page names as its canonical page, if it differs.
    pub canonical: Option<PageUrl>,
    /// Number of steps from the page that needs it ([`crate::DiscoveredUrl::requisite`]); 0 for a
    /// page.
    pub requisite: u8,
    /// The name of the page's payload in the index (the first 128 bits of its SHA-1), even if the
    /// archive does not have it.
    pub payload: Option<u128>,
    /// Further details. In the journal, they follow the record.
    #[serde(skip)]
    pub details: VisitDetails,
}

impl VisitRecord {
    /// Returns the record of a visit without a response.
    #[must_use]
    pub fn new(page: DiscoveredUrl, fate: Fate, at: Timestamp) -> Self {
        Self {
            url: page.url,
            final_url: None,
            status: None,
            fetched_at: at,
            depth: page.depth,
            via: page.via,
            content_type: None,
            bytes: 0,
            charset: None,
            language: None,
            title: None,
            fate,
            duplicate_of: None,
            distance: None,
            resemblance: None,
            fingerprint: None,
            reason: None,
            warc_file: None,
            warc_offset: None,
            kept: false,
            of_earlier: false,
            canonical: None,
            requisite: page.requisite,
            payload: None,
            details: VisitDetails {
                off_scope: page.off_scope,
                ..VisitDetails::default()
            },
        }
    }

    /// Returns the URL as it was queued, without its priority.
    #[must_use]
    pub fn discovered(&self) -> DiscoveredUrl {
        DiscoveredUrl::new(self.url.clone(), self.depth, self.via.clone())
            .needed(self.requisite)
            .off_scope(self.details.off_scope)
    }

    /// Returns the name of the page's content: its body without content codings. A server that
    /// compresses each response may encode the same content differently each time. A body that was
    /// not decoded is its own content.
    #[must_use]
    pub fn content(&self) -> Option<u128> {
        self.details.content.or(self.payload)
    }

    /// Returns the text of the reason, for people.
    #[must_use]
    pub fn reason_text(&self) -> Option<String> {
        self.reason.as_ref().map(ToString::to_string)
    }

    /// Returns true if the last response had a page, even if it was not archived.
    #[must_use]
    pub fn has_page_status(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns true if a page, not a requisite, was fetched and judged.
    #[must_use]
    pub const fn is_page(&self) -> bool {
        self.requisite == 0 && self.fate.is_page()
    }

    /// Returns true if the archive has the page with its text: false if the page was not kept, or
    /// if its bytes are archived elsewhere.
    #[must_use]
    pub const fn has_page(&self) -> bool {
        self.kept && self.fate.is_page() && self.warc_file.is_some()
    }

    /// Returns the archive file and the offset of the record with the judged content of the page:
    /// its response, or its DOM after its scripts ran. `None` if the archive has no record of it.
    #[must_use]
    pub fn content_place(&self) -> Option<(&str, u64)> {
        let file = self.warc_file.as_deref()?;
        let offset = self.dom_offset().or(self.warc_offset)?;
        Some((file, offset))
    }

    /// Returns the offset of the record with the DOM of a rendered page.
    #[must_use]
    pub const fn dom_offset(&self) -> Option<u64> {
        match self.details.rendered {
            Some(Rendered::Dom { offset, .. }) => offset,
            Some(Rendered::Failed(_)) | None => None,
        }
    }

    /// Returns true if a page needs its scripts, and was judged without running them.
    #[must_use]
    pub const fn is_unrendered_shell(&self) -> bool {
        self.details.needs_scripts && !self.is_rendered()
    }

    /// Returns true if the page was judged by its DOM, after its scripts ran.
    #[must_use]
    pub const fn is_rendered(&self) -> bool {
        matches!(self.details.rendered, Some(Rendered::Dom { .. }))
    }

    /// Returns true if scripts show more than the page as received: they did when they were run, or
    /// the page has next to no text without them.
    #[must_use]
    pub const fn shows_more_by_scripts(&self) -> bool {
        match self.details.rendered {
            Some(Rendered::Dom { adds, .. }) => adds,
            Some(Rendered::Failed(_)) | None => self.details.needs_scripts,
        }
    }

    /// Returns true if the page was compared with the topic of a focused crawl.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        let has_relevance = self.details.relevance.is_some();
        self.is_page() && (has_relevance || self.fate == Fate::OffTopic)
    }

    /// Returns true for a page that needs its scripts, and has the same bytes as a page under
    /// another path. The archive has a `revisit`; whether the page says something new is unknown.
    #[must_use]
    pub const fn is_repeated_shell(&self) -> bool {
        self.is_unrendered_shell() && matches!(self.fate, Fate::Unique) && !self.kept
    }

    /// Returns true if a host has no `/favicon.ico`. A page that names no icon implies it
    /// ([`web::Link::is_implied`]), so it is not missing.
    #[must_use]
    pub fn is_absent_icon(&self) -> bool {
        matches!(self.status, Some(404 | 410)) && self.url.as_url().path() == "/favicon.ico"
    }

    /// Returns true for a page that repeats its own capture by an earlier crawl.
    #[must_use]
    pub fn repeats_itself(&self) -> bool {
        self.of_earlier && self.duplicate_of.as_ref() == Some(&self.url)
    }

    /// Returns the rule that found the page to be a duplicate; `None` if it is not one. A record
    /// rebuilt from an archive without the rule has the usual rule.
    #[must_use]
    pub fn duplicate_rule(&self) -> Option<DuplicateRule> {
        self.details.rule.or(match self.fate {
            Fate::ExactDuplicate => Some(DuplicateRule::SameBytes),
            Fate::NearDuplicate => Some(DuplicateRule::Near),
            Fate::Unique | Fate::Changed | Fate::OffTopic | Fate::Failed | Fate::Excluded => None,
        })
    }

    /// Returns the kind of the URL: `page`, `requisite`, `sitemap`, or `robots` for a robots.txt
    /// that was found as a link.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.requisite > 0 {
            "requisite"
        } else if self.details.is_sitemap {
            "sitemap"
        } else if self.url.as_url().path() == "/robots.txt" {
            "robots"
        } else {
            "page"
        }
    }

    /// Returns the page as the near-duplicate index knows it.
    #[must_use]
    pub fn page(&self) -> Page {
        Page {
            url: self.url.clone(),
            final_url: self.final_url.clone().unwrap_or_else(|| self.url.clone()),
            at: self.fetched_at,
        }
    }
}
