//! The seam behind which likeness is remembered.

use async_trait::async_trait;
use neardup::{Likeness, PageSignature};
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

use crate::StoreFault;

/// A page that asks to be admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// As it was queued: this names the page.
    pub url: PageUrl,
    /// Where its text was found, after redirects.
    pub final_url: PageUrl,
    /// When it was asked for.
    pub at: Timestamp,
}

impl Page {
    /// The page's name in the tables.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        self.url.key()
    }
}

/// The page that an admitted page turned out to repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// The page that was admitted first.
    pub page: Page,
    /// In what the two are alike.
    pub likeness: Likeness,
    /// Whether it is a page of an earlier crawl that counts as seen. It can be the same URL then:
    /// that page repeats itself.
    pub earlier: bool,
    /// The page that has the very same bytes, where one was kept: the original, or a page that was
    /// let through beside it.
    pub bytes: Option<Page>,
    /// Whether it was found only because the page calls it canonical, or one that was let through
    /// beside it.
    pub by_canonical: bool,
}

/// An earlier crawl's capture of a page's URL, in other bytes than the page has now.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierCapture {
    /// The page as it was then.
    pub page: Page,
    /// Bits between the fingerprints of the two texts; none where one of them is no text.
    pub distance: Option<u32>,
    /// The estimated resemblance of the two texts, 0 to 1; none where one of them is no text, or
    /// too short for an estimate.
    pub resemblance: Option<f64>,
}

/// A page that is kept although it repeats another: its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainedDuplicate {
    /// Which one of its kind it is; the original is the first.
    pub number: u32,
    /// How many of a kind are kept.
    pub of: u32,
}

/// What `admit` decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing like it was known; from now on it is.
    Unique,
    /// This very page was admitted before, by a visit that did not end: it is still new.
    Own,
    /// It repeats an earlier page.
    Duplicate(Box<Original>),
    /// It repeats an earlier page, and is one of the few of its kind that are kept all the same.
    LetThrough(Box<Original>, RetainedDuplicate),
    /// An earlier crawl archived other bytes under its URL: it is a new version of that page, and
    /// is kept like a new page.
    Changed(Box<EarlierCapture>),
}

/// Which pages were admitted, and what they looked like.
#[async_trait]
pub trait NearDupIndex: Send + Sync {
    /// Decides whether a page is new, and remembers it if so: one step, so that of any number of
    /// like pages that are admitted at the same time exactly one is [`Verdict::Unique`].
    ///
    /// - Idempotent: the same URL again is [`Verdict::Own`] as long as it looks like what was
    ///   admitted, or [`Verdict::LetThrough`] to the same seat, whatever it looks like now, or
    ///   [`Verdict::Changed`] from the same capture; a page is never its own duplicate.
    /// - A page that was admitted and looks different now is forgotten, as by
    ///   [`NearDupIndex::forget`], and then judged like one that was never seen: what others repeat
    ///   of it will not be archived.
    /// - Only unique pages are compared with: a duplicate points at an original, never at another
    ///   duplicate.
    /// - [`Verdict::Duplicate`] is given only once the original's own admission is durable, and
    ///   that of [`Original::bytes`].
    /// - Pages are compared within the crawl, a domain or a host, as
    ///   [`LikenessRules::scope`](crate::LikenessRules::scope) says.
    /// - Of the pages that repeat an original in other bytes, the first ones are let through, until
    ///   [`LikenessRules::per_cluster`](crate::LikenessRules::per_cluster) pages of that kind are
    ///   kept; however many are admitted at the same time, no two have one seat. The same bytes
    ///   again take no seat.
    /// - The kept pages of an [`Earlier`](crate::embedded::Earlier) crawl count as admitted. A page
    ///   with the bytes that such a crawl archived under its own URL is a duplicate of that
    ///   capture, whatever else it is like, and takes no seat.
    /// - A page whose URL was archived by such a crawl in other bytes is [`Verdict::Changed`],
    ///   whatever it is like: it is remembered as an original, and compared with the newest capture
    ///   of its URL.
    /// - `canonical` is what the page calls its canonical page. It is asked where the page is like
    ///   nothing else: if that page is an original by then, or was let through beside one, the page
    ///   is compared with the original, and need be less like it
    ///   ([`Thresholds::likeness_to_canonical`](neardup::Thresholds::likeness_to_canonical)). A
    ///   page of another registrable domain, or the page itself, is no canonical page. So a wrong
    ///   word can cost only the page that says it, and only if it nearly is what it says.
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault>;

    /// Takes an admission back, or gives a seat free, because the page could not be had after all.
    /// Unknown pages are no error.
    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault>;
}
