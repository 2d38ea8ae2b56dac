//! The keys of a signature record, and the cache of records read from disk.

use std::collections::HashMap;
use std::sync::Arc;

use neardup::Fingerprint;

use super::keys::{self, ExactKey};
use super::records::SignatureRecord;
use crate::known::Held;

impl SignatureRecord {
    /// Returns the page and the position of its admission.
    pub(super) fn held(&self) -> Held {
        Held {
            key: self.page,
            place: self.position,
        }
    }

    /// Returns the exact keys of the document.
    pub(super) fn keys(&self) -> impl Iterator<Item = ExactKey> + Clone {
        keys::of_page_with(self.page, self.group, &self.signature)
    }

    /// Returns the document's fingerprint as a lookup key.
    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        keys::of_resemblance(self.group, &self.signature).map(|resemblance| resemblance.fingerprint)
    }
}

/// Number of records in each half of the cache: enough for a thousand under each of eight bands.
/// About 6 MB.
const HALF: usize = 16_384;

/// A cache of records read from disk. A hit moves to the young half; when that is full, the old
/// half is dropped.
#[derive(Debug, Default)]
pub(super) struct RecordCache {
    young: HashMap<u32, Arc<SignatureRecord>>,
    old: HashMap<u32, Arc<SignatureRecord>>,
}

impl RecordCache {
    pub(super) fn get(&mut self, document: u32) -> Option<Arc<SignatureRecord>> {
        if let Some(record) = self.young.get(&document) {
            return Some(Arc::clone(record));
        }
        let record = self.old.remove(&document)?;
        self.put(document, Arc::clone(&record));
        Some(record)
    }

    pub(super) fn put(&mut self, document: u32, record: Arc<SignatureRecord>) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(document, record);
    }

    pub(super) fn forget(&mut self, document: u32) {
        self.young.remove(&document);
        self.old.remove(&document);
    }

    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use neardup::PageSignature;
    use web::UrlKey;

    use super::*;

    fn record(position: u64) -> Arc<SignatureRecord> {
        Arc::new(SignatureRecord {
            position,
            page: UrlKey::from_u64(position),
            group: 0,
            signature: PageSignature {
                payload: 0,
                text: None,
            },
        })
    }

    #[test]
    fn a_requested_record_stays_and_no_more_than_two_halves_are_kept() {
        let mut cache = RecordCache::default();
        for document in 0..3 * HALF as u32 {
            cache.put(document, record(u64::from(document)));
            assert!(cache.get(0).is_some(), "{document}");
            assert!(cache.len() <= 2 * HALF);
        }
        assert!(cache.get(1).is_none());
        cache.forget(0);
        assert!(cache.get(0).is_none());
    }
}
