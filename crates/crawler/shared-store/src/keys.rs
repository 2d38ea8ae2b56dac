//! The keys of a row of the log of admissions: two rows share a key if the verdict of the second
//! may depend on the first.
//!
//! A verdict depends on pages with the same URL, on the page named as canonical, on the cluster
//! whose ranks are assigned, and on pages that may be similar. These are pages with the same
//! payload, the same text, a common band of the sketch, or a fingerprint within `distance` bits.
//! Two such fingerprints agree in one of `distance + 1` blocks (Manku et al., WWW 2007, section 3).
//! A key that two rows share by chance costs one more judgement.
//!
//! Invariant: the keys are in the database and nodes compare them, so they do not change during a
//! crawl.

use journal::Record;
use neardup::{HashKey, PageSignature};
use web::PageUrl;

/// The kinds of keys: they separate equal values of different kinds.
const PAGE: u8 = 0;
const PAYLOAD: u8 = 1;
const TEXT: u8 = 2;
const BAND: u8 = 3;
const BLOCK: u8 = 4;

/// Number of bits of a fingerprint.
const BITS: u32 = 64;

/// Computes the keys of the rows of a crawl.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogKeys {
    key: HashKey,
    /// Number of blocks of a fingerprint.
    blocks: u32,
}

impl LogKeys {
    /// Creates the keys of a crawl whose near duplicates differ in at most `distance` bits.
    pub(crate) fn new(key: HashKey, distance: u32) -> Self {
        let blocks = (distance + 1).min(BITS);
        Self { key, blocks }
    }

    /// Returns the keys of a record of the log. `canonical` is the URL that the page names.
    pub(crate) fn of(&self, record: &Record, canonical: Option<&PageUrl>) -> Vec<i64> {
        let mut keys = Vec::new();
        match record {
            Record::Admitted { page, signature } => {
                keys.push(self.hash(PAGE, page.key().as_u64()));
                self.add_signature(signature, &mut keys);
            }
            Record::Retained(retained) => {
                keys.push(self.hash(PAGE, retained.page.key().as_u64()));
                keys.push(self.hash(PAGE, retained.of.key().as_u64()));
                self.add_signature(&retained.signature, &mut keys);
            }
            Record::Forgotten { page } => keys.push(self.hash(PAGE, page.as_u64())),
            Record::Distinct(pages) => {
                for url in [&pages.page, &pages.original] {
                    keys.push(self.hash(PAGE, url.key().as_u64()));
                }
            }
            // No other kind of record is in the log.
            _ => {}
        }
        keys.extend(canonical.map(|url| self.hash(PAGE, url.key().as_u64())));
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn add_signature(&self, signature: &PageSignature, keys: &mut Vec<i64>) {
        keys.push(self.hash(PAYLOAD, signature.payload));
        let Some(text) = signature.text.as_deref() else {
            return;
        };
        keys.push(self.hash(TEXT, text.digest));
        let Some(sketch) = &text.sketch else {
            // Only the exact text decides.
            return;
        };
        keys.extend(sketch.bands().map(|band| self.hash(BAND, band)));
        let fingerprint = text.fingerprint.as_u64();
        for block in 0..self.blocks {
            let (from, to) = (BITS * block / self.blocks, BITS * (block + 1) / self.blocks);
            let mask = u64::MAX >> (BITS - (to - from)) << from;
            let value = u128::from(fingerprint & mask) | u128::from(block) << 64;
            keys.push(self.hash(BLOCK, value));
        }
    }

    fn hash(&self, kind: u8, value: impl Into<u128>) -> i64 {
        let mut bytes = [0; 17];
        bytes[0] = kind;
        bytes[1..].copy_from_slice(&value.into().to_le_bytes());
        let digest = self.key.digest(&bytes);
        // The lower half, as the database stores 64 bits.
        i64::from_le_bytes(std::array::from_fn(|byte| digest.to_le_bytes()[byte]))
    }
}

#[cfg(test)]
mod tests {
    use journal::Page;
    use neardup::{Features, PageText, SignatureBuilder};
    use proptest::prelude::*;
    use web::{CanonicalForm, Timestamp};

    use super::*;

    fn admitted(url: &str, payload: u128, text: &str) -> Record {
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let url = PageUrl::parse(url, &CanonicalForm::default()).unwrap();
        Record::Admitted {
            page: Page {
                final_url: url.clone(),
                url,
                at: Timestamp::default(),
            },
            signature: Box::new(builder.signature(payload, Some(PageText::of(text)))),
        }
    }

    fn share(one: &Record, other: &Record) -> bool {
        let keys = LogKeys::new(HashKey::ZERO, 3);
        let others = keys.of(other, None);
        keys.of(one, None).iter().any(|key| others.contains(key))
    }

    fn words(from: u32, count: u32) -> String {
        (from..from + count)
            .map(|word| format!("word{word} "))
            .collect()
    }

    #[test]
    fn pages_that_may_be_alike_share_a_key_and_others_do_not() {
        let page = admitted("http://a.test/", 1, &words(0, 60));
        let same_url = admitted("http://a.test/", 2, &words(1000, 60));
        let same_bytes = admitted("http://b.test/", 1, &words(2000, 60));
        let same_text = admitted("http://c.test/", 3, &words(0, 60));
        let near = admitted("http://d.test/", 4, &words(0, 59));
        for other in [&same_url, &same_bytes, &same_text, &near] {
            assert!(share(&page, other), "{other:?}");
        }
        let other = admitted("http://e.test/", 5, &words(5000, 60));
        assert!(!share(&page, &other));
    }

    proptest! {
        #[test]
        fn fingerprints_within_the_distance_share_a_block(
            fingerprint: u64,
            distance in 0_u32..8,
            flips in proptest::collection::vec(0_u32..64, 0..8),
        ) {
            let keys = LogKeys::new(HashKey::ZERO, distance);
            let mut record = admitted("http://a.test/", 1, &words(0, 60));
            let mut other = admitted("http://b.test/", 2, &words(900, 60));
            let flipped = flips.iter().take(distance as usize)
                .fold(fingerprint, |bits, flip| bits ^ 1 << flip);
            for (record, fingerprint) in [(&mut record, fingerprint), (&mut other, flipped)] {
                if let Record::Admitted { signature, .. } = record {
                    let text = signature.text.as_mut().unwrap();
                    text.fingerprint = neardup::Fingerprint::new(fingerprint);
                }
            }
            let others = keys.of(&other, None);
            prop_assert!(keys.of(&record, None).iter().any(|key| others.contains(key)));
        }
    }
}
