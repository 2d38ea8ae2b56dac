//! The originals as documents: looked up by keys in memory or on disk, confirmed by their records.
//!
//! A document's number counts the originals of the journal from 0. So a replay assigns the same
//! numbers, and lower numbers came first. A forgotten page that is admitted again is another
//! document.
//!
//! Invariant: results are the same for any split of the keys between memory and disk.

use std::sync::Arc;

use journal::StoreFault;
use neardup::{MatchKind, PageSignature, Thresholds};
use web::UrlKey;

use super::disk_index::DiskIndex;
use super::keys::{self, ExactKey, NearKeys};
use super::memory_index::{MemoryIndex, SignatureMemory};
use super::memtable::{Memtable, RECORD_BYTES};
use super::record_cache::RecordCache;
use super::records::SignatureRecord;
use crate::known::{Held, Originals};

/// Maximum number of unindexed documents, up to eight times as many indexed documents. Beyond that,
/// it is an eighth of the indexed documents, so that their tables are rewritten a few times only.
const MAX_UNINDEXED: usize = 1 << 18;

pub(super) struct Documents {
    thresholds: Thresholds,
    disk: Arc<DiskIndex>,
    /// The keys of all documents except the unindexed ones; `None` if they are looked up on disk.
    in_memory: Option<MemoryIndex>,
    /// The last added documents, ascending. Every lookup begins by indexing them: many at once cost
    /// a fraction of the same number one by one.
    unindexed: Vec<(u32, Arc<SignatureRecord>)>,
    memtable: Memtable,
    /// The memtable that is being written. Lookups see it after `memtable` and before the disk.
    flushing: Option<Arc<Memtable>>,
    cache: RecordCache,
    /// The number of the next document. The disk may have later documents from an interrupted
    /// flush; they do not count.
    next: u32,
}

impl Documents {
    /// Loads the documents below `next` from the disk.
    pub(super) fn load(
        disk: Arc<DiskIndex>,
        thresholds: Thresholds,
        keys_in_memory: bool,
        next: u32,
    ) -> Result<Self, StoreFault> {
        let in_memory = keys_in_memory.then(|| disk.to_memory(next)).transpose()?;
        Ok(Self {
            thresholds,
            disk,
            memtable: Memtable::new(in_memory.is_none()),
            in_memory,
            unindexed: Vec::new(),
            flushing: None,
            cache: RecordCache::default(),
            next,
        })
    }

    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Returns the changes since the last flush.
    pub(super) fn memtable(&self) -> &Memtable {
        &self.memtable
    }

    /// Returns the memtables, the older one first.
    fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        self.flushing.as_deref().into_iter().chain([&self.memtable])
    }

    pub(super) fn memtable_mut(&mut self) -> &mut Memtable {
        &mut self.memtable
    }

    /// Moves the memtable aside to be written, together with the changes of a flush that failed.
    pub(super) fn begin_flush(&mut self) -> Arc<Memtable> {
        let memtable =
            std::mem::replace(&mut self.memtable, Memtable::new(self.in_memory.is_none()));
        let memtable = match self.flushing.take() {
            None => memtable,
            Some(left) => {
                let mut left = Arc::unwrap_or_clone(left);
                left.append(memtable);
                left
            }
        };
        let memtable = Arc::new(memtable);
        self.flushing = Some(Arc::clone(&memtable));
        memtable
    }

    /// Ends a flush: its changes are on disk.
    pub(super) fn end_flush(&mut self) -> Option<Arc<Memtable>> {
        self.flushing.take()
    }

    /// Returns the pages of all live documents, in the order of the documents.
    pub(super) fn pages(&mut self) -> Result<Vec<UrlKey>, StoreFault> {
        let mut pages = Vec::new();
        let mut documents = self.disk.pages(self.next)?;
        documents.extend(self.memtables().flat_map(|memtable| memtable.added.keys()));
        documents.sort_unstable();
        documents.dedup();
        for document in documents {
            if !self.is_gone(document) {
                pages.push(self.record(document)?.page);
            }
        }
        Ok(pages)
    }

    pub(super) fn memory(&self) -> SignatureMemory {
        let keys = self.in_memory.as_ref().map(MemoryIndex::memory);
        let keys = keys.unwrap_or_default();
        let memtables: usize = self.memtables().map(Memtable::memory).sum();
        SignatureMemory {
            documents: keys.documents + self.unindexed.len() as u64,
            records: memtables + self.cache.len() * RECORD_BYTES,
            ..keys
        }
    }

    /// Prefetches the memory that is read when a page with this signature is judged.
    pub(super) fn prefetch(&self, page: UrlKey, group: u64, signature: &PageSignature) {
        if let Some(in_memory) = &self.in_memory {
            in_memory.prefetch(keys::of_page_with(page, group, signature));
        }
    }

    /// Returns true if the document was removed since the last flush.
    fn is_gone(&self, document: u32) -> bool {
        self.memtables()
            .any(|memtable| memtable.removed.contains_key(&document))
    }

    /// Returns the documents with an exact key, ascending.
    fn under(&self, key: ExactKey) -> Result<Vec<u32>, StoreFault> {
        self.look_up(
            |in_memory, documents| in_memory.under(key, documents),
            |disk, end, documents| disk.under(key, end, documents),
        )
    }

    /// Returns the documents that may be near, ascending.
    fn near(&self, resemblance: &NearKeys) -> Result<Vec<u32>, StoreFault> {
        let distance = self.thresholds.distance();
        self.look_up(
            |in_memory, documents| in_memory.near(resemblance, distance, documents),
            |disk, end, documents| disk.near(resemblance, distance, end, documents),
        )
    }

    fn look_up(
        &self,
        from_memory: impl Fn(&MemoryIndex, &mut Vec<u32>),
        from_disk: impl FnOnce(&DiskIndex, u32, &mut Vec<u32>) -> Result<(), StoreFault>,
    ) -> Result<Vec<u32>, StoreFault> {
        let mut documents = Vec::new();
        if let Some(in_memory) = &self.in_memory {
            from_memory(in_memory, &mut documents);
        } else {
            from_disk(&self.disk, self.next, &mut documents)?;
            for recent in self
                .memtables()
                .filter_map(|memtable| memtable.recent.as_ref())
            {
                from_memory(recent, &mut documents);
            }
            documents.retain(|document| !self.is_gone(*document));
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }

    /// Adds the keys of the unindexed documents to the keys in memory.
    pub(super) fn index_added(&mut self) {
        let added = std::mem::take(&mut self.unindexed);
        if let Some(in_memory) = &mut self.in_memory {
            in_memory.extend(&added);
        }
    }

    fn record(&mut self, document: u32) -> Result<Arc<SignatureRecord>, StoreFault> {
        if let Some(record) = self
            .memtables()
            .find_map(|memtable| memtable.added.get(&document))
        {
            return Ok(Arc::clone(record));
        }
        if let Some(record) = self.cache.get(document) {
            return Ok(record);
        }
        let record = Arc::new(self.disk.record(document)?);
        self.cache.put(document, Arc::clone(&record));
        Ok(record)
    }

    /// Returns true if a document is live. A document whose removal was interrupted is not.
    fn lives(&self, document: u32, record: &SignatureRecord) -> Result<bool, StoreFault> {
        let key = keys::of_page(record.page);
        if let Some(in_memory) = &self.in_memory {
            return Ok(in_memory.contains(key, document));
        }
        if self
            .memtables()
            .any(|memtable| memtable.added.contains_key(&document))
        {
            return Ok(true);
        }
        self.disk.contains(key, document)
    }

    fn document_of(
        &mut self,
        page: UrlKey,
    ) -> Result<Option<(u32, Arc<SignatureRecord>)>, StoreFault> {
        self.index_added();
        for document in self.under(keys::of_page(page))? {
            let record = self.record(document)?;
            if record.page == page {
                return Ok(Some((document, record)));
            }
        }
        Ok(None)
    }

    /// Returns the first live document with `key` whose signature `is_wanted` accepts and whose
    /// page is not in `except`.
    fn first(
        &mut self,
        key: ExactKey,
        group: u64,
        except: &[UrlKey],
        is_wanted: impl Fn(&PageSignature) -> bool,
    ) -> Result<Option<Held>, StoreFault> {
        self.index_added();
        for document in self.under(key)? {
            let record = self.record(document)?;
            if record.group == group
                && !except.contains(&record.page)
                && is_wanted(&record.signature)
                && self.lives(document, &record)?
            {
                return Ok(Some(record.held()));
            }
        }
        Ok(None)
    }

    fn nearest(
        &mut self,
        group: u64,
        signature: &PageSignature,
        except: &[UrlKey],
    ) -> Result<Option<(Held, MatchKind)>, StoreFault> {
        let Some(resemblance) = keys::of_resemblance(group, signature) else {
            return Ok(None);
        };
        self.index_added();
        let mut best: Option<(f64, Held, MatchKind)> = None;
        for document in self.near(&resemblance)? {
            let record = self.record(document)?;
            if record.group != group || except.contains(&record.page) {
                continue;
            }
            let match_kind = self.thresholds.match_kind(signature, &record.signature);
            let Some(match_kind @ MatchKind::Near { resemblance, .. }) = match_kind else {
                continue;
            };
            let is_better = best.is_none_or(|(highest, ..)| resemblance > highest);
            if is_better && self.lives(document, &record)? {
                best = Some((resemblance, record.held(), match_kind));
            }
        }
        Ok(best.map(|(_, held, match_kind)| (held, match_kind)))
    }
}

impl Originals for Documents {
    fn signature_of(&mut self, page: UrlKey) -> Result<Option<PageSignature>, StoreFault> {
        let found = self.document_of(page)?;
        Ok(found.map(|(_, record)| record.signature.clone()))
    }

    fn held_in(
        &mut self,
        group: u64,
        page: UrlKey,
    ) -> Result<Option<(Held, PageSignature)>, StoreFault> {
        let found = self
            .document_of(page)?
            .filter(|(_, record)| record.group == group);
        Ok(found.map(|(_, record)| (record.held(), record.signature.clone())))
    }

    fn find_in(
        &mut self,
        group: u64,
        signature: &PageSignature,
        except: &[UrlKey],
    ) -> Result<Option<(Held, MatchKind)>, StoreFault> {
        let payload = signature.payload;
        let key = keys::of_payload(group, payload);
        let same_payload = self.first(key, group, except, |held| held.payload == payload)?;
        if let Some(held) = same_payload {
            return Ok(Some((held, MatchKind::SamePayload)));
        }
        let Some(text) = signature.text.as_deref() else {
            return Ok(None);
        };
        let key = keys::of_text(group, text.digest);
        let same_text = self.first(key, group, except, |held| {
            held.text
                .as_ref()
                .is_some_and(|held| held.digest == text.digest)
        })?;
        if let Some(held) = same_text {
            return Ok(Some((held, MatchKind::SameText)));
        }
        self.nearest(group, signature, except)
    }

    fn insert_in(&mut self, group: u64, page: Held, signature: PageSignature) {
        let document = self.next;
        self.next += 1;
        let record = Arc::new(SignatureRecord {
            position: page.place,
            page: page.key,
            group,
            signature,
        });
        if self.in_memory.is_some() {
            self.unindexed.push((document, Arc::clone(&record)));
            let indexed = self.next as usize - self.unindexed.len();
            if self.unindexed.len() > MAX_UNINDEXED.max(indexed / 8) {
                self.index_added();
            }
        }
        self.memtable.add(document, record);
    }

    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        let Some((document, record)) = self.document_of(page)? else {
            return Ok(false);
        };
        if let Some(in_memory) = &mut self.in_memory {
            in_memory.remove(document, &record);
        }
        self.cache.forget(document);
        self.memtable.remove(document, record);
        Ok(true)
    }
}
