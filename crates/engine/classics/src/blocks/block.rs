//! The format of one block.
//!
//! ```text
//! version: u8 = 1 · count: u16, little-endian · first fingerprint: u64, little-endian
//! of each further one: Huffman code of the leading bits in common c ·
//!     its 63 − c bits below the first that differs
//! zeros up to a whole byte
//! ```
//!
//! Fingerprints ascend, so at the first bit that differs the preceding fingerprint has a 0 and this
//! one a 1. That bit is not stored.

use super::bits::{BitReader, BitWriter};
use super::codebook::{Codebook, LONGEST};

/// Version at the beginning of a block.
pub const BLOCK_VERSION: u8 = 1;

/// Maximum number of fingerprints per block.
pub const MAX_IN_BLOCK: usize = u16::MAX as usize;

pub(super) const HEADER: usize = 1 + 2 + 8;

/// Encodes as many of `sorted`, from the beginning, as fit into `room` bytes. Returns the block and
/// the number of fingerprints: at least one and at most [`MAX_IN_BLOCK`]. No fingerprints make an
/// empty block.
///
/// ```
/// use classics::blocks::{BrokenBlock, Codebook, Decoder, encode};
///
/// let (book, sorted) = (Codebook::for_count(3), [3, 5, 5]);
/// let (block, count) = encode(&book, &sorted, 1_024);
/// assert_eq!(count, 3);
/// let read: Result<Vec<u64>, BrokenBlock> = Decoder::new(&book, &block)?.collect();
/// assert_eq!(read?, sorted);
/// # Ok::<(), BrokenBlock>(())
/// ```
#[must_use]
pub fn encode(book: &Codebook, sorted: &[u64], room: usize) -> (Vec<u8>, usize) {
    debug_assert!(sorted.is_sorted(), "fingerprints of a block ascend");
    let mut header = vec![BLOCK_VERSION, 0, 0];
    header.extend_from_slice(&sorted.first().copied().unwrap_or(0).to_le_bytes());
    let mut writer = BitWriter::behind(header);
    let mut count = sorted.len().min(1);
    for pair in sorted.windows(2).take(MAX_IN_BLOCK - 1) {
        let common = (pair[0] ^ pair[1]).leading_zeros();
        let (code, length) = book.code(common);
        let below = 63_u32.saturating_sub(common);
        if writer.len() + (length + below) as usize > room.saturating_mul(8) {
            break;
        }
        writer.write(code, length);
        writer.write(pair[1] & ((1 << below) - 1), below);
        count += 1;
    }
    let mut bytes = writer.finish();
    bytes[1..3].copy_from_slice(&(count as u16).to_le_bytes());
    (bytes, count)
}

/// A decoder that reads a block from its beginning, and only as far as requested: a search does not
/// decode the part after its goal.
///
/// Yields an error, and then nothing more, if the bytes are not a block of this book.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    book: &'a Codebook,
    reader: BitReader<'a>,
    previous: u64,
    count: usize,
    read: usize,
    is_broken: bool,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder of `block`, which was encoded with `book`.
    ///
    /// # Errors
    /// [`BrokenBlock`] if the header of `block` is invalid.
    pub fn new(book: &'a Codebook, block: &'a [u8]) -> Result<Self, BrokenBlock> {
        let (header, coded) = block
            .split_first_chunk::<HEADER>()
            .ok_or(BrokenBlock::Short)?;
        let &[version, c0, c1, f0, f1, f2, f3, f4, f5, f6, f7] = header;
        if version != BLOCK_VERSION {
            return Err(BrokenBlock::Version(version));
        }
        Ok(Self {
            book,
            reader: BitReader::new(coded),
            previous: u64::from_le_bytes([f0, f1, f2, f3, f4, f5, f6, f7]),
            count: usize::from(u16::from_le_bytes([c0, c1])),
            read: 0,
            is_broken: false,
        })
    }

    #[inline]
    fn step(&mut self) -> Result<u64, BrokenBlock> {
        let (common, length) = self.book.symbol(self.reader.peek(LONGEST));
        if !self.reader.skip(length) {
            return Err(BrokenBlock::Short);
        }
        if common == 64 {
            return Ok(self.previous);
        }
        let below = 63 - common;
        let rest = self.reader.read(below).ok_or(BrokenBlock::Short)?;
        let differing = 1 << below;
        if self.previous & differing != 0 {
            return Err(BrokenBlock::Unsorted);
        }
        Ok(self.previous & !(differing - 1) | differing | rest)
    }

    /// Checks the end of the block: only zero bits up to a whole byte follow the last fingerprint.
    fn end(&mut self) -> Result<(), BrokenBlock> {
        let left = self.reader.left();
        if left >= 8 || self.reader.peek(left as u32) != 0 {
            return Err(BrokenBlock::Long);
        }
        Ok(())
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<u64, BrokenBlock>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_broken {
            return None;
        }
        if self.read == self.count {
            // The end is checked once.
            self.is_broken = true;
            return self.end().err().map(Err);
        }
        if self.read > 0 {
            match self.step() {
                Ok(bits) => self.previous = bits,
                Err(broken) => {
                    self.is_broken = true;
                    return Some(Err(broken));
                }
            }
        }
        self.read += 1;
        Some(Ok(self.previous))
    }
}

/// Reasons why bytes are not a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenBlock {
    /// The block has another version.
    #[error("block version must be {BLOCK_VERSION}, got {0}")]
    Version(u8),
    /// The block ends before its last fingerprint.
    #[error("the block is truncated")]
    Short,
    /// The block continues after its last fingerprint.
    #[error("the block is followed by more bytes")]
    Long,
    /// A fingerprint is less than the preceding one.
    #[error("the fingerprints of the block do not ascend")]
    Unsorted,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    fn decoded(book: &Codebook, block: &[u8]) -> Result<Vec<u64>, BrokenBlock> {
        Decoder::new(book, block)?.collect()
    }

    #[test]
    fn a_block_is_pinned_to_the_byte() {
        let book = Codebook::for_count(1 << 10);
        let (block, count) = encode(&book, &[3, 1 << 60, 1 << 60, (1 << 60) + 5], 1_000);
        let hex: String = block.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            (hex.as_str(), count),
            (include_str!("../../golden/block.txt").trim(), 4)
        );
    }

    #[test]
    fn a_block_takes_as_many_fingerprints_as_fit_and_at_least_one() {
        let mut sorted: Vec<u64> = (0..3_000).map(mix).collect();
        sorted.sort_unstable();
        let book = Codebook::of(&sorted);
        for room in [0, 11, 12, 64, 1_024, 7_000, usize::MAX] {
            let (block, count) = encode(&book, &sorted, room);
            assert!(block.len() <= room.max(HEADER), "{room}");
            assert_eq!(decoded(&book, &block).unwrap(), sorted[..count]);
            assert!(count >= 1 && (room < usize::MAX || count == 3_000));
        }
        let (block, count) = encode(&book, &vec![7; 100_000], usize::MAX);
        assert_eq!(
            (count, decoded(&book, &block).unwrap().len()),
            (MAX_IN_BLOCK, MAX_IN_BLOCK)
        );
        assert_eq!(decoded(&book, &encode(&book, &[], 100).0), Ok(vec![]));
    }

    #[test]
    fn invalid_blocks_are_refused_with_a_reason() {
        let book = Codebook::for_count(100);
        let (block, _) = encode(&book, &[1, 2, 3], 100);
        assert_eq!(decoded(&book, &block[..10]), Err(BrokenBlock::Short));
        assert_eq!(
            decoded(&book, &block[..block.len() - 1]),
            Err(BrokenBlock::Short)
        );
        assert_eq!(
            decoded(&book, &[&block[..], &[0]].concat()),
            Err(BrokenBlock::Long)
        );
        assert_eq!(
            decoded(&book, &[&[9], &block[1..]].concat()),
            Err(BrokenBlock::Version(9))
        );
        let unsorted = [&block[..3], &u64::MAX.to_le_bytes(), &block[11..]].concat();
        assert_eq!(decoded(&book, &unsorted), Err(BrokenBlock::Unsorted));
    }

    proptest! {
        #[test]
        fn any_sorted_fingerprints_are_read_as_they_were_written(
            mut sorted: Vec<u64>, squeeze in 0..64_u32, expected: u64,
        ) {
            sorted.iter_mut().for_each(|bits| *bits >>= squeeze);
            sorted.sort_unstable();
            for book in [Codebook::of(&sorted), Codebook::for_count(expected)] {
                let (block, count) = encode(&book, &sorted, usize::MAX);
                prop_assert_eq!(count, sorted.len());
                prop_assert_eq!(decoded(&book, &block).unwrap(), sorted.clone());
            }
        }

        #[test]
        fn any_bytes_decode_to_ascending_fingerprints_or_an_error(
            mut block in prop::collection::vec(any::<u8>(), 0..200), count: u64, is_version: bool,
        ) {
            if let (true, Some(version)) = (is_version, block.first_mut()) {
                *version = BLOCK_VERSION;
            }
            if let Ok(read) = decoded(&Codebook::for_count(count), &block) {
                prop_assert!(read.is_sorted() && read.len() <= MAX_IN_BLOCK);
            }
        }
    }
}
