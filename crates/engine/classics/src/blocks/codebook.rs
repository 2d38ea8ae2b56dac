//! The Huffman code for the position of the first bit that differs between two neighbours.
//!
//! The code is canonical: the lengths of the codes determine it (Schwartz and Kallick, CACM 1964).
//! No code is longer than twelve bits, so that decoding is one look-up in a table of 8 KiB. Every
//! position has a code, so that a book made from one table can encode any other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of symbols: 0 to 63 shared leading bits, and 64 for equal fingerprints.
pub(super) const SYMBOLS: usize = 65;

/// Length of the longest code in bits.
pub(super) const LONGEST: u32 = 12;

/// Size of a codebook in bytes: its version, and the length of each code.
pub const CODEBOOK_BYTES: usize = 1 + SYMBOLS;

const VERSION: u8 = 1;

/// A code for the number of leading bits that two neighbours share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codebook {
    lengths: [u8; SYMBOLS],
    codes: [u16; SYMBOLS],
    /// By the next [`LONGEST`] bits: the symbol, and the length of its code.
    decoding: Vec<(u8, u8)>,
}

impl Codebook {
    /// Returns the best book for these ascending fingerprints.
    #[must_use]
    pub fn of(sorted: &[u64]) -> Self {
        let mut counts = [0_u64; SYMBOLS];
        for pair in sorted.windows(2) {
            counts[(pair[0] ^ pair[1]).leading_zeros() as usize] += 1;
        }
        Self::weighted(counts)
    }

    /// Creates a good book for `count` random fingerprints that do not exist yet.
    #[must_use]
    pub fn for_count(count: u64) -> Self {
        let counts = shares_in_common(count).map(|share| (share * f64::from(1 << 20)) as u64);
        Self::weighted(counts)
    }

    /// Returns the expected length in bits of an encoded fingerprint among `count` random ones: its
    /// code, and the bits below the first differing bit.
    pub(super) fn expected_length(count: u64) -> f64 {
        let book = Self::for_count(count);
        let shares = shares_in_common(count);
        let lengths = (0_u32..).zip(shares).map(|(common, share)| {
            let below = 63_u32.saturating_sub(common);
            let (_, code) = book.code(common);
            share * f64::from(code + below)
        });
        // The shares add up to a little less than 1 where few fingerprints have neighbours.
        lengths.sum::<f64>() / shares.iter().sum::<f64>()
    }

    fn weighted(counts: [u64; SYMBOLS]) -> Self {
        // Symbols that never occur still need a code; flatter weights shorten the longest codes.
        let mut weights = counts.map(|count| count + 1);
        let mut lengths = huffman(&weights);
        while lengths.iter().any(|&length| u32::from(length) > LONGEST) {
            weights = weights.map(|weight| weight.div_ceil(4));
            lengths = huffman(&weights);
        }
        Self::canonical(lengths)
    }

    /// Returns the book as bytes: a version, and the length of each code.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; CODEBOOK_BYTES] {
        let mut bytes = [VERSION; CODEBOOK_BYTES];
        bytes[1..].copy_from_slice(&self.lengths);
        bytes
    }

    /// Returns the book stored as `bytes`.
    ///
    /// # Errors
    /// [`BrokenCodebook`] if the bytes are not a codebook.
    pub fn from_bytes(bytes: &[u8; CODEBOOK_BYTES]) -> Result<Self, BrokenCodebook> {
        let [version, lengths @ ..] = bytes;
        if *version != VERSION {
            return Err(BrokenCodebook::Version(*version));
        }
        if lengths
            .iter()
            .any(|&length| !(1..=LONGEST).contains(&u32::from(length)))
        {
            return Err(BrokenCodebook::Lengths);
        }
        // Kraft's equality: the codes fill the code space exactly.
        let taken: u32 = lengths
            .iter()
            .map(|&length| 1 << (LONGEST - u32::from(length)))
            .sum();
        if taken != 1 << LONGEST {
            return Err(BrokenCodebook::Lengths);
        }
        Ok(Self::canonical(*lengths))
    }

    /// Creates the canonical code of these lengths: shorter codes first, equal lengths in the order
    /// of the symbols.
    fn canonical(lengths: [u8; SYMBOLS]) -> Self {
        let mut order: Vec<usize> = (0..SYMBOLS).collect();
        order.sort_by_key(|&symbol| lengths[symbol]);
        let mut codes = [0; SYMBOLS];
        let mut decoding = Vec::with_capacity(1 << LONGEST);
        for symbol in order {
            let spare = LONGEST - u32::from(lengths[symbol]);
            codes[symbol] = (decoding.len() >> spare) as u16;
            decoding.resize(
                decoding.len() + (1 << spare),
                (symbol as u8, lengths[symbol]),
            );
        }
        Self {
            lengths,
            codes,
            decoding,
        }
    }

    /// Returns the code of `symbol` and its length.
    pub(super) fn code(&self, symbol: u32) -> (u64, u32) {
        let symbol = symbol as usize;
        (
            u64::from(self.codes[symbol]),
            u32::from(self.lengths[symbol]),
        )
    }

    /// Returns the symbol whose code these [`LONGEST`] bits begin with, and the length of its code.
    #[inline]
    pub(super) fn symbol(&self, bits: u64) -> (u32, u32) {
        let (symbol, length) = self.decoding[bits as usize];
        (u32::from(symbol), u32::from(length))
    }
}

/// Returns the shares of neighbours among `count` random fingerprints in ascending order that have
/// 0, 1, … leading bits in common.
fn shares_in_common(count: u64) -> [f64; SYMBOLS] {
    // m = n / 2ˢ of n random fingerprints share s leading bits with a given one (Poisson), and a
    // share of 1 − (1 − e⁻ᵐ) / m of all neighbours have these bits in common.
    let agree = |bits: usize| {
        let m = count.max(1) as f64 / (bits as f64).exp2();
        if m < 1e-9 {
            m / 2.0
        } else {
            1.0 + (-m).exp_m1() / m
        }
    };
    std::array::from_fn(|bits| (agree(bits) - agree(bits + 1)).max(0.0))
}

/// Reasons why bytes are not a codebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenCodebook {
    /// The codebook has another version.
    #[error("codebook version must be {VERSION}, got {0}")]
    Version(u8),
    /// Lengths that do not make a prefix code.
    #[error("the code lengths are invalid")]
    Lengths,
}

/// Returns the length of each code: repeatedly joins the two lightest trees, until one is left
/// (Huffman 1952).
fn huffman(weights: &[u64; SYMBOLS]) -> [u8; SYMBOLS] {
    let mut parents = [0_usize; 2 * SYMBOLS];
    let mut trees: BinaryHeap<Reverse<(u64, usize)>> = weights
        .iter()
        .zip(0..)
        .map(|(&weight, tree)| Reverse((weight, tree)))
        .collect();
    let mut next = SYMBOLS;
    while let (Some(Reverse(one)), Some(Reverse(other))) = (trees.pop(), trees.pop()) {
        parents[one.1] = next;
        parents[other.1] = next;
        trees.push(Reverse((one.0 + other.0, next)));
        next += 1;
        if trees.len() == 1 {
            break;
        }
    }
    let root = next - 1;
    std::array::from_fn(|symbol| {
        let mut depth = 0;
        let mut tree = symbol;
        while tree != root {
            tree = parents[tree];
            depth += 1;
        }
        depth
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frequent_symbols_have_short_codes() {
        let book = Codebook::for_count(1 << 20);
        let length = |symbol| book.code(symbol).1;
        assert!(
            length(19) <= 2 && length(0) > 8 && length(64) > 8,
            "{:?}",
            book.lengths
        );
    }

    #[test]
    fn invalid_codebooks_are_refused() {
        let mut bytes = Codebook::of(&[1, 2, 3]).to_bytes();
        bytes[0] = 2;
        let refusal = Codebook::from_bytes(&bytes).unwrap_err().to_string();
        assert_eq!(refusal, "codebook version must be 1, got 2");
        for length in [0, 13, 255, 1] {
            let wrong = [[1].as_slice(), &[length; SYMBOLS]].concat();
            let wrong: [u8; CODEBOOK_BYTES] = wrong.try_into().unwrap();
            assert_eq!(Codebook::from_bytes(&wrong), Err(BrokenCodebook::Lengths));
        }
    }

    proptest! {
        #[test]
        fn every_book_codes_every_symbol_and_is_read_as_it_was_written(
            mut values: Vec<u64>, count: u64, squeeze in 0..64_u32,
        ) {
            values.iter_mut().for_each(|value| *value >>= squeeze);
            values.sort_unstable();
            for book in [Codebook::of(&values), Codebook::for_count(count)] {
                prop_assert_eq!(Codebook::from_bytes(&book.to_bytes()).unwrap(), book.clone());
                for symbol in 0..SYMBOLS as u32 {
                    let (code, length) = book.code(symbol);
                    let padded = code << (LONGEST - length);
                    prop_assert_eq!(book.symbol(padded), (symbol, length));
                    prop_assert_eq!(
                        book.symbol(padded | ((1 << (LONGEST - length)) - 1)),
                        (symbol, length),
                    );
                }
            }
        }
    }
}
