//! The known pages of a crawl, and the decision on the next page. All stores share this module:
//! they differ in how they remember pages, not in their decisions.
//!
//! There are three kinds of known pages: originals, which new pages are compared with; retained
//! duplicates, which only hold a rank; and the pages of an earlier crawl. This module uses short
//! references to pages; the store has the pages themselves. Each store has its own implementation
//! of [`Originals`], by far the most numerous kind.
//!
//! Invariant: the ranks of retained duplicates are 2 to `per_cluster`, and no two pages of a
//! cluster have the same rank. (A crawl that is continued with a smaller `per_cluster` keeps the
//! ranks that it has assigned.)

use std::collections::HashMap;
use std::sync::Arc;

use journal::{Page, StoreFault};
use neardup::{HashKey, MatchKind, PageSignature};
use serde::{Deserialize, Serialize};
use web::{PageUrl, UrlKey};

use crate::embedded::earlier::{Capture, EarlierCrawls};
use crate::near_dup::{EarlierCapture, Original};
use crate::rules::{ComparisonOptions, certainty};

/// The originals: the pages that new pages are compared with, and their signatures.
pub trait Originals {
    /// Returns the signature of `page`, if it is an original.
    ///
    /// # Errors
    /// A fault of the store.
    fn signature_of(&mut self, page: UrlKey) -> Result<Option<PageSignature>, StoreFault>;

    /// Returns the signature of `page`, if it is an original of this group.
    ///
    /// # Errors
    /// A fault of the store.
    fn held_in(
        &mut self,
        group: u64,
        page: UrlKey,
    ) -> Result<Option<(Held, PageSignature)>, StoreFault>;

    /// Returns the original of this group that is like `signature`, with the preference of
    /// [`neardup::SignatureIndex::find_in`]. The first with the same payload wins, else the first
    /// with the same text, else the near duplicate with the highest resemblance; ties go to the
    /// earliest. Pages in `except` are skipped.
    ///
    /// # Errors
    /// A fault of the store.
    fn find_in(
        &mut self,
        group: u64,
        signature: &PageSignature,
        except: &[UrlKey],
    ) -> Result<Option<(Held, MatchKind)>, StoreFault>;

    /// Adds a page that is not an original yet.
    fn insert_in(&mut self, group: u64, page: Held, signature: PageSignature);

    /// Forgets a page. Returns false if it was not an original.
    ///
    /// # Errors
    /// A fault of the store.
    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault>;
}

/// The signatures of all known pages.
pub struct Known<O> {
    rules: ComparisonOptions,
    key: HashKey,
    originals: O,
    /// Retained duplicates.
    retained: HashMap<UrlKey, RetainedEntry>,
    /// The ranks taken in each cluster that has any, in ascending order.
    taken: HashMap<Cluster, Vec<u32>>,
    /// The retained duplicate with these bytes, within a group.
    copies: HashMap<(u64, u128), Held>,
    /// The pages that a page is never compared with, because a user separated them. Symmetric.
    distinct: HashMap<UrlKey, Vec<UrlKey>>,
    earlier: Option<Arc<EarlierCrawls>>,
}

/// A page of this crawl, with its place in the store, a number that only the store can interpret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The key of its URL.
    pub key: UrlKey,
    /// Its place.
    pub place: u64,
}

/// The key of a cluster. A URL can be an original in both crawls, with different texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cluster {
    /// The key of the original's URL.
    pub original: UrlKey,
    /// True if the original is a page of an earlier crawl.
    pub earlier: bool,
}

/// A retained duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetainedEntry {
    /// The place of its record in the store.
    pub place: u64,
    /// Its cluster.
    pub cluster: Cluster,
    /// Its rank in the cluster.
    pub rank: u32,
    /// Its group and payload.
    pub copy: (u64, u128),
}

/// The store's reference to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRef {
    /// A page of this crawl.
    Current(Held),
    /// The page of the earlier crawl with this number.
    Earlier(u32),
}

/// The decision on a page, and the step that the store has to take.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The page was admitted before.
    Own,
    /// The page was admitted before with a signature that is not like this one: the store forgets
    /// it and judges it again.
    Forget,
    /// The page is a retained duplicate; the store finds its record at this place.
    Retained(u64),
    /// No known page is like it; the store admits it.
    New,
    /// It repeats a known page.
    Duplicate(Original<PageRef>),
    /// It repeats a known page, and the store retains it at this rank.
    Retain(Original<PageRef>, u32),
    /// An earlier crawl archived other bytes under its URL. `is_admitted` is true if a visit that
    /// did not end has admitted these bytes.
    Version {
        /// The newest capture.
        capture: EarlierCapture<u32>,
        /// True if these bytes are admitted.
        is_admitted: bool,
    },
}

impl<O: Originals> Known<O> {
    /// Returns the known pages of a crawl that begins, with these originals.
    #[must_use]
    pub fn new(
        rules: ComparisonOptions,
        key: HashKey,
        originals: O,
        earlier: Option<Arc<EarlierCrawls>>,
    ) -> Self {
        let mut taken: HashMap<Cluster, Vec<u32>> = HashMap::new();
        for (original, number) in earlier.iter().flat_map(|earlier| earlier.retained()) {
            let cluster = Cluster {
                original,
                earlier: true,
            };
            take(taken.entry(cluster).or_default(), number);
        }
        Self {
            rules,
            key,
            originals,
            retained: HashMap::new(),
            taken,
            copies: HashMap::new(),
            distinct: HashMap::new(),
            earlier,
        }
    }

    /// Returns the number of pages of a cluster that are kept.
    #[must_use]
    pub fn per_cluster(&self) -> u32 {
        self.rules.per_cluster.get()
    }

    /// Returns the earlier crawl that gave out a [`PageRef::Earlier`].
    #[must_use]
    pub fn earlier(&self) -> &EarlierCrawls {
        self.earlier
            .as_deref()
            .expect("only an earlier crawl gives out its numbers")
    }

    /// Returns the cluster of an original.
    #[must_use]
    pub fn cluster(&self, of: PageRef) -> Cluster {
        let (original, earlier) = match of {
            PageRef::Current(original) => (original.key, false),
            PageRef::Earlier(number) => (self.earlier().key_of(number), true),
        };
        Cluster { original, earlier }
    }

    /// Returns the decision on a page with this signature.
    ///
    /// # Errors
    /// Errors of the originals.
    pub fn judge(
        &mut self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Decision, StoreFault> {
        let key = page.key();
        let earlier = self.earlier.as_deref();
        if let Some(capture) = earlier.and_then(|earlier| earlier.capture(key, signature)) {
            return self.judge_by_capture(key, signature, capture);
        }
        if let Some(admitted) = self.originals.signature_of(key)? {
            return Ok(
                match self.rules.thresholds.match_kind(signature, &admitted) {
                    Some(_) => Decision::Own,
                    None => Decision::Forget,
                },
            );
        }
        if let Some(retained) = self.retained.get(&key) {
            return Ok(Decision::Retained(retained.place));
        }
        let group = self.group(page);
        let except = self.distinct.get(&key).cloned().unwrap_or_default();
        let mut nearest = self.nearest(group, signature, &except)?;
        let is_like_others = nearest.is_some();
        if !is_like_others
            && let Some(canonical) = canonical.filter(|url| may_be_canonical(url, page))
        {
            nearest = self
                .called_canonical(group, canonical.key(), signature)?
                .filter(|(of, _)| !except.contains(&self.cluster(*of).original));
        }
        let Some((of, match_kind)) = nearest else {
            return Ok(Decision::New);
        };
        let bytes = match match_kind {
            MatchKind::SamePayload => Some(of),
            MatchKind::SameText | MatchKind::Near { .. } => self.copy_of(group, signature.payload),
        };
        let original = Original {
            page: of,
            match_kind,
            earlier: matches!(of, PageRef::Earlier(_)),
            bytes,
            by_canonical: !is_like_others,
        };
        // A copy with the same bytes takes no rank.
        Ok(match self.free_rank(of).filter(|_| bytes.is_none()) {
            Some(rank) => Decision::Retain(original, rank),
            None => Decision::Duplicate(original),
        })
    }

    /// Judges a page whose URL an earlier crawl archived. Only that capture counts, even if other
    /// pages are like it.
    fn judge_by_capture(
        &mut self,
        key: UrlKey,
        signature: &PageSignature,
        capture: Capture,
    ) -> Result<Decision, StoreFault> {
        let capture = match capture {
            // A visit that did not end found other bytes here.
            Capture::SameBytes(_) if self.knows(key)? => return Ok(Decision::Forget),
            Capture::SameBytes(number) => {
                let of = PageRef::Earlier(number);
                return Ok(Decision::Duplicate(Original {
                    page: of,
                    match_kind: MatchKind::SamePayload,
                    earlier: true,
                    bytes: Some(of),
                    by_canonical: false,
                }));
            }
            Capture::OtherBytes(capture) => capture,
        };
        let is_admitted = match self.originals.signature_of(key)? {
            Some(admitted) if admitted.payload != signature.payload => return Ok(Decision::Forget),
            Some(_) => true,
            None if self.is_retained(key) => return Ok(Decision::Forget),
            None => false,
        };
        Ok(Decision::Version {
            capture,
            is_admitted,
        })
    }

    /// Returns the group of a page: only pages of one group are compared.
    #[must_use]
    pub fn group(&self, page: &Page) -> u64 {
        self.rules.group(page, self.key)
    }

    /// Adds an original, whose record the store finds at `place`.
    pub fn admit(&mut self, page: &Page, signature: PageSignature, place: u64) {
        let held = Held {
            key: page.key(),
            place,
        };
        self.originals.insert_in(self.group(page), held, signature);
    }

    /// Adds a retained duplicate.
    pub fn retain(&mut self, page: UrlKey, retained: RetainedEntry) {
        take(
            self.taken.entry(retained.cluster).or_default(),
            retained.rank,
        );
        let held = Held {
            key: page,
            place: retained.place,
        };
        self.copies.entry(retained.copy).or_insert(held);
        self.retained.insert(page, retained);
    }

    /// Separates two pages: they are never compared again.
    pub fn separate(&mut self, one: UrlKey, other: UrlKey) {
        for (page, other) in [(one, other), (other, one)] {
            let others = self.distinct.entry(page).or_default();
            if !others.contains(&other) {
                others.push(other);
            }
        }
    }

    /// Returns true for pages that were separated.
    #[must_use]
    pub fn are_separate(&self, one: UrlKey, other: UrlKey) -> bool {
        let others = self.distinct.get(&one);
        others.is_some_and(|others| others.contains(&other))
    }

    /// Returns true for a retained duplicate.
    pub(crate) fn is_retained(&self, page: UrlKey) -> bool {
        self.retained.contains_key(&page)
    }

    /// Returns true for a known page of this crawl.
    pub(crate) fn knows(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        Ok(self.is_retained(page) || self.originals.signature_of(page)?.is_some())
    }

    /// Forgets a page of any kind. Returns false if it was not known.
    ///
    /// # Errors
    /// Errors of the originals.
    pub fn forget(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        let Some(RetainedEntry {
            cluster,
            rank,
            copy,
            ..
        }) = self.retained.remove(&page)
        else {
            return self.originals.remove(page);
        };
        if let Some(numbers) = self.taken.get_mut(&cluster) {
            numbers.retain(|taken| *taken != rank);
        }
        if self.copies.get(&copy).is_some_and(|held| held.key == page) {
            self.copies.remove(&copy);
        }
        Ok(true)
    }

    /// Returns all retained duplicates, in no particular order.
    pub(crate) fn retained(&self) -> impl Iterator<Item = (UrlKey, &RetainedEntry)> {
        self.retained
            .iter()
            .map(|(page, retained)| (*page, retained))
    }

    pub(crate) fn originals(&self) -> &O {
        &self.originals
    }

    pub(crate) fn originals_mut(&mut self) -> &mut O {
        &mut self.originals
    }

    /// Returns the original with the most certain match that is not in `except`. On a tie, the
    /// original from the earlier crawl wins.
    fn nearest(
        &mut self,
        group: u64,
        signature: &PageSignature,
        except: &[UrlKey],
    ) -> Result<Option<(PageRef, MatchKind)>, StoreFault> {
        let ours = self
            .originals
            .find_in(group, signature, except)?
            .map(|(held, match_kind)| (PageRef::Current(held), match_kind));
        let earlier = self.earlier.as_deref();
        let theirs = earlier.and_then(|earlier| earlier.find(group, signature, except));
        Ok(more_certain(theirs.map(of_earlier), ours))
    }

    /// Returns the original that a page is like under the weaker thresholds for its canonical page:
    /// the canonical page itself, or the original in whose cluster it was retained. On a tie, the
    /// original from the earlier crawl wins.
    fn called_canonical(
        &mut self,
        group: u64,
        canonical: UrlKey,
        signature: &PageSignature,
    ) -> Result<Option<(PageRef, MatchKind)>, StoreFault> {
        let thresholds = self.rules.thresholds;
        let retained = self.retained.get(&canonical);
        let original = retained.map_or(canonical, |retained| retained.cluster.original);
        let ours = self.originals.held_in(group, original)?;
        let ours = ours.and_then(|(held, admitted)| {
            let match_kind = thresholds.match_kind_to_canonical(signature, &admitted)?;
            Some((PageRef::Current(held), match_kind))
        });
        let earlier = self.earlier.as_deref();
        let theirs =
            earlier.and_then(|earlier| earlier.called_canonical(group, original, signature));
        Ok(more_certain(theirs.map(of_earlier), ours))
    }

    fn copy_of(&self, group: u64, payload: u128) -> Option<PageRef> {
        let ours = self.copies.get(&(group, payload)).copied();
        let theirs = || self.earlier.as_deref()?.copy_of(group, payload);
        ours.map(PageRef::Current)
            .or_else(|| theirs().map(PageRef::Earlier))
    }

    fn free_rank(&self, of: PageRef) -> Option<u32> {
        let taken = self.taken.get(&self.cluster(of));
        first_gap(taken.map_or(&[], Vec::as_slice)).filter(|number| *number <= self.per_cluster())
    }
}

/// Returns true for a canonical page that the page may choose: it must have the same registrable
/// domain. Otherwise a stranger's page could become an original by its own claim.
fn may_be_canonical(url: &PageUrl, page: &Page) -> bool {
    *url != page.url
        && *url != page.final_url
        && url.registrable_domain() == page.final_url.registrable_domain()
}

fn of_earlier((number, match_kind): (u32, MatchKind)) -> (PageRef, MatchKind) {
    (PageRef::Earlier(number), match_kind)
}

/// Returns the more certain match; the first on a tie.
fn more_certain(
    first: Option<(PageRef, MatchKind)>,
    second: Option<(PageRef, MatchKind)>,
) -> Option<(PageRef, MatchKind)> {
    match (first, second) {
        (Some(first), Some(second)) if certainty(second.1) > certainty(first.1) => Some(second),
        (first, second) => first.or(second),
    }
}

/// The lowest rank of a retained duplicate: the original has rank 1.
const FIRST_RANK: u32 = 2;

fn take(taken: &mut Vec<u32>, number: u32) {
    if let Err(place) = taken.binary_search(&number) {
        taken.insert(place, number);
    }
}

/// Returns the lowest rank that is not taken. `taken` is ascending, without duplicates.
fn first_gap(taken: &[u32]) -> Option<u32> {
    // Up to the first gap, each rank is its index plus two; after the gap, it is higher.
    let (mut low, mut high) = (0, taken.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if taken[middle] as usize == middle + FIRST_RANK as usize {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    u32::try_from(low).ok()?.checked_add(FIRST_RANK)
}
