//! The originals, as documents: looked up by keys in memory or on disk, confirmed by their cards.
//!
//! A document's number says which original of the journal it is, counted from 0: so a replay gives
//! the same numbers, and numbers tell who came first. A page that was forgotten and is admitted
//! again is another document.
//!
//! Invariant: the answers do not depend on what is in memory and what is on disk.

use std::sync::Arc;

use neardup::{Likeness, PageSignature, Thresholds};
use web::UrlKey;

use super::disk_index::Shelf;
use super::keys::{self, Key, Resemblance};
use super::memory_index::{Mirror, SignatureIndexLocation};
use super::memtable::{CARD_BYTES, Delta};
use super::record_cache::Cache;
use super::records::Card;
use crate::StoreFault;
use crate::known::{Held, Originals};

pub(super) struct Documents {
    thresholds: Thresholds,
    shelf: Arc<Shelf>,
    /// All keys; none where they are looked up on disk.
    mirror: Option<Mirror>,
    heard: Delta,
    /// What is being written. It is looked at after `heard` and before the disk.
    folding: Option<Arc<Delta>>,
    cache: Cache,
    /// The number of the next one. On disk there may be later ones, of a fold that was cut short:
    /// they do not count.
    next: u32,
}

impl Documents {
    /// Those below `next`, as the disk has them.
    pub(super) fn load(
        shelf: Arc<Shelf>,
        thresholds: Thresholds,
        is_mirrored: bool,
        next: u32,
    ) -> Result<Self, StoreFault> {
        let mirror = is_mirrored.then(|| shelf.mirror(next)).transpose()?;
        Ok(Self {
            thresholds,
            shelf,
            heard: Delta::new(mirror.is_none()),
            mirror,
            folding: None,
            cache: Cache::default(),
            next,
        })
    }

    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// What was heard since the last fold.
    pub(super) fn heard(&self) -> &Delta {
        &self.heard
    }

    pub(super) fn heard_mut(&mut self) -> &mut Delta {
        &mut self.heard
    }

    /// Moves what was heard aside, to be written; with what a fold that failed left there.
    pub(super) fn fold(&mut self) -> Arc<Delta> {
        let heard = std::mem::replace(&mut self.heard, Delta::new(self.mirror.is_none()));
        let delta = match self.folding.take() {
            None => heard,
            Some(left) => {
                let mut left = Arc::unwrap_or_clone(left);
                left.append(heard);
                left
            }
        };
        let delta = Arc::new(delta);
        self.folding = Some(Arc::clone(&delta));
        delta
    }

    /// What was moved aside is on disk.
    pub(super) fn folded(&mut self) -> Option<Arc<Delta>> {
        self.folding.take()
    }

    /// All that live, in order of their keys' hashes.
    pub(super) fn pages(&mut self) -> Result<Vec<UrlKey>, StoreFault> {
        let mut pages = Vec::new();
        let mut documents = self.shelf.pages(self.next)?;
        let deltas = self.folding.as_deref().into_iter().chain([&self.heard]);
        documents.extend(deltas.flat_map(|delta| delta.added.keys()));
        documents.sort_unstable();
        documents.dedup();
        for document in documents {
            if !self.is_gone(document) {
                pages.push(self.card(document)?.page);
            }
        }
        Ok(pages)
    }

    pub(super) fn memory(&self) -> SignatureIndexLocation {
        let keys = self.mirror.as_ref().map(Mirror::memory).unwrap_or_default();
        let deltas = self.folding.as_deref().into_iter().chain([&self.heard]);
        let heard: usize = deltas.map(Delta::memory).sum();
        SignatureIndexLocation {
            cards: heard + self.cache.len() * CARD_BYTES,
            ..keys
        }
    }

    /// Whether it was taken out, and the disk may not know.
    fn is_gone(&self, document: u32) -> bool {
        let deltas = self.folding.as_deref().into_iter().chain([&self.heard]);
        deltas
            .into_iter()
            .any(|delta| delta.removed.contains_key(&document))
    }

    /// The documents under an exact key, the first first.
    fn under(&self, key: Key) -> Result<Vec<u32>, StoreFault> {
        self.look_up(
            |mirror, documents| mirror.under(key, documents),
            |shelf, end, documents| shelf.under(key, end, documents),
        )
    }

    /// The documents that may resemble this, the first first.
    fn near(&self, resemblance: &Resemblance) -> Result<Vec<u32>, StoreFault> {
        let distance = self.thresholds.distance();
        self.look_up(
            |mirror, documents| mirror.near(resemblance, distance, documents),
            |shelf, end, documents| shelf.near(resemblance, distance, end, documents),
        )
    }

    fn look_up(
        &self,
        in_memory: impl Fn(&Mirror, &mut Vec<u32>),
        on_disk: impl FnOnce(&Shelf, u32, &mut Vec<u32>) -> Result<(), StoreFault>,
    ) -> Result<Vec<u32>, StoreFault> {
        let mut documents = Vec::new();
        if let Some(mirror) = &self.mirror {
            in_memory(mirror, &mut documents);
        } else {
            on_disk(&self.shelf, self.next, &mut documents)?;
            let deltas = self.folding.as_deref().into_iter().chain([&self.heard]);
            for recent in deltas.filter_map(|delta| delta.recent.as_ref()) {
                in_memory(recent, &mut documents);
            }
            documents.retain(|document| !self.is_gone(*document));
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }

    fn card(&mut self, document: u32) -> Result<Arc<Card>, StoreFault> {
        let deltas = self.folding.as_deref().into_iter().chain([&self.heard]);
        for delta in deltas {
            if let Some(card) = delta.added.get(&document) {
                return Ok(Arc::clone(card));
            }
        }
        if let Some(card) = self.cache.get(document) {
            return Ok(card);
        }
        let card = Arc::new(self.shelf.card(document)?);
        self.cache.put(document, Arc::clone(&card));
        Ok(card)
    }

    /// Whether a document lives: what a removal left behind that was cut short does not.
    fn lives(&self, document: u32, card: &Card) -> Result<bool, StoreFault> {
        let key = keys::of_page(card.page);
        if let Some(mirror) = &self.mirror {
            return Ok(mirror.contains(key, document));
        }
        let deltas = self.folding.as_deref().into_iter().chain([&self.heard]);
        if deltas
            .into_iter()
            .any(|delta| delta.added.contains_key(&document))
        {
            return Ok(true);
        }
        self.shelf.contains(key, document)
    }

    fn document_of(&mut self, page: UrlKey) -> Result<Option<(u32, Arc<Card>)>, StoreFault> {
        for document in self.under(keys::of_page(page))? {
            let card = self.card(document)?;
            if card.page == page {
                return Ok(Some((document, card)));
            }
        }
        Ok(None)
    }

    /// The first document under `key` whose card is as `is_wanted` says.
    fn first(
        &mut self,
        key: Key,
        group: u64,
        is_wanted: impl Fn(&PageSignature) -> bool,
    ) -> Result<Option<Held>, StoreFault> {
        for document in self.under(key)? {
            let card = self.card(document)?;
            if card.group == group && is_wanted(&card.signature) && self.lives(document, &card)? {
                return Ok(Some(card.held()));
            }
        }
        Ok(None)
    }

    fn nearest(
        &mut self,
        group: u64,
        signature: &PageSignature,
    ) -> Result<Option<(Held, Likeness)>, StoreFault> {
        let Some(resemblance) = keys::of_resemblance(group, signature) else {
            return Ok(None);
        };
        let mut best: Option<(f64, Held, Likeness)> = None;
        for document in self.near(&resemblance)? {
            let card = self.card(document)?;
            if card.group != group {
                continue;
            }
            let likeness = self.thresholds.likeness(signature, &card.signature);
            let Some(likeness @ Likeness::Near { resemblance, .. }) = likeness else {
                continue;
            };
            let is_better = best.is_none_or(|(highest, ..)| resemblance > highest);
            if is_better && self.lives(document, &card)? {
                best = Some((resemblance, card.held(), likeness));
            }
        }
        Ok(best.map(|(_, held, likeness)| (held, likeness)))
    }
}

impl Originals for Documents {
    fn signature_of(&mut self, page: UrlKey) -> Result<Option<PageSignature>, StoreFault> {
        let found = self.document_of(page)?;
        Ok(found.map(|(_, card)| card.signature.clone()))
    }

    fn held_in(
        &mut self,
        group: u64,
        page: UrlKey,
    ) -> Result<Option<(Held, PageSignature)>, StoreFault> {
        let found = self
            .document_of(page)?
            .filter(|(_, card)| card.group == group);
        Ok(found.map(|(_, card)| (card.held(), card.signature.clone())))
    }

    fn find_in(
        &mut self,
        group: u64,
        signature: &PageSignature,
    ) -> Result<Option<(Held, Likeness)>, StoreFault> {
        let payload = signature.payload;
        let same_payload = self.first(keys::of_payload(group, payload), group, |held| {
            held.payload == payload
        })?;
        if let Some(held) = same_payload {
            return Ok(Some((held, Likeness::SamePayload)));
        }
        let Some(text) = signature.text.as_deref() else {
            return Ok(None);
        };
        let same_text = self.first(keys::of_text(group, text.digest), group, |held| {
            held.text
                .as_ref()
                .is_some_and(|held| held.digest == text.digest)
        })?;
        if let Some(held) = same_text {
            return Ok(Some((held, Likeness::SameText)));
        }
        self.nearest(group, signature)
    }

    fn insert_in(&mut self, group: u64, page: Held, signature: PageSignature) {
        let document = self.next;
        self.next += 1;
        let card = Arc::new(Card {
            position: page.place,
            page: page.key,
            group,
            signature,
        });
        if let Some(mirror) = &mut self.mirror {
            mirror.insert(document, &card);
        }
        self.heard.add(document, card);
    }

    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        let Some((document, card)) = self.document_of(page)? else {
            return Ok(false);
        };
        if let Some(mirror) = &mut self.mirror {
            mirror.remove(document, &card);
        }
        self.cache.forget(document);
        self.heard.remove(document, card);
        Ok(true)
    }
}
