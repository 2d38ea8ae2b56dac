//! The seam behind which admitted pages and their signatures are remembered.

use async_trait::async_trait;
use neardup::{Likeness, PageSignature};
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

use crate::fault::StoreFault;

/// A page to be admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its URL as it was queued, which identifies the page.
    pub url: PageUrl,
    /// The URL of its text, after redirects.
    pub final_url: PageUrl,
    /// The time of the request.
    pub at: Timestamp,
}

impl Page {
    /// Returns the key of its URL, its name in the tables.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        self.url.key()
    }
}

/// The original that a page repeats. `P` names pages: `Page`, or an index's own reference to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Original<P = Page> {
    /// The page that was admitted first.
    pub page: P,
    /// The kind and degree of their likeness.
    pub likeness: Likeness,
    /// True if it is a page of an earlier crawl that counts as seen. It can have the same URL as
    /// the page that repeats it: the page is unchanged then.
    pub earlier: bool,
    /// The kept page with the same bytes, if there is one: the original, or a retained duplicate of
    /// it.
    pub bytes: Option<P>,
    /// True if it was found only because the page names it, or a retained duplicate of it, as its
    /// canonical page.
    pub by_canonical: bool,
}

impl<P: Copy> Original<P> {
    /// Returns the same with the pages that `page` returns for its references.
    pub(crate) fn try_map<Q, E>(&self, page: impl Fn(P) -> Result<Q, E>) -> Result<Original<Q>, E> {
        Ok(Original {
            page: page(self.page)?,
            likeness: self.likeness,
            earlier: self.earlier,
            bytes: self.bytes.map(page).transpose()?,
            by_canonical: self.by_canonical,
        })
    }
}

/// An earlier crawl's capture of a page's URL, in other bytes than the page has now. `P` names
/// pages, as in [`Original`].
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierCapture<P = Page> {
    /// The captured page.
    pub page: P,
    /// Bits between the fingerprints of the two texts; none where one of them is no text.
    pub distance: Option<u32>,
    /// The estimated resemblance of the two texts, 0 to 1; none where one of them is no text, or
    /// too short for an estimate.
    pub resemblance: Option<f64>,
}

impl<P: Copy> EarlierCapture<P> {
    /// Returns the same with the page that `page` returns for its reference.
    pub(crate) fn try_map<Q, E>(
        &self,
        page: impl Fn(P) -> Result<Q, E>,
    ) -> Result<EarlierCapture<Q>, E> {
        Ok(EarlierCapture {
            page: page(self.page)?,
            distance: self.distance,
            resemblance: self.resemblance,
        })
    }
}

/// The rank of a duplicate that is kept beside its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainedDuplicate {
    /// Its rank in the cluster, from 2; the original has rank 1.
    pub rank: u32,
    /// The number of pages of a cluster that are kept: `LikenessRules::per_cluster`.
    pub of: u32,
}

/// The result of [`NearDupIndex::admit`].
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No known page is like it. It is an original from now on.
    Unique,
    /// The same page was admitted by an earlier visit that did not end; it is still new.
    Own,
    /// It repeats an earlier page.
    Duplicate(Box<Original>),
    /// It repeats an earlier page, and is one of the first of its cluster, which are kept.
    Retained(Box<Original>, RetainedDuplicate),
    /// An earlier crawl archived other bytes under its URL. It is a new version of that page, and
    /// is kept like a new page.
    Changed(Box<EarlierCapture>),
}

/// The index of admitted pages and their signatures.
#[doc(alias = "near-duplicate")]
#[async_trait]
pub trait NearDupIndex: Send + Sync {
    /// Judges a page and remembers it if it is new, in one atomic step: of any number of like pages
    /// that are admitted at the same time exactly one is [`Verdict::Unique`].
    ///
    /// - Idempotent: the same URL again is [`Verdict::Own`] while its signature is like the
    ///   admitted one, or [`Verdict::Retained`] with the same rank, whatever its signature, or
    ///   [`Verdict::Changed`] from the same capture. A page is never its own duplicate.
    /// - A page that was admitted and whose signature is no longer like the admitted one is
    ///   forgotten, as by [`NearDupIndex::forget`], and judged anew: the text that other pages
    ///   repeat will not be archived.
    /// - Pages are compared with originals only: a duplicate points at an original, never at
    ///   another duplicate.
    /// - [`Verdict::Duplicate`] is returned only once the admission of the original is durable, and
    ///   that of [`Original::bytes`].
    /// - Pages are compared within the crawl, a domain or a host, by
    ///   [`LikenessRules::scope`](crate::LikenessRules::scope).
    /// - Of the pages that repeat an original in other bytes, the first are retained, until
    ///   [`LikenessRules::per_cluster`](crate::LikenessRules::per_cluster) pages of the cluster are
    ///   kept. No two pages of a cluster have the same rank, however many are admitted at the same
    ///   time. The same bytes again take no rank.
    /// - The kept pages of [`EarlierCrawls`](crate::embedded::EarlierCrawls) count as admitted. A
    ///   page with the bytes that such a crawl archived under its own URL is a duplicate of that
    ///   capture, whatever other pages it is like, and takes no rank.
    /// - A page whose URL was archived by such a crawl in other bytes is [`Verdict::Changed`],
    ///   whatever it is like: it becomes an original, and is compared with the newest capture of
    ///   its URL.
    /// - `canonical` is the URL that the page names as its canonical page. It counts where the page
    ///   is like no known page: if that URL is an original by then, or a retained duplicate, the
    ///   page is compared with the original under weaker thresholds
    ///   ([`Thresholds::likeness_to_canonical`](neardup::Thresholds::likeness_to_canonical)). The
    ///   URL of another registrable domain, or of the page itself, does not count. A wrong claim
    ///   therefore affects only the page that makes it, and only if the two are nearly alike.
    ///
    /// # Errors
    /// A fault of the store.
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault>;

    /// Revokes an admission or frees a rank, because the page was not kept after all. An unknown
    /// page is not an error.
    ///
    /// # Errors
    /// A fault of the store.
    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault>;

    /// Separates two pages that are not alike by the word of a user. From now on neither is ever a
    /// duplicate of the other, in this session and in later ones; other pages are compared with
    /// both. Verdicts that were given before stay. Idempotent.
    ///
    /// # Errors
    /// A fault of the store.
    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault>;

    /// Returns true for pages that [`NearDupIndex::separate`] has separated.
    fn are_separate(&self, page: UrlKey, original: UrlKey) -> bool;
}
