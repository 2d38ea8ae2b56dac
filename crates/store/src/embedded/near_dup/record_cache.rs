//! What verification needs of a document, as it is in memory: its card, and the cards that were
//! read.

use std::collections::HashMap;
use std::sync::Arc;

use neardup::Fingerprint;

use super::keys::{self, Key};
use super::records::Card;
use crate::known::Held;

impl Card {
    /// The page, and where the journal tells of it.
    pub(super) fn held(&self) -> Held {
        Held {
            key: self.page,
            place: self.position,
        }
    }

    /// The exact keys under which it is found.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let text = self.signature.text.as_deref();
        let bands =
            keys::of_resemblance(self.group, &self.signature).map(|resemblance| resemblance.bands);
        [
            Some(keys::of_page(self.page)),
            Some(keys::of_payload(self.group, self.signature.payload)),
            text.map(|text| keys::of_text(self.group, text.digest)),
        ]
        .into_iter()
        .flatten()
        .chain(bands.into_iter().flatten())
    }

    /// The fingerprint under which it is found.
    pub(super) fn tabled(&self) -> Option<Fingerprint> {
        keys::of_resemblance(self.group, &self.signature).map(|resemblance| resemblance.fingerprint)
    }
}

/// How many cards are kept in each half of the cache: a crowd of a thousand under each of eight
/// bands fits. About 6 MB.
const HALF: usize = 16_384;

/// Cards that were read from the disk. What is asked for moves to the young half; when that is
/// full, the old half goes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    young: HashMap<u32, Arc<Card>>,
    old: HashMap<u32, Arc<Card>>,
}

impl Cache {
    pub(super) fn get(&mut self, document: u32) -> Option<Arc<Card>> {
        if let Some(card) = self.young.get(&document) {
            return Some(Arc::clone(card));
        }
        let card = self.old.remove(&document)?;
        self.put(document, Arc::clone(&card));
        Some(card)
    }

    pub(super) fn put(&mut self, document: u32, card: Arc<Card>) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(document, card);
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

    fn card(position: u64) -> Arc<Card> {
        Arc::new(Card {
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
    fn what_is_asked_for_stays_and_no_more_than_two_halves_are_kept() {
        let mut cache = Cache::default();
        for document in 0..3 * HALF as u32 {
            cache.put(document, card(u64::from(document)));
            assert!(cache.get(0).is_some(), "{document}");
            assert!(cache.len() <= 2 * HALF);
        }
        assert!(cache.get(1).is_none());
        cache.forget(0);
        assert!(cache.get(0).is_none());
    }
}
