//! Signatures of all kept pages, searchable by similarity.
//!
//! A look-up goes from certain to uncertain: the same bytes, the same words, then candidates.
//! Candidates are pages whose fingerprint is within a few bits or whose sketch shares a band; the
//! sketches decide about them. Simhash alone finds between half and nine tenths of the wanted
//! pairs; bands find nearly all pairs that would be confirmed.
//!
//! The caller inserts only pages that it keeps, so a page is only compared with originals and
//! duplicates never form chains.
//!
//! Pages may be inserted in groups; then only pages of the same group are compared ([`Partition`]).
//! Invariant: a match belongs to the requested group, even if keys of two groups coincide.

mod equals;

use std::collections::HashMap;

use equals::Equals;

use crate::keys::table::{KeyTable, MAX_PER_KEY};
use crate::partition::Partition;
use crate::signature::{PageSignature, TextSignature};
use crate::sketch::Sketch;
use crate::tables::quarters::QuarterTables;
use crate::thresholds::{Match, MatchKind, Thresholds};

/// Maximum number of pages per band of sketches; later pages are not found by that band. This
/// bounds the work for a site whose frame fills most of every page.
pub const MAX_PER_BAND: usize = MAX_PER_KEY;

/// An index of signatures in memory. About 800 bytes per page.
///
/// ```
/// use neardup::{
///     Features, HashKey, MatchKind, Match, PageText, SignatureBuilder, SignatureIndex, Thresholds,
/// };
///
/// let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
/// let page = |payload, text| builder.signature(payload, Some(PageText::of(text)));
/// let mut index = SignatureIndex::new(Thresholds::default());
/// index.insert(7, page(1, "A page"));
/// let found = index.find(&page(2, "a page!"));
/// assert_eq!(found, Some(Match { of: 7, match_kind: MatchKind::SameText }));
/// assert_eq!(index.find(&page(2, "another page")), None);
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "near-duplicate")]
pub struct SignatureIndex {
    thresholds: Thresholds,
    /// In the order of insertion. A removed entry leaves its position empty, so that positions show
    /// which page came first.
    entries: Vec<Option<Entry>>,
    places: HashMap<u64, u32>,
    /// By half of the digest; a hit is compared with the whole digest.
    payloads: Equals,
    texts: Equals,
    tables: QuarterTables,
    /// Bands of all numbers: the key of a band includes its number.
    bands: KeyTable,
}

#[derive(Clone, Debug)]
struct Entry {
    page: u64,
    group: u64,
    signature: PageSignature,
}

impl SignatureIndex {
    /// Creates an empty index.
    #[must_use]
    pub fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            entries: Vec::new(),
            places: HashMap::new(),
            payloads: Equals::default(),
            texts: Equals::default(),
            tables: QuarterTables::new(),
            bands: KeyTable::new(),
        }
    }

    /// Returns the original that `signature` is a duplicate of, if any: the first page with the
    /// same payload, else the first with the same text, else the near duplicate with the highest
    /// resemblance. Among equal resemblances the earliest wins.
    #[must_use]
    pub fn find(&self, signature: &PageSignature) -> Option<Match> {
        self.find_in(0, signature)
    }

    /// Returns the original in `group` that `signature` is a duplicate of, as [`find`](Self::find)
    /// does.
    #[must_use]
    pub fn find_in(&self, group: u64, signature: &PageSignature) -> Option<Match> {
        let equal = self.same_payload(group, signature).next();
        if let Some(entry) = equal {
            return Some(entry.matched(MatchKind::SamePayload));
        }
        let text = signature.text.as_deref()?;
        let equal = self.same_text(group, text).next();
        if let Some(entry) = equal {
            return Some(entry.matched(MatchKind::SameText));
        }
        let mut best: Option<Match> = None;
        for (entry, match_kind) in self.near(group, text) {
            let is_better = |best: Match| match_kind.resemblance() > best.match_kind.resemblance();
            if best.is_none_or(is_better) {
                best = Some(entry.matched(match_kind));
            }
        }
        best
    }

    /// Returns all pages that `signature` is a duplicate of, the best first: pages with the same
    /// payload, pages with the same text, then near duplicates by descending resemblance. Ties are
    /// sorted by insertion, so the first result is the page that [`find`](Self::find) returns.
    ///
    /// All equal pages are found. Near duplicates are found if they are candidates (see the
    /// module); a page that only shares bands of more than [`MAX_PER_BAND`] pages may be missing.
    #[must_use]
    pub fn find_all(&self, signature: &PageSignature) -> Vec<Match> {
        self.find_all_in(0, signature)
    }

    /// Returns all pages in `group` that `signature` is a duplicate of, as
    /// [`find_all`](Self::find_all) does.
    #[must_use]
    pub fn find_all_in(&self, group: u64, signature: &PageSignature) -> Vec<Match> {
        let equal = self.same_payload(group, signature);
        let mut found: Vec<Match> = equal
            .map(|entry| entry.matched(MatchKind::SamePayload))
            .collect();
        let Some(text) = signature.text.as_deref() else {
            return found;
        };
        let has_other_payload = |entry: &&Entry| entry.signature.payload != signature.payload;
        let equal = self.same_text(group, text).filter(has_other_payload);
        found.extend(equal.map(|entry| entry.matched(MatchKind::SameText)));
        let is_other = |(entry, _): &(&Entry, _)| {
            let held = entry.signature.text.as_deref();
            has_other_payload(entry) && held.is_none_or(|held| held.digest != text.digest)
        };
        let near = self.near(group, text).filter(is_other);
        let mut near: Vec<Match> = near
            .map(|(entry, match_kind)| entry.matched(match_kind))
            .collect();
        // Stable: candidates come in the order of insertion.
        near.sort_by(|one, two| {
            let resemblances = (two.match_kind.resemblance(), one.match_kind.resemblance());
            resemblances.0.total_cmp(&resemblances.1)
        });
        found.extend(near);
        found
    }

    /// Returns the first `most` of [`find_all`](Self::find_all). To find neighbours that are not
    /// duplicates, create the index with a lower resemblance: `Thresholds::new(7, 0.3)`.
    #[must_use]
    pub fn nearest(&self, signature: &PageSignature, most: usize) -> Vec<Match> {
        let mut found = self.find_all(signature);
        found.truncate(most);
        found
    }

    /// Returns the entries of `group` with the payload of `signature`, the earliest first.
    fn same_payload(&self, group: u64, signature: &PageSignature) -> impl Iterator<Item = &Entry> {
        let payload = signature.payload;
        let places = self.payloads.under(Partition::of(group).digest(payload));
        places
            .filter_map(move |place| self.in_group(place, group))
            .filter(move |entry| entry.signature.payload == payload)
    }

    /// Returns the entries of `group` with the words of `text`, the earliest first.
    fn same_text(&self, group: u64, text: &TextSignature) -> impl Iterator<Item = &Entry> {
        let digest = text.digest;
        let places = self.texts.under(Partition::of(group).digest(digest));
        places
            .filter_map(move |place| self.in_group(place, group))
            .filter(move |entry| {
                let held = entry.signature.text.as_deref();
                held.is_some_and(|held| held.digest == digest)
            })
    }

    /// Returns the candidates of `group` that the thresholds confirm, in the order of insertion.
    /// They may include texts equal to `text`.
    fn near(&self, group: u64, text: &TextSignature) -> impl Iterator<Item = (&Entry, MatchKind)> {
        let sketch = text.sketch.as_ref();
        let candidates = sketch.map(|sketch| self.candidates(Partition::of(group), text, sketch));
        let candidates = candidates.into_iter().flatten();
        candidates.filter_map(move |place| {
            let entry = self.in_group(place, group)?;
            let held = entry.signature.text.as_deref()?;
            let match_kind = self.thresholds.nearness(text, sketch?, held)?;
            Some((entry, match_kind))
        })
    }

    /// Inserts the signature of `page`, replacing an earlier signature of the same page. If another
    /// page has the same payload or text, look-ups still find that other page.
    pub fn insert(&mut self, page: u64, signature: PageSignature) {
        self.insert_in(0, page, signature);
    }

    /// Inserts the signature of `page` in `group`: only pages of that group find it. A page has one
    /// signature in all groups together.
    pub fn insert_in(&mut self, group: u64, page: u64, signature: PageSignature) {
        self.remove(page);
        let partition = Partition::of(group);
        let place =
            u32::try_from(self.entries.len()).expect("so many signatures would take a terabyte");
        self.payloads
            .insert(partition.digest(signature.payload), place);
        if let Some(text) = signature.text.as_deref() {
            self.texts.insert(partition.digest(text.digest), place);
            if let Some(sketch) = &text.sketch {
                self.tables
                    .insert(partition.fingerprint(text.fingerprint), place);
                for band in sketch.bands() {
                    // Beyond the maximum, the page is found only by its other bands and its
                    // fingerprint.
                    self.bands.insert(partition.band(band), place);
                }
            }
        }
        self.places.insert(page, place);
        self.entries.push(Some(Entry {
            page,
            group,
            signature,
        }));
    }

    /// Removes `page`; returns false if it was not present. Look-ups of its payload or text then
    /// find the next page that has it.
    pub fn remove(&mut self, page: u64) -> bool {
        let Some(place) = self.places.remove(&page) else {
            return false;
        };
        let Some(Entry {
            signature, group, ..
        }) = self.entries[place as usize].take()
        else {
            return false;
        };
        let partition = Partition::of(group);
        self.payloads
            .remove(partition.digest(signature.payload), place);
        if let Some(text) = signature.text.as_deref() {
            self.texts.remove(partition.digest(text.digest), place);
            if let Some(sketch) = &text.sketch {
                self.tables
                    .remove(partition.fingerprint(text.fingerprint), place);
                for band in sketch.bands() {
                    self.bands.remove(partition.band(band), place);
                }
            }
        }
        true
    }

    /// Returns the signature of `page`.
    #[must_use]
    pub fn get(&self, page: u64) -> Option<&PageSignature> {
        self.at(*self.places.get(&page)?)
            .map(|entry| &entry.signature)
    }

    /// Returns the signature of `page` if the page is in `group`.
    #[must_use]
    pub fn get_in(&self, group: u64, page: u64) -> Option<&PageSignature> {
        let place = *self.places.get(&page)?;
        self.in_group(place, group).map(|entry| &entry.signature)
    }

    /// Returns true if `page` is in the index.
    #[must_use]
    pub fn contains(&self, page: u64) -> bool {
        self.places.contains_key(&page)
    }

    /// Returns all pages with their groups and signatures, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &PageSignature)> {
        let entries = self.entries.iter().flatten();
        entries.map(|entry| (entry.page, entry.group, &entry.signature))
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if the collection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the approximate number of bytes held.
    #[must_use]
    pub fn memory(&self) -> usize {
        let texts = self
            .entries
            .iter()
            .flatten()
            .filter(|entry| entry.signature.text.is_some())
            .count();
        self.entries.capacity() * size_of::<Option<Entry>>()
            + texts * size_of::<TextSignature>()
            + self.places.capacity() * (size_of::<(u64, u32)>() + 1)
            + self.payloads.memory()
            + self.texts.memory()
            + self.bands.memory()
            + self.tables.memory()
    }

    fn at(&self, place: u32) -> Option<&Entry> {
        self.entries[place as usize].as_ref()
    }

    fn in_group(&self, place: u32, group: u64) -> Option<&Entry> {
        self.at(place).filter(|entry| entry.group == group)
    }

    /// Returns the places of all candidates in the order of insertion, each once.
    fn candidates(&self, partition: Partition, text: &TextSignature, sketch: &Sketch) -> Vec<u32> {
        let mut places = Vec::new();
        let fingerprint = partition.fingerprint(text.fingerprint);
        self.tables
            .each_within(fingerprint, self.thresholds.distance(), |found| {
                places.push(found.id);
            });
        let bands = sketch
            .bands()
            .map(|band| (&self.bands, partition.band(band)));
        KeyTable::each_under(bands, |place| places.push(place));
        places.sort_unstable();
        places.dedup();
        places
    }
}

impl Entry {
    fn matched(&self, match_kind: MatchKind) -> Match {
        Match {
            of: self.page,
            match_kind,
        }
    }
}
