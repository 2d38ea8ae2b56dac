//! The hash of one word.
//!
//! A word of up to sixteen bytes is two 64-bit numbers. Each is xored with a number derived from
//! the key, and the two halves of their 128-bit product are xored ("folded multiplication", as in
//! wyhash by Wang Yi and rapidhash by Nicolas De Carli, both public domain or permissive). Longer
//! words, one in a thousand, are hashed by xxh3. Either result passes through [`finished`], so that
//! every bit of the word affects every bit of the hash.
//!
//! The two numbers come from the key by different bijections. The cheapest way to a collision would
//! be to exchange the factors. For it, an attacker would need the difference between the two
//! numbers, which nobody knows without the key. Invariant: stable for ever
//! (`golden/fingerprints.txt`), and the same from a slice as from a window of sixteen bytes.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::key::HashKey;
use crate::mix::mix;

/// Maximum length of a word that is hashed from two numbers.
pub(crate) const MAX_SHORT_WORD: usize = 16;

/// A hash function for words with one key.
#[derive(Clone, Copy)]
pub(crate) struct WordHash {
    low: u64,
    high: u64,
    seed: u64,
}

impl WordHash {
    #[inline]
    pub(crate) const fn new(key: HashKey) -> Self {
        let key = key.as_u64();
        Self {
            low: mix(key ^ 0x9e37_79b9_7f4a_7c15),
            high: mix(key ^ 0xd1b5_4a32_d192_ed03),
            seed: key,
        }
    }

    /// Returns the hash of `word`.
    #[inline]
    pub(crate) fn of(self, word: &[u8]) -> u64 {
        let unfinished = match halves(word) {
            Some((low, high)) => self.of_halves(low, high, word.len()),
            None => self.of_long(word),
        };
        finished(unfinished)
    }

    /// Returns the unfinished hash (see [`finished`]) of the word of `length` bytes, at most
    /// [`MAX_SHORT_WORD`], at the start of `window`; the bytes after the word do not matter.
    #[inline(always)]
    pub(crate) fn of_window(self, window: &[u8; MAX_SHORT_WORD], length: usize) -> u64 {
        let (low, high) = window.split_at(8);
        let number = |bytes: &[u8]| {
            bytes
                .first_chunk()
                .map_or(0, |eight| u64::from_le_bytes(*eight))
        };
        self.of_halves(
            number(low) & BYTE_MASKS[length + 8],
            number(high) & BYTE_MASKS[length],
            length,
        )
    }

    /// Returns the unfinished hash (see [`finished`]) of a word longer than [`MAX_SHORT_WORD`].
    pub(crate) fn of_long(self, word: &[u8]) -> u64 {
        xxh3_64_with_seed(word, self.seed)
    }

    #[inline(always)]
    fn of_halves(self, low: u64, high: u64, length: usize) -> u64 {
        let product = u128::from(low ^ self.low) * u128::from(high ^ self.high);
        // The length distinguishes a word from the same word followed by zero bytes.
        product as u64 ^ (product >> 64) as u64 ^ length as u64
    }
}

impl HashKey {
    /// Returns the hash of one token: a word, or a few characters.
    #[inline]
    pub(crate) fn token(self, token: &[u8]) -> u64 {
        WordHash::new(self).of(token)
    }
}

/// Mixes `value` so that low bits depend on high bits and vice versa; a bijection. One 64-bit
/// multiplication is enough because the input is already a hash, or a sum of hashes.
#[inline(always)]
pub(crate) const fn finished(mut value: u64) -> u64 {
    value ^= value >> 32;
    value = value.wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ (value >> 32)
}

/// Masks: `BYTE_MASKS[8 + n]` keeps the lowest `n` bytes, with `n` clamped to 0..=8.
const BYTE_MASKS: [u64; 8 + MAX_SHORT_WORD + 1] = {
    let mut kept = [0; 8 + MAX_SHORT_WORD + 1];
    let mut bytes = 1;
    while bytes <= MAX_SHORT_WORD {
        kept[8 + bytes] = if bytes >= 8 {
            u64::MAX
        } else {
            (1 << (8 * bytes)) - 1
        };
        bytes += 1;
    }
    kept
};

/// Returns the first eight bytes and the rest, each as a little-endian number; `None` if the word
/// is too long.
#[inline]
fn halves(word: &[u8]) -> Option<(u64, u64)> {
    let length = word.len();
    if length > MAX_SHORT_WORD {
        return None;
    }
    if let (Some(first), Some(last)) = (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        let last = u64::from_le_bytes(*last);
        let high = if length == 8 {
            0
        } else {
            last >> (8 * (MAX_SHORT_WORD - length))
        };
        return Some((u64::from_le_bytes(*first), high));
    }
    if let (Some(first), Some(last)) = (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return Some((u64::from(first) | u64::from(last) << (8 * (length - 4)), 0));
    }
    Some((
        word.iter()
            .rev()
            .fold(0, |low, &byte| low << 8 | u64::from(byte)),
        0,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Returns words as in a text: all of up to three letters, numbers, and letters with an ending.
    fn words() -> Vec<String> {
        let letters = || ('a'..='z').map(String::from);
        let two: Vec<String> = letters()
            .flat_map(|a| letters().map(move |b| a.clone() + &b))
            .collect();
        let three = two
            .iter()
            .flat_map(|two| letters().map(move |c| two.clone() + &c));
        let numbers = (0..20_000).map(|number| number.to_string());
        let endings = ["s", "ed", "ing", "ation", "fulnesses", "izationally"];
        let ended = two
            .iter()
            .flat_map(|two| endings.map(|ending| two.clone() + ending));
        letters()
            .chain(two.clone())
            .chain(three)
            .chain(numbers)
            .chain(ended)
            .collect()
    }

    #[test]
    fn each_bit_of_a_word_turns_each_bit_of_its_hash_in_about_half_of_the_cases() {
        const KEYS: u64 = 1_500;
        for length in [1, 2, 3, 5, 8, 9, 12, MAX_SHORT_WORD] {
            let word: Vec<u8> = (0..length as u8).map(|at| b'a' + at).collect();
            for bit in 0..8 * length {
                let mut other = word.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                let mut turned = [0_u32; 64];
                for key in 0..KEYS {
                    let hash = WordHash::new(HashKey::new(mix(key)));
                    let difference = hash.of(&word) ^ hash.of(&other);
                    for (out, turned) in turned.iter_mut().enumerate() {
                        *turned += (difference >> out & 1) as u32;
                    }
                }
                for (out, turned) in turned.iter().enumerate() {
                    let share = f64::from(*turned) / KEYS as f64;
                    assert!(
                        (0.4..0.6).contains(&share),
                        "length {length}, bit {bit} → {out}: {share}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_bit_of_the_hash_favours_a_side_over_common_words() {
        let words = words();
        for key in [HashKey::ZERO, HashKey::new(1), HashKey::new(u64::MAX)] {
            let hash = WordHash::new(key);
            let hashes: Vec<u64> = words.iter().map(|word| hash.of(word.as_bytes())).collect();
            let deviation = (words.len() as f64).sqrt() / 2.0;
            for bit in 0..64 {
                let ones = hashes.iter().filter(|hash| *hash >> bit & 1 == 1).count();
                let off = (ones as f64 - words.len() as f64 / 2.0) / deviation;
                assert!(
                    off.abs() < 5.0,
                    "{key:?}, bit {bit}: {off} standard deviations"
                );
            }
        }
    }

    #[test]
    fn two_bits_of_the_hash_agree_in_half_of_the_common_words() {
        let words = words();
        let hash = WordHash::new(HashKey::ZERO);
        let deviation = (words.len() as f64).sqrt() / 2.0;
        let hashes: Vec<u64> = words.iter().map(|word| hash.of(word.as_bytes())).collect();
        for distance in [1, 2, 5, 8, 13, 16, 24, 31, 32] {
            for bit in 0..64 {
                let differing =
                    |hash: &&u64| (**hash ^ hash.rotate_right(distance)) >> bit & 1 == 1;
                let differing = hashes.iter().filter(differing).count();
                let off = (differing as f64 - words.len() as f64 / 2.0) / deviation;
                assert!(
                    off.abs() < 6.0,
                    "bits {bit} and {distance} further: {off} standard deviations"
                );
            }
        }
    }

    #[test]
    fn common_words_collide_in_32_bits_no_more_often_than_by_chance() {
        let words = words();
        let hash = WordHash::new(HashKey::ZERO);
        let hashes: HashSet<u64> = words.iter().map(|word| hash.of(word.as_bytes())).collect();
        let distinct: HashSet<&String> = words.iter().collect();
        assert_eq!(hashes.len(), distinct.len());
        for (half, shift) in [("low", 0), ("high", 32)] {
            let halves: HashSet<u32> = hashes.iter().map(|hash| (hash >> shift) as u32).collect();
            // 43 thousand words make 0.2 collisions in 32 bits.
            assert!(
                hashes.len() - halves.len() <= 4,
                "{half}: {}",
                hashes.len() - halves.len()
            );
        }
    }

    #[test]
    fn exchanged_halves_and_zeros_behind_a_word_give_other_hashes() {
        let hash = WordHash::new(HashKey::ZERO);
        assert_ne!(hash.of(b"01234567abcdefgh"), hash.of(b"abcdefgh01234567"));
        let zeros: HashSet<u64> = (0..100).map(|length| hash.of(&vec![0; length])).collect();
        assert_eq!(zeros.len(), 100);
        // An attacker who knows the difference under another key exchanges the factors.
        let known = WordHash::new(HashKey::new(1));
        let difference = known.low ^ known.high;
        let (low, high) = (0x6162_6364_6566_6768_u64, 0x696a_6b6c_6d6e_6f70_u64);
        let word = [low.to_le_bytes(), high.to_le_bytes()].concat();
        let crafted = [
            (high ^ difference).to_le_bytes(),
            (low ^ difference).to_le_bytes(),
        ]
        .concat();
        assert_eq!(known.of(&word), known.of(&crafted));
        assert_ne!(hash.of(&word), hash.of(&crafted));
    }

    proptest! {
        #[test]
        fn a_word_has_the_same_hash_in_a_window_whatever_follows_it(
            window: [u8; MAX_SHORT_WORD],
            length in 0..=MAX_SHORT_WORD,
            key: u64,
        ) {
            let hash = WordHash::new(HashKey::new(key));
            prop_assert_eq!(finished(hash.of_window(&window, length)), hash.of(&window[..length]));
        }
    }
}
