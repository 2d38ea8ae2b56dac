//! The near-duplicate index without a disk: all signatures in one
//! [`SignatureIndex`].

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use journal::{Page, StoreFault};
use neardup::{HashKey, MatchKind, PageSignature, SignatureIndex};
use store::{
    ComparisonOptions, Decision, EarlierCrawls, Held, Known, NearDupIndex, Original, Originals,
    PageRef, RetainedDuplicate, RetainedEntry, Verdict,
};
use web::{PageUrl, UrlKey};

use super::{MemoryStore, State};

/// The known pages.
pub(super) struct Index {
    known: Known<MemoryOriginals>,
    /// Every page that was ever admitted or retained; known pages refer to it by index.
    kept: Vec<Page>,
    /// The verdicts of retained duplicates.
    retained: HashMap<UrlKey, (Box<Original>, RetainedDuplicate)>,
}

/// Originals in a signature index.
struct MemoryOriginals {
    signatures: SignatureIndex,
    places: HashMap<UrlKey, u64>,
}

#[async_trait]
impl NearDupIndex for MemoryStore {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let mut state = self.state();
        let known = &mut state.index.known;
        let mut decision = known.judge(page, signature, canonical)?;
        if decision == Decision::Forget {
            known.forget(page.key())?;
            decision = known.judge(page, signature, canonical)?;
        }
        match decision {
            Decision::Own | Decision::Forget => Ok(Verdict::Own),
            Decision::Retained(_) => {
                let (original, retained) = state.index.retained[&page.key()].clone();
                Ok(Verdict::Retained(original, retained))
            }
            Decision::New => {
                state.admit(page, signature);
                Ok(Verdict::Unique)
            }
            Decision::Version {
                capture,
                is_admitted,
            } => {
                if !is_admitted {
                    state.admit(page, signature);
                }
                let capture =
                    capture.try_map(|number| state.index.page(PageRef::Earlier(number)))?;
                Ok(Verdict::Changed(Box::new(capture)))
            }
            Decision::Duplicate(original) => {
                let original = original.try_map(|of| state.index.page(of))?;
                Ok(Verdict::Duplicate(Box::new(original)))
            }
            Decision::Retain(original, rank) => {
                state.index.retain(page, signature, &original, rank)
            }
        }
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut state = self.state();
        state.index.retained.remove(&page);
        state.index.known.forget(page)?;
        state.queue.forget(page);
        Ok(())
    }

    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault> {
        let known = &mut self.state().index.known;
        known.separate(page.key(), original.key());
        Ok(())
    }

    fn are_separate(&self, page: UrlKey, original: UrlKey) -> bool {
        self.state().index.known.are_separate(page, original)
    }
}

impl State {
    /// Adds an original.
    fn admit(&mut self, page: &Page, signature: &PageSignature) {
        let place = self.index.keep(page);
        self.index.known.admit(page, signature.clone(), place);
        self.queue.forgotten.remove(&page.key());
    }
}

impl Index {
    pub(super) fn new(
        comparison: ComparisonOptions,
        key: HashKey,
        earlier: Option<Arc<EarlierCrawls>>,
    ) -> Self {
        let originals = MemoryOriginals {
            signatures: SignatureIndex::new(comparison.thresholds),
            places: HashMap::new(),
        };
        Self {
            known: Known::new(comparison, key, originals, earlier),
            kept: Vec::new(),
            retained: HashMap::new(),
        }
    }

    /// Stores a page, and returns its place.
    fn keep(&mut self, page: &Page) -> u64 {
        self.kept.push(page.clone());
        self.kept.len() as u64 - 1
    }

    /// Keeps a page in addition to its original.
    fn retain(
        &mut self,
        page: &Page,
        signature: &PageSignature,
        of: &Original<PageRef>,
        rank: u32,
    ) -> Result<Verdict, StoreFault> {
        let original = Box::new(of.try_map(|of| self.page(of))?);
        let retained = RetainedDuplicate {
            rank,
            of: self.known.per_cluster(),
        };
        let entry = RetainedEntry {
            place: self.keep(page),
            cluster: self.known.cluster(of.page),
            rank,
            copy: (self.known.group(page), signature.payload),
        };
        self.known.retain(page.key(), entry);
        self.retained
            .insert(page.key(), (original.clone(), retained));
        Ok(Verdict::Retained(original, retained))
    }

    fn page(&self, of: PageRef) -> Result<Page, StoreFault> {
        match of {
            PageRef::Earlier(number) => self.known.earlier().page(number),
            PageRef::Current(held) => Ok(self.kept[held.place as usize].clone()),
        }
    }
}

impl Originals for MemoryOriginals {
    fn signature_of(&mut self, page: UrlKey) -> Result<Option<PageSignature>, StoreFault> {
        Ok(self.signatures.get(page.as_u64()).cloned())
    }

    fn held_in(
        &mut self,
        group: u64,
        page: UrlKey,
    ) -> Result<Option<(Held, PageSignature)>, StoreFault> {
        let signature = self.signatures.get_in(group, page.as_u64()).cloned();
        Ok(signature.map(|signature| {
            let place = self.places[&page];
            (Held { key: page, place }, signature)
        }))
    }

    fn find_in(
        &mut self,
        group: u64,
        signature: &PageSignature,
        except: &[UrlKey],
    ) -> Result<Option<(Held, MatchKind)>, StoreFault> {
        let mut found = self.signatures.find_all_in(group, signature).into_iter();
        let found = found.find(|found| !except.contains(&UrlKey::from_u64(found.of)));
        Ok(found.map(|found| {
            let key = UrlKey::from_u64(found.of);
            let place = self.places[&key];
            (Held { key, place }, found.match_kind)
        }))
    }

    fn insert_in(&mut self, group: u64, page: Held, signature: PageSignature) {
        self.places.insert(page.key, page.place);
        self.signatures
            .insert_in(group, page.key.as_u64(), signature);
    }

    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        self.places.remove(&page);
        Ok(self.signatures.remove(page.as_u64()))
    }
}
