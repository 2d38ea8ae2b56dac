//! The signatures of all pages that were kept, and which of them a new one is like.
//!
//! Looked up in the order of certainty: the same bytes, the same words, then candidates — pages
//! whose fingerprint lies within a few bits or whose sketch shares a band — of which the sketches
//! decide. Simhash alone reaches between half and nine tenths of the pairs worth having, bands
//! nearly all of those that would be confirmed.
//!
//! The caller inserts only pages it keeps, so a page is compared with originals and duplicates
//! never form chains.
//!
//! Pages may be hung in groups, and then only pages of one group are compared ([`Partition`]).
//! Invariant: a match is of the group that was asked for, whatever the keys say.

use std::collections::HashMap;

use crate::keys::table::KeyTable;
use crate::keys::table::MAX_PER_KEY;
use crate::partition::Partition;
use crate::signature::{PageSignature, TextSignature};
use crate::sketch::Sketch;
use crate::tables::quarters::QuarterTables;
use crate::thresholds::Likeness;
use crate::thresholds::Match;
use crate::thresholds::Thresholds;

/// How many pages are remembered for one band of sketches; later ones are not found by that band.
/// It bounds the work for a site whose frame fills most of every page.
pub const MAX_PER_BAND: usize = MAX_PER_KEY;

/// Signatures in memory, found by likeness. About 800 bytes a page.
#[derive(Clone, Debug)]
pub struct SignatureIndex {
    thresholds: Thresholds,
    /// In the order of insertion; a removed one leaves its place empty, so that places tell who
    /// came first.
    entries: Vec<Option<Entry>>,
    places: HashMap<u64, u32>,
    /// By half of their digests; what is found is compared with the whole.
    payloads: HashMap<u64, u32>,
    texts: HashMap<u64, u32>,
    tables: QuarterTables,
    /// Of all numbers: a band's key tells its number.
    bands: KeyTable,
}

#[derive(Clone, Debug)]
struct Entry {
    page: u64,
    group: u64,
    signature: PageSignature,
}

impl SignatureIndex {
    /// An empty signature index; pages are alike from `thresholds` on.
    #[must_use]
    pub fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            entries: Vec::new(),
            places: HashMap::new(),
            payloads: HashMap::new(),
            texts: HashMap::new(),
            tables: QuarterTables::new(),
            bands: KeyTable::new(),
        }
    }

    /// The page that `signature` is like, if there is one: the first with the same payload, else
    /// the first with the same text, else the near duplicate of the highest resemblance, of equals
    /// the one that came first.
    #[must_use]
    pub fn find(&self, signature: &PageSignature) -> Option<Match> {
        self.find_in(0, signature)
    }

    /// The same among the pages of one group only.
    #[must_use]
    pub fn find_in(&self, group: u64, signature: &PageSignature) -> Option<Match> {
        let partition = Partition::of(group);
        let same_payload = self.payloads.get(&partition.digest(signature.payload));
        if let Some(entries) = same_payload.and_then(|place| self.in_group(*place, group))
            && entries.signature.payload == signature.payload
        {
            return Some(entries.matched(Likeness::SamePayload));
        }
        let text = signature.text.as_deref()?;
        let same_text = self.texts.get(&partition.digest(text.digest));
        if let Some(entries) = same_text.and_then(|place| self.in_group(*place, group))
            && entries
                .signature
                .text
                .as_ref()
                .is_some_and(|held| held.digest == text.digest)
        {
            return Some(entries.matched(Likeness::SameText));
        }
        let sketch = text.sketch.as_ref()?;
        let mut best: Option<(f64, Match)> = None;
        for place in self.candidates(partition, text, sketch) {
            let Some(entries) = self.in_group(place, group) else {
                continue;
            };
            let Some(candidate) = entries.signature.text.as_deref() else {
                continue;
            };
            let Some(likeness) = self.thresholds.nearness(text, sketch, candidate) else {
                continue;
            };
            let Likeness::Near { resemblance, .. } = likeness else {
                continue;
            };
            if best.is_none_or(|(highest, ..)| resemblance > highest) {
                best = Some((resemblance, entries.matched(likeness)));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Keeps the signature of `page`, instead of an earlier one of the same page. Where another
    /// page here has the same payload or text, that other one goes on to be found by it.
    pub fn insert(&mut self, page: u64, signature: PageSignature) {
        self.insert_in(0, page, signature);
    }

    /// The same in one group: only pages of that group will find it. A page has one signature,
    /// whatever its group.
    pub fn insert_in(&mut self, group: u64, page: u64, signature: PageSignature) {
        self.remove(page);
        let partition = Partition::of(group);
        let place =
            u32::try_from(self.entries.len()).expect("so many signatures would take a terabyte");
        self.payloads
            .entry(partition.digest(signature.payload))
            .or_insert(place);
        if let Some(text) = signature.text.as_deref() {
            self.texts
                .entry(partition.digest(text.digest))
                .or_insert(place);
            if let Some(sketch) = &text.sketch {
                self.tables
                    .insert(partition.fingerprint(text.fingerprint), place);
                for band in sketch.bands() {
                    // Beyond the cap the page is left to its other bands and its fingerprint.
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

    /// Forgets `page`; false where it was not there.
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
        forget(
            &mut self.payloads,
            partition.digest(signature.payload),
            place,
        );
        if let Some(text) = signature.text.as_deref() {
            forget(&mut self.texts, partition.digest(text.digest), place);
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

    /// The signature of `page`.
    #[must_use]
    pub fn get(&self, page: u64) -> Option<&PageSignature> {
        self.at(*self.places.get(&page)?)
            .map(|entries| &entries.signature)
    }

    /// The signature of `page` if it hangs in this group.
    #[must_use]
    pub fn get_in(&self, group: u64, page: u64) -> Option<&PageSignature> {
        let place = *self.places.get(&page)?;
        self.in_group(place, group)
            .map(|entries| &entries.signature)
    }

    /// Whether `page` is here.
    #[must_use]
    pub fn contains(&self, page: u64) -> bool {
        self.places.contains_key(&page)
    }

    /// How many pages are here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The thresholds it was made with.
    #[must_use]
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// Bytes held, about.
    #[must_use]
    pub fn memory(&self) -> usize {
        let texts = self
            .entries
            .iter()
            .flatten()
            .filter(|entries| entries.signature.text.is_some())
            .count();
        self.entries.capacity() * size_of::<Option<Entry>>()
            + texts * size_of::<TextSignature>()
            + self.places.capacity() * (size_of::<(u64, u32)>() + 1)
            + (self.payloads.capacity() + self.texts.capacity()) * (size_of::<(u64, u32)>() + 1)
            + self.bands.memory()
            + self.tables.memory()
    }

    fn at(&self, place: u32) -> Option<&Entry> {
        self.entries[place as usize].as_ref()
    }

    fn in_group(&self, place: u32, group: u64) -> Option<&Entry> {
        self.at(place).filter(|entries| entries.group == group)
    }

    /// Places in the order of insertion, each once.
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
    fn matched(&self, likeness: Likeness) -> Match {
        Match {
            of: self.page,
            likeness,
        }
    }
}

/// Takes out `digest` unless it stands for another page.
fn forget(places: &mut HashMap<u64, u32>, digest: u64, place: u32) {
    if places.get(&digest) == Some(&place) {
        places.remove(&digest);
    }
}
