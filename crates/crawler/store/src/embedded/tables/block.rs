//! One block of a sorted table: its encoding.
//!
//! ```text
//! key     table u8 · first key u64 · first document u32                             (big-endian)
//! value   version u8 = 1 · count u16 · low bits l u8 · document bits d u8 · crc32 u32
//!         words u64: of each posting the l low bits of its key less the first key; then of each
//!         its document in d bits                                                 (little-endian)
//!         words u64: of each posting the rest of its key less the first key, in unary
//! ```
//!
//! Keys ascend from a known key, so they are coded after Elias (JACM 1974) and Fano (1971). With l
//! the integer part of log₂ (span / count), any key takes less than l + 3 bits. That is about a bit
//! more than the entropy, like the Huffman code of Manku, Jain and Das Sarma (WWW 2007, section
//! 3.3), but without a codebook that must be kept and becomes outdated. A block of fingerprints, of
//! 32-bit bands or of equal keys determines its own l. Tables without documents have document 0
//! everywhere, which takes no bits.
//!
//! Invariant: the checksum covers the key as well, so a block under another block's key is not
//! read. A block has at most [`MOST`] postings, so that it never exceeds
//! [`MAX_VALUE_BYTES`](super::super::database::MAX_VALUE_BYTES).

use super::{Posting, Table};

/// Maximum number of postings of a block.
pub(super) const MOST: usize = 512;

/// The length of a block's key.
pub(super) const KEY_BYTES: usize = 1 + 8 + 4;

const VERSION: u8 = 1;
const HEADER: usize = 1 + 2 + 1 + 1 + 4;
const CHECKSUM: usize = HEADER - 4;

/// The reason why bytes are not a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BrokenBlock {
    #[error("a key of a sorted table is malformed")]
    Key,
    #[error("block version must be {VERSION}, got {0}")]
    Version(u8),
    #[error("the checksum of a block is wrong")]
    Checksum,
    #[error("a block is malformed")]
    Malformed,
    #[error("the postings of a block do not ascend from its key")]
    Unsorted,
}

/// Returns the key of the block that begins with `first`.
pub(super) fn key_of(table: Table, first: Posting) -> [u8; KEY_BYTES] {
    let mut key = [table.0; KEY_BYTES];
    key[1..9].copy_from_slice(&first.key.to_be_bytes());
    key[9..].copy_from_slice(&first.document.to_be_bytes());
    key
}

/// Returns the first posting of the block with this key.
pub(super) fn first_of(key: &[u8]) -> Result<Posting, BrokenBlock> {
    let &[_table, k0, k1, k2, k3, k4, k5, k6, k7, d0, d1, d2, d3] =
        key.as_array::<KEY_BYTES>().ok_or(BrokenBlock::Key)?;
    Ok(Posting {
        key: u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
        document: u32::from_be_bytes([d0, d1, d2, d3]),
    })
}

/// Encodes 1 to [`MOST`] ascending postings as a block under `key`.
pub(super) fn encode(key: &[u8; KEY_BYTES], postings: &[Posting]) -> Vec<u8> {
    debug_assert!((1..=MOST).contains(&postings.len()) && postings.is_sorted());
    let (first, last) = match postings {
        [] => return Vec::new(),
        [first, .., last] => (first.key, last.key),
        [one] => (one.key, one.key),
    };
    let low_bits = ((last - first) / postings.len() as u64)
        .checked_ilog2()
        .unwrap_or(0);
    let most = postings
        .iter()
        .map(|posting| posting.document)
        .max()
        .unwrap_or(0);
    let document_bits = u32::BITS - most.leading_zeros();

    let mut packed = BitWriter::default();
    for posting in postings {
        packed.write((posting.key - first) & !(u64::MAX << low_bits), low_bits);
    }
    for posting in postings {
        packed.write(u64::from(posting.document), document_bits);
    }
    let mut highs =
        vec![0_u64; (((last - first) >> low_bits) as usize + postings.len()).div_ceil(64)];
    for (number, posting) in postings.iter().enumerate() {
        let place = ((posting.key - first) >> low_bits) as usize + number;
        highs[place / 64] |= 1 << (place % 64);
    }

    let mut value = Vec::with_capacity(HEADER + 8 * (packed.words.len() + highs.len()));
    value.push(VERSION);
    value.extend_from_slice(&(postings.len() as u16).to_le_bytes());
    value.extend_from_slice(&[low_bits as u8, document_bits as u8, 0, 0, 0, 0]);
    for word in packed.words.iter().chain(&highs) {
        value.extend_from_slice(&word.to_le_bytes());
    }
    let checksum = checksum(key, &value[..CHECKSUM], &value[HEADER..]);
    value[CHECKSUM..HEADER].copy_from_slice(&checksum.to_le_bytes());
    value
}

fn checksum(key: &[u8], head: &[u8], words: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(head);
    hasher.update(words);
    hasher.finalize()
}

/// A block with a correct checksum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    first: Posting,
    count: usize,
    low_bits: u32,
    document_bits: u32,
    packed: &'a [[u8; 8]],
    highs: &'a [[u8; 8]],
}

impl<'a> Block<'a> {
    pub(super) fn read(key: &[u8], value: &'a [u8]) -> Result<Self, BrokenBlock> {
        let first = first_of(key)?;
        let (header, words) = value
            .split_first_chunk::<HEADER>()
            .ok_or(BrokenBlock::Malformed)?;
        let &[version, n0, n1, low_bits, document_bits, c0, c1, c2, c3] = header;
        if version != VERSION {
            return Err(BrokenBlock::Version(version));
        }
        if checksum(key, &value[..CHECKSUM], words) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(BrokenBlock::Checksum);
        }
        let count = usize::from(u16::from_le_bytes([n0, n1]));
        let (low_bits, document_bits) = (u32::from(low_bits), u32::from(document_bits));
        if !(1..=MOST).contains(&count) || low_bits > 63 || document_bits > 32 {
            return Err(BrokenBlock::Malformed);
        }
        let (words, rest) = words.as_chunks::<8>();
        let packed = (count * (low_bits + document_bits) as usize).div_ceil(64);
        // There is at least one word of high bits, which the reader of packed bits relies on.
        if !rest.is_empty() || words.len() <= packed {
            return Err(BrokenBlock::Malformed);
        }
        let (packed_and_one, highs) = (&words[..=packed], &words[packed..]);
        Ok(Self {
            first,
            count,
            low_bits,
            document_bits,
            packed: packed_and_one,
            highs,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the postings, ascending. If the block is malformed, an error ends them.
    pub(super) fn postings(&self) -> Postings<'a> {
        Postings {
            block: *self,
            number: 0,
            word: 0,
            ones: self
                .highs
                .first()
                .map_or(0, |word| u64::from_le_bytes(*word)),
            previous: self.first,
            is_over: false,
        }
    }

    /// Adds all postings to `into`.
    pub(super) fn decode(&self, into: &mut Vec<Posting>) -> Result<(), BrokenBlock> {
        into.reserve(self.count);
        for posting in self.postings() {
            into.push(posting?);
        }
        Ok(())
    }

    /// Returns `width` bits, at most 63, starting at bit `at` of the packed words.
    #[inline]
    fn bits(&self, at: usize, width: u32) -> u64 {
        let word = |number: usize| {
            self.packed
                .get(number)
                .map_or(0, |word| u64::from_le_bytes(*word))
        };
        let shift = (at % 64) as u32;
        let window = word(at / 64) >> shift | word(at / 64 + 1) << 1 << (63 - shift);
        window & !(u64::MAX << width)
    }
}

/// An iterator over the postings of a block.
#[derive(Clone, Debug)]
pub(super) struct Postings<'a> {
    block: Block<'a>,
    /// Number of postings read so far.
    number: usize,
    /// The current word of the high bits, and its remaining bits.
    word: usize,
    ones: u64,
    previous: Posting,
    is_over: bool,
}

impl Postings<'_> {
    #[inline]
    fn step(&mut self) -> Result<Posting, BrokenBlock> {
        let block = &self.block;
        while self.ones == 0 {
            self.word += 1;
            let word = block.highs.get(self.word).ok_or(BrokenBlock::Malformed)?;
            self.ones = u64::from_le_bytes(*word);
        }
        let place = self.word * 64 + self.ones.trailing_zeros() as usize;
        self.ones &= self.ones - 1;
        // `number` of the ones up to this place are before it.
        let high = (place - self.number) as u64;
        let low = block.bits(self.number * block.low_bits as usize, block.low_bits);
        if high.leading_zeros() < block.low_bits {
            return Err(BrokenBlock::Unsorted);
        }
        let below =
            block.count * block.low_bits as usize + self.number * block.document_bits as usize;
        let posting = Posting {
            key: block
                .first
                .key
                .checked_add(high << block.low_bits | low)
                .ok_or(BrokenBlock::Unsorted)?,
            document: block.bits(below, block.document_bits) as u32,
        };
        let ascends = match self.number {
            0 => posting == block.first,
            _ => posting > self.previous,
        };
        if !ascends {
            return Err(BrokenBlock::Unsorted);
        }
        self.number += 1;
        self.previous = posting;
        Ok(posting)
    }

    /// Checks that no high bit is left after the last posting.
    fn end(&self) -> Result<(), BrokenBlock> {
        if self.ones == 0 && self.word + 1 == self.block.highs.len() {
            Ok(())
        } else {
            Err(BrokenBlock::Malformed)
        }
    }
}

impl Iterator for Postings<'_> {
    type Item = Result<Posting, BrokenBlock>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        if self.number == self.block.count {
            self.is_over = true;
            return self.end().err().map(Err);
        }
        let step = self.step();
        self.is_over = step.is_err();
        Some(step)
    }
}

/// Bits in words, the least significant first.
#[derive(Default)]
struct BitWriter {
    words: Vec<u64>,
    len: usize,
}

impl BitWriter {
    /// Writes the lowest `width` bits of `value`, at most 63; higher bits must be zero.
    fn write(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        let shift = (self.len % 64) as u32;
        match self.words.last_mut() {
            Some(last) if shift > 0 => *last |= value << shift,
            _ => self.words.push(value),
        }
        if shift + width > 64 {
            self.words.push(value >> (64 - shift));
        }
        self.len += width as usize;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::database::MAX_VALUE_BYTES;
    use super::*;

    const TABLE: Table = Table::new(3);

    fn written(postings: &[Posting]) -> ([u8; KEY_BYTES], Vec<u8>) {
        let key = key_of(TABLE, postings[0]);
        let value = encode(&key, postings);
        (key, value)
    }

    fn read(key: &[u8], value: &[u8]) -> Result<Vec<Posting>, BrokenBlock> {
        let mut postings = Vec::new();
        Block::read(key, value)?.decode(&mut postings)?;
        Ok(postings)
    }

    /// A block whose checksum is right, whatever its bytes say.
    fn sealed(key: &[u8], mut value: Vec<u8>) -> Vec<u8> {
        let checksum = checksum(key, &value[..CHECKSUM], &value[HEADER..]);
        value[CHECKSUM..HEADER].copy_from_slice(&checksum.to_le_bytes());
        value
    }

    /// Postings of every sort: spread over 64 bits or over few, with documents or without, many
    /// under one key.
    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let any = prop::collection::vec((any::<u64>(), any::<u32>()), 1..MOST);
        (any, 0..64_u32, 0..=32_u32).prop_map(|(pairs, squeeze, narrow)| {
            let mut postings: Vec<Posting> = pairs
                .into_iter()
                .map(|(key, document)| {
                    Posting::new(key >> squeeze, document.checked_shr(narrow).unwrap_or(0))
                })
                .collect();
            postings.sort_unstable();
            postings.dedup();
            postings
        })
    }

    #[test]
    fn a_block_is_pinned_to_the_byte() {
        let postings = [(3, 1), (1 << 40, 2), (1 << 40, 700), (u64::MAX, 5)];
        let (key, value) = written(&postings.map(|(key, document)| Posting::new(key, document)));
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let pinned = include_str!("../../../golden/block.hex");
        assert_eq!(format!("{}\n{}\n", hex(&key), hex(&value)), pinned);
    }

    #[test]
    fn the_largest_block_is_a_value_that_the_database_takes() {
        let apart = u64::MAX / (MOST as u64 - 1);
        let widest: Vec<Posting> = (0..MOST as u64)
            .map(|number| Posting::new(number * apart, u32::MAX))
            .collect();
        let (key, value) = written(&widest);
        assert!(value.len() <= MAX_VALUE_BYTES, "{}", value.len());
        assert_eq!(read(&key, &value).unwrap(), widest);
    }

    #[test]
    fn a_block_under_the_key_of_another_is_not_read() {
        let postings = [Posting::new(1, 1), Posting::new(9, 2)];
        let (_key, value) = written(&postings);
        let elsewhere = key_of(Table::new(4), postings[0]);
        assert_eq!(read(&elsewhere, &value), Err(BrokenBlock::Checksum));
        assert_eq!(read(&[3, 1], &value), Err(BrokenBlock::Key));
    }

    #[test]
    fn another_version_is_named() {
        let (key, mut value) = written(&[Posting::new(1, 1)]);
        value[0] = 7;
        assert_eq!(
            read(&key, &value).unwrap_err().to_string(),
            "block version must be 1, got 7"
        );
    }

    proptest! {
        #[test]
        fn postings_are_read_as_they_were_written(postings in postings()) {
            let (key, value) = written(&postings);
            prop_assert!(value.len() <= MAX_VALUE_BYTES);
            prop_assert_eq!(Block::read(&key, &value).unwrap().count(), postings.len());
            prop_assert_eq!(read(&key, &value).unwrap(), postings);
        }

        #[test]
        fn a_flipped_bit_anywhere_is_an_error(
            postings in postings(), place: prop::sample::Index, bit in 0..8_u32,
        ) {
            let (key, value) = written(&postings);
            let mut both = [&key[..], &value].concat();
            both[place.index(key.len() + value.len())] ^= 1 << bit;
            let (key, value) = both.split_at(KEY_BYTES);
            prop_assert!(read(key, value).is_err());
        }

        /// Also under a forged checksum.
        #[test]
        fn any_bytes_are_read_as_postings_that_ascend_from_the_key_or_are_an_error(
            postings in postings(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            length in prop::option::of(0..300_usize),
        ) {
            let (key, mut value) = written(&postings);
            for (place, byte) in changes {
                let length = value.len();
                value[place.index(length)] = byte;
            }
            value.resize(HEADER + length.unwrap_or(value.len() - HEADER), 0x5a);
            if let Ok(read) = read(&key, &sealed(&key, value)) {
                prop_assert!(read.is_sorted_by(|one, next| one < next));
                prop_assert_eq!(read.first(), postings.first());
            }
        }
    }
}
