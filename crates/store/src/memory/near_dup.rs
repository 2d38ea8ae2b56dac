//! The near-duplicate index without a disk: all signatures in one
//! [`SignatureIndex`](neardup::SignatureIndex).

use async_trait::async_trait;
use neardup::{Likeness, PageSignature};
use web::{PageUrl, UrlKey};

use super::{Hung, MemoryStore, State};
use crate::fault::StoreFault;
use crate::known::{Decision, Held, Originals, PageRef, RetainedEntry};
use crate::near_dup::{EarlierCapture, NearDupIndex, Original, Page, RetainedDuplicate, Verdict};

#[async_trait]
impl NearDupIndex for MemoryStore {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let mut state = self.state();
        let mut decision = state.known.judge(page, signature, canonical)?;
        if decision == Decision::Forget {
            state.known.forget(page.key())?;
            decision = state.known.judge(page, signature, canonical)?;
        }
        match decision {
            Decision::Own | Decision::Forget => Ok(Verdict::Own),
            Decision::Retained(_) => {
                let (original, retained) = state.retained[&page.key()].clone();
                Ok(Verdict::Retained(original, retained))
            }
            Decision::New => {
                state.admit(page, signature);
                Ok(Verdict::Unique)
            }
            Decision::Version {
                change,
                is_admitted,
            } => {
                if !is_admitted {
                    state.admit(page, signature);
                }
                Ok(Verdict::Changed(Box::new(EarlierCapture {
                    page: state.page(PageRef::Earlier(change.of))?,
                    distance: change.distance,
                    resemblance: change.resemblance,
                })))
            }
            Decision::Duplicate(original) => {
                Ok(Verdict::Duplicate(Box::new(state.original(&original)?)))
            }
            Decision::Retain(original, rank) => state.retain(page, signature, &original, rank),
        }
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut state = self.state();
        // Pages that were left out as duplicates of a kept page stay so.
        let unsettled = !state.rows.iter().any(|row| row.url.key() == page);
        state.retained.remove(&page);
        state.known.forget(page)?;
        if unsettled {
            state.forgotten.insert(page);
            state.revoke_void();
        }
        Ok(())
    }
}

impl State {
    /// Adds an original.
    fn admit(&mut self, page: &Page, signature: &PageSignature) {
        let place = self.keep(page);
        self.known.admit(page, signature.clone(), place);
        self.forgotten.remove(&page.key());
    }

    /// Stores a page, and returns its place.
    fn keep(&mut self, page: &Page) -> u64 {
        self.kept.push(page.clone());
        self.kept.len() as u64 - 1
    }

    /// Keeps a page beside its original.
    fn retain(
        &mut self,
        page: &Page,
        signature: &PageSignature,
        of: &Original<PageRef>,
        rank: u32,
    ) -> Result<Verdict, StoreFault> {
        let original = Box::new(self.original(of)?);
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

    fn original(&self, of: &Original<PageRef>) -> Result<Original, StoreFault> {
        of.try_map(|page| self.page(page))
    }

    fn page(&self, of: PageRef) -> Result<Page, StoreFault> {
        match of {
            PageRef::Earlier(number) => self
                .known
                .earlier()
                .expect("only an earlier crawl gives out its numbers")
                .page(number),
            PageRef::Current(held) => Ok(self.kept[held.place as usize].clone()),
        }
    }
}

impl Originals for Hung {
    fn signature_of(&mut self, page: UrlKey) -> Result<Option<PageSignature>, StoreFault> {
        Ok(self.signature_index.get(page.as_u64()).cloned())
    }

    fn held_in(
        &mut self,
        group: u64,
        page: UrlKey,
    ) -> Result<Option<(Held, PageSignature)>, StoreFault> {
        let signature = self.signature_index.get_in(group, page.as_u64()).cloned();
        Ok(signature.map(|signature| {
            let place = self.places[&page];
            (Held { key: page, place }, signature)
        }))
    }

    fn find_in(
        &mut self,
        group: u64,
        signature: &PageSignature,
    ) -> Result<Option<(Held, Likeness)>, StoreFault> {
        let found = self.signature_index.find_in(group, signature);
        Ok(found.map(|found| {
            let key = UrlKey::from_u64(found.of);
            let place = self.places[&key];
            (Held { key, place }, found.likeness)
        }))
    }

    fn insert_in(&mut self, group: u64, page: Held, signature: PageSignature) {
        self.places.insert(page.key, page.place);
        self.signature_index
            .insert_in(group, page.key.as_u64(), signature);
    }

    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        self.places.remove(&page);
        Ok(self.signature_index.remove(page.as_u64()))
    }
}
