//! The interface to the memory of admitted pages and their signatures.

use async_trait::async_trait;
use journal::{Page, StoreFault};
use neardup::{MatchKind, PageSignature};
use web::{PageUrl, UrlKey};

/// The original that a page repeats. `P` names pages: `Page`, or an index's own reference to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Original<P = Page> {
    /// The page that was admitted first.
    pub page: P,
    /// The kind and degree of the match.
    pub match_kind: MatchKind,
    /// True if it is a page of an earlier crawl that counts as seen. It can have the same URL as
    /// the page that repeats it; then the page is unchanged.
    pub earlier: bool,
    /// The kept page with the same bytes, if there is one: the original, or a retained duplicate of
    /// it.
    pub bytes: Option<P>,
    /// True if it was found only because the page names it, or a retained duplicate of it, as its
    /// canonical page.
    pub by_canonical: bool,
}

impl<P: Copy> Original<P> {
    /// Returns the same value with references replaced by the pages that `page` returns for them.
    ///
    /// # Errors
    /// The first error of `page`.
    pub fn try_map<Q, E>(&self, page: impl Fn(P) -> Result<Q, E>) -> Result<Original<Q>, E> {
        Ok(Original {
            page: page(self.page)?,
            match_kind: self.match_kind,
            earlier: self.earlier,
            bytes: self.bytes.map(page).transpose()?,
            by_canonical: self.by_canonical,
        })
    }
}

/// An earlier crawl's capture of a page's URL, with bytes that differ from the page's current ones.
/// `P` names pages, as in [`Original`].
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierCapture<P = Page> {
    /// The captured page.
    pub page: P,
    /// Distance in bits between the fingerprints of the two texts; `None` if either page lacks
    /// text.
    pub distance: Option<u32>,
    /// Estimated resemblance of the two texts, 0 to 1; `None` if either page lacks text, or has too
    /// little for an estimate.
    pub resemblance: Option<f64>,
}

impl<P: Copy> EarlierCapture<P> {
    /// Returns the same value with the reference replaced by the page that `page` returns for it.
    ///
    /// # Errors
    /// The error of `page`.
    pub fn try_map<Q, E>(&self, page: impl Fn(P) -> Result<Q, E>) -> Result<EarlierCapture<Q>, E> {
        Ok(EarlierCapture {
            page: page(self.page)?,
            distance: self.distance,
            resemblance: self.resemblance,
        })
    }
}

/// The rank of a duplicate that is kept along with its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainedDuplicate {
    /// Its rank in the cluster, from 2; the original has rank 1.
    pub rank: u32,
    /// Number of pages of a cluster that are kept: `ComparisonOptions::per_cluster`.
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
    /// An earlier crawl archived other bytes under its URL. The page is a new version, and is kept
    /// like a new page.
    Changed(Box<EarlierCapture>),
}

/// The index of admitted pages and their signatures.
#[doc(alias = "near-duplicate")]
#[async_trait]
pub trait NearDupIndex: Send + Sync {
    /// Judges a page and remembers it if it is new, in one atomic step: of any number of like pages
    /// that are admitted concurrently, exactly one is [`Verdict::Unique`].
    ///
    /// - Idempotent: the same URL again is [`Verdict::Own`] while its signature is like the
    ///   admitted one, or [`Verdict::Retained`] with the same rank, regardless of its signature, or
    ///   [`Verdict::Changed`] from the same capture. A page is never its own duplicate.
    /// - If an admitted page comes back with a signature that is not like the admitted one, it is
    ///   forgotten, as by [`NearDupIndex::forget`], and judged again. The reason is that the text
    ///   that other pages repeat will not be archived.
    /// - Pages are compared with originals only: a duplicate points at an original, never at
    ///   another duplicate.
    /// - [`Verdict::Duplicate`] is returned only once the admissions of the original and of
    ///   [`Original::bytes`] are durable.
    /// - Pages are compared within the crawl, a domain or a host, depending on
    ///   [`ComparisonOptions::scope`](crate::ComparisonOptions::scope).
    /// - The first pages that repeat an original in other bytes are retained, until
    ///   [`ComparisonOptions::per_cluster`](crate::ComparisonOptions::per_cluster) pages of the
    ///   cluster are kept. No two pages of a cluster have the same rank, even if they are admitted
    ///   concurrently. A copy with the same bytes takes no rank.
    /// - The kept pages of [`EarlierCrawls`](crate::EarlierCrawls) count as admitted. If
    ///   an earlier crawl archived the page's bytes under the page's own URL, the page is a
    ///   duplicate of that capture and takes no rank, even if other pages are like it.
    /// - If an earlier crawl archived other bytes under the page's URL, the page is
    ///   [`Verdict::Changed`], even if other pages are like it. It becomes an original, and is
    ///   compared with the newest capture of its URL.
    /// - `canonical` is the URL that the page names as its canonical page. It counts if the page is
    ///   like no known page and the URL is an original by then, or a retained duplicate. The page
    ///   is then compared with the original under weaker thresholds
    ///   ([`Thresholds::match_kind_to_canonical`](neardup::Thresholds::match_kind_to_canonical)). A
    ///   URL of another registrable domain, or of the page itself, does not count. A wrong claim
    ///   therefore affects only the page that makes it, and only if the two are nearly the same.
    ///
    /// # Errors
    /// A fault of the store.
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault>;

    /// Revokes an admission or frees a rank, because the page was not kept in the end. An unknown
    /// page is not an error.
    ///
    /// # Errors
    /// A fault of the store.
    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault>;

    /// Separates two pages that a user declares to be different. From now on neither is ever a
    /// duplicate of the other, in this session and in later ones; other pages are compared with
    /// both. Earlier verdicts stay. Idempotent.
    ///
    /// # Errors
    /// A fault of the store.
    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault>;

    /// Returns true for pages that [`NearDupIndex::separate`] has separated.
    fn are_separate(&self, page: UrlKey, original: UrlKey) -> bool;
}
