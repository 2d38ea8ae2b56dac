//! A sorted table in coded blocks.

use neardup::tables::first_not_below;

use super::block::{BrokenBlock, Decoder, encode};
use super::codebook::Codebook;

/// A table of fingerprints in the order of one permutation, encoded in blocks; the last fingerprint
/// of a block is its key.
///
/// ```
/// use classics::blocks::{BrokenBlock, CodedTable};
///
/// let table = CodedTable::of(&[0x0100, 0x0101, 0xff00], 1_024);
/// let mut found = Vec::new();
/// table.alike(0x0100, 63, |bits| found.push(bits))?;
/// assert_eq!(found, [0x0100, 0x0101]);
/// # Ok::<(), BrokenBlock>(())
/// ```
#[derive(Clone, Debug)]
pub struct CodedTable {
    book: Codebook,
    /// Last fingerprint of each block.
    keys: Vec<u64>,
    blocks: Vec<Vec<u8>>,
}

impl CodedTable {
    /// Creates a table of ascending fingerprints, in blocks of at most `room` bytes (and at least
    /// one fingerprint).
    #[must_use]
    pub fn of(sorted: &[u64], room: usize) -> Self {
        let book = Codebook::of(sorted);
        let (mut keys, mut blocks) = (Vec::new(), Vec::new());
        let mut rest = sorted;
        while !rest.is_empty() {
            let (block, count) = encode(&book, rest, room);
            keys.push(rest[count - 1]);
            blocks.push(block);
            rest = &rest[count..];
        }
        Self { book, keys, blocks }
    }

    /// Calls `visit` with all fingerprints that share the `prefix` leading bits with `probe`,
    /// ascending. Decodes only the blocks that hold them, and no further than needed.
    ///
    /// # Errors
    /// [`BrokenBlock`] if a block is invalid. This table encoded its own blocks, so that this does
    /// not happen.
    pub fn alike(
        &self,
        probe: u64,
        prefix: u32,
        mut visit: impl FnMut(u64),
    ) -> Result<(), BrokenBlock> {
        let others = u64::MAX.checked_shr(prefix).unwrap_or(0);
        let (low, high) = (probe & !others, probe | others);
        let first = first_not_below(self.keys.len(), low, |block| self.keys[block]);
        for block in &self.blocks[first..] {
            for bits in Decoder::new(&self.book, block)? {
                let bits = bits?;
                if bits > high {
                    return Ok(());
                }
                if bits >= low {
                    visit(bits);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CODEBOOK_BYTES, expected_bits};
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    /// Returns a part of a table of 2ᵈ that is small enough for a test: its lowest fingerprints,
    /// which are as dense as anywhere in it.
    fn part_of_a_table(d: u32) -> Vec<u64> {
        let mut sorted: Vec<u64> = (0..1 << 16)
            .map(|n| mix(n) >> d.saturating_sub(16))
            .collect();
        sorted.sort_unstable();
        sorted
    }

    /// Returns the number of bits a fingerprint, including the headers of blocks, the keys and the
    /// codebook.
    fn bits_each(table: &CodedTable, count: usize) -> f64 {
        let blocks: usize = table.blocks.iter().map(Vec::len).sum();
        let bytes = blocks + table.keys.len() * size_of::<u64>() + CODEBOOK_BYTES;
        bytes as f64 * 8.0 / count as f64
    }

    #[test]
    fn larger_tables_take_fewer_bits_and_about_half_at_the_size_of_the_paper() {
        for (d, most) in [(16, 53.0), (20, 49.0), (24, 45.0), (28, 41.0), (34, 35.0)] {
            let part = part_of_a_table(d);
            let bits = bits_each(&CodedTable::of(&part, 1_024), part.len());
            println!("a table of 2^{d}: {bits:.1} bits a fingerprint");
            assert!(bits < most && bits > f64::from(64 - d), "2^{d}: {bits}");
            let expected = expected_bits(1 << d);
            assert!(
                (expected / bits - 1.0).abs() < 0.02,
                "2^{d}: {bits}, expected {expected}"
            );
        }
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let table = CodedTable::of(&[], 1_024);
        assert_eq!(table.alike(7, 0, |_| panic!("found one")), Ok(()));
    }

    proptest! {
        #[test]
        fn a_search_finds_what_a_scan_finds(
            mut sorted in prop::collection::vec(any::<u64>(), 0..600),
            squeeze in 0..64_u32,
            probe: u64,
            prefix in 0..=64_u32,
            room in 12..300_usize,
        ) {
            sorted.iter_mut().for_each(|bits| *bits >>= squeeze);
            sorted.sort_unstable();
            let table = CodedTable::of(&sorted, room);
            let probes = sorted.iter().copied().step_by(29).chain([probe, probe >> squeeze]);
            for probe in probes {
                let mut found = Vec::new();
                table.alike(probe, prefix, |bits| found.push(bits)).unwrap();
                let agrees = |bits: &u64| (bits ^ probe).leading_zeros() >= prefix;
                let expected: Vec<u64> = sorted.iter().copied().filter(agrees).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
