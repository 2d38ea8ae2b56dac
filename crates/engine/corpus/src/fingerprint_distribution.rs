//! The distribution of the fingerprints of a corpus.
//!
//! (Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, figure 3.)
//! Fingerprints of unrelated texts have about as many ones as zeros and are evenly distributed. A
//! spike is a text that many documents share.

use neardup::{Fingerprint, FingerprintBits, PageSignature};

/// Number of buckets for the highest bits of fingerprints, as in the paper.
const BUCKETS: usize = 128;

/// Number of fingerprints by their number of ones, and by their highest bits.
pub struct FingerprintDistribution {
    bits: FingerprintBits,
    ones: [u64; 65],
    buckets: [u64; BUCKETS],
}

impl FingerprintDistribution {
    /// Creates an empty distribution for fingerprints with this number of bits.
    pub fn new(bits: FingerprintBits) -> Self {
        Self {
            bits,
            ones: [0; 65],
            buckets: [0; BUCKETS],
        }
    }

    /// Counts the fingerprint of a document. A document without words has no fingerprint.
    pub fn add(&mut self, signature: &PageSignature) {
        if let Some(text) = signature.text.as_deref() {
            self.count(text.fingerprint);
        }
    }

    fn count(&mut self, fingerprint: Fingerprint) {
        let bits = fingerprint.as_u64();
        self.ones[bits.count_ones() as usize] += 1;
        self.buckets[(bits >> (self.bits.get() - BUCKETS.ilog2())) as usize] += 1;
    }

    /// Returns the number of fingerprints for each number of ones.
    pub fn by_ones(&self) -> impl Iterator<Item = (String, u64)> {
        let ones = self.ones.iter().enumerate();
        ones.map(|(ones, count)| (ones.to_string(), *count))
    }

    /// Returns the number of fingerprints for each value of the highest seven bits.
    pub fn by_first_bits(&self) -> impl Iterator<Item = (String, u64)> {
        let buckets = self.buckets.iter().enumerate();
        buckets.map(|(first, count)| (format!("{first:07b}"), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_counted_by_their_ones_and_by_their_highest_bits() {
        for (bits, one) in [(64, 0xff00_0000_0000_0001), (9, 0b1_1111_1101)] {
            let bits = FingerprintBits::new(bits).unwrap();
            let mut counted = FingerprintDistribution::new(bits);
            for fingerprint in [one, one, 0] {
                counted.count(Fingerprint::new(fingerprint));
            }
            let ones = (one.count_ones().to_string(), 2);
            let of = |all: Vec<(String, u64)>| -> Vec<_> {
                all.into_iter().filter(|(_, count)| *count > 0).collect()
            };
            assert_eq!(of(counted.by_ones().collect()), [("0".to_owned(), 1), ones]);
            let buckets = [("0000000".to_owned(), 1), ("1111111".to_owned(), 2)];
            assert_eq!(of(counted.by_first_bits().collect()), buckets);
        }
    }
}
