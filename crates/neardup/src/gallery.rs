//! The portraits of all pages that were kept, and which of them a new one is like.
//!
//! Looked up in the order of certainty: the same bytes, the same words, then candidates — pages whose fingerprint lies
//! within a few bits or whose sketch shares a band — of which the sketches decide. Simhash alone reaches between half
//! and nine tenths of the pairs worth having, bands nearly all of those that would be confirmed.
//!
//! The caller inserts only pages it keeps, so a page is compared with originals and duplicates never form chains.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::ids::Ids;
use crate::portrait::{Portrait, TextPortrait};
use crate::{Likeness, Match, QuarterTables, Sketch, Thresholds};

/// How many pages are remembered for one band of sketches; later ones are not found by that band. It bounds the work
/// for a site whose frame fills most of every page.
pub const MAX_PER_BAND: usize = 1_024;

/// Portraits in memory, found by likeness. About 800 bytes a page.
#[derive(Clone, Debug)]
pub struct Gallery {
    thresholds: Thresholds,
    /// In the order of insertion; a removed one leaves its place empty, so that places tell who came first.
    hung: Vec<Option<Hung>>,
    places: HashMap<u64, u32>,
    payloads: HashMap<u128, u32>,
    texts: HashMap<u128, u32>,
    tables: QuarterTables,
    bands: HashMap<u64, Ids>,
}

#[derive(Clone, Debug)]
struct Hung {
    page: u64,
    portrait: Portrait,
}

impl Gallery {
    /// An empty gallery; pages are alike from `thresholds` on.
    #[must_use]
    pub fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            hung: Vec::new(),
            places: HashMap::new(),
            payloads: HashMap::new(),
            texts: HashMap::new(),
            tables: QuarterTables::new(),
            bands: HashMap::new(),
        }
    }

    /// The page that `portrait` is like, if there is one: the first with the same payload, else the first with the
    /// same text, else the near duplicate of the highest resemblance, of equals the one that came first.
    #[must_use]
    pub fn find(&self, portrait: &Portrait) -> Option<Match> {
        if let Some(&place) = self.payloads.get(&portrait.payload) {
            return self.matched(place, Likeness::SamePayload);
        }
        let text = portrait.text.as_deref()?;
        if let Some(&place) = self.texts.get(&text.digest) {
            return self.matched(place, Likeness::SameText);
        }
        let sketch = text.sketch.as_ref()?;
        let mut best: Option<(f64, u32, Likeness)> = None;
        for place in self.candidates(text, sketch) {
            let Some(candidate) = self.at(place).and_then(|hung| hung.portrait.text.as_deref()) else {
                continue;
            };
            let Some(likeness) = self.thresholds.nearness(text, sketch, candidate) else {
                continue;
            };
            let Likeness::Near { resemblance, .. } = likeness else {
                continue;
            };
            if best.is_none_or(|(highest, ..)| resemblance > highest) {
                best = Some((resemblance, place, likeness));
            }
        }
        best.and_then(|(_, place, likeness)| self.matched(place, likeness))
    }

    /// Keeps the portrait of `page`, instead of an earlier one of the same page. Where another page here has the same
    /// payload or text, that other one goes on to be found by it.
    pub fn insert(&mut self, page: u64, portrait: Portrait) {
        self.remove(page);
        let place = u32::try_from(self.hung.len()).expect("so many portraits would take terabytes");
        self.payloads.entry(portrait.payload).or_insert(place);
        if let Some(text) = portrait.text.as_deref() {
            self.texts.entry(text.digest).or_insert(place);
            if let Some(sketch) = &text.sketch {
                self.tables.insert(text.fingerprint, place);
                for band in sketch.bands() {
                    match self.bands.entry(band) {
                        Entry::Vacant(entry) => drop(entry.insert(Ids::One(place))),
                        // Beyond the cap the page is left to its other bands and its fingerprint.
                        Entry::Occupied(mut entry) => _ = entry.get_mut().push(place, MAX_PER_BAND),
                    }
                }
            }
        }
        self.places.insert(page, place);
        self.hung.push(Some(Hung { page, portrait }));
    }

    /// Forgets `page`; false where it was not there.
    pub fn remove(&mut self, page: u64) -> bool {
        let Some(place) = self.places.remove(&page) else {
            return false;
        };
        let Some(Hung { portrait, .. }) = self.hung[place as usize].take() else {
            return false;
        };
        forget(&mut self.payloads, portrait.payload, place);
        if let Some(text) = portrait.text.as_deref() {
            forget(&mut self.texts, text.digest, place);
            if let Some(sketch) = &text.sketch {
                self.tables.remove(text.fingerprint, place);
                sketch
                    .bands()
                    .iter()
                    .for_each(|band| self.forget_band(*band, place));
            }
        }
        true
    }

    /// The portrait of `page`.
    #[must_use]
    pub fn get(&self, page: u64) -> Option<&Portrait> {
        self.at(*self.places.get(&page)?).map(|hung| &hung.portrait)
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
            .hung
            .iter()
            .flatten()
            .filter(|hung| hung.portrait.text.is_some())
            .count();
        let lists: usize = self.bands.values().map(Ids::memory).sum();
        self.hung.capacity() * size_of::<Option<Hung>>()
            + texts * size_of::<TextPortrait>()
            + self.places.capacity() * (size_of::<(u64, u32)>() + 1)
            + (self.payloads.capacity() + self.texts.capacity()) * (size_of::<(u128, u32)>() + 1)
            + self.bands.capacity() * (size_of::<(u64, Ids)>() + 1)
            + lists
            + self.tables.memory()
    }

    fn at(&self, place: u32) -> Option<&Hung> {
        self.hung[place as usize].as_ref()
    }

    fn matched(&self, place: u32, likeness: Likeness) -> Option<Match> {
        self.at(place).map(|hung| Match {
            of: hung.page,
            likeness,
        })
    }

    /// Places in the order of insertion, each once.
    fn candidates(&self, text: &TextPortrait, sketch: &Sketch) -> Vec<u32> {
        let mut places = Vec::new();
        self.tables
            .each_within(text.fingerprint, self.thresholds.distance(), |found| {
                places.push(found.id);
            });
        for band in sketch.bands() {
            places.extend(self.bands.get(&band).map_or(&[][..], Ids::as_slice));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    fn forget_band(&mut self, band: u64, place: u32) {
        let Some(places) = self.bands.get_mut(&band) else {
            return;
        };
        places.remove(place);
        if places.as_slice().is_empty() {
            self.bands.remove(&band);
        }
    }
}

/// Takes out `digest` unless it stands for another page.
fn forget(places: &mut HashMap<u128, u32>, digest: u128, place: u32) {
    if places.get(&digest) == Some(&place) {
        places.remove(&digest);
    }
}
