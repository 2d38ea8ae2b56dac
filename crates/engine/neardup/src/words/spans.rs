//! The bounds of words in a chunk of ASCII text, by UAX 29 restricted to ASCII.
//!
//! Letters, digits and `_` stick together; `.` `'` `:` (between letters) and `.` `'` `,` `;`
//! (between digits) join their neighbours (WB5 to WB13b); a word has a letter or a digit. One bit
//! per byte gives its class, and arithmetic on these bits turns 64 bytes at a time into words,
//! without a branch: a word starts where a set bit follows a clear bit (the bit masks of simdjson;
//! Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 2019).
//!
//! Invariant: the words depend only on the text, not on the instructions.

use super::hash::{MAX_SHORT_WORD, WordHash};

/// Number of bytes of text that are processed together: few enough that all intermediate data stay
/// in the first-level cache.
pub(crate) const CHUNK: usize = 4096;
/// Maximum number of edges of one kind in a block.
pub(crate) const EDGES: usize = BLOCK / 2;

pub(super) const BLOCK: usize = 64;
/// One block more than the text needs, so that the last word ends and a window of sixteen bytes can
/// start anywhere.
const BLOCKS: usize = CHUNK / BLOCK + 1;
/// Maximum number of words of a chunk, plus space for the edges of one block after them.
const WORDS: usize = CHUNK / 2 + EDGES;
/// Number of bytes of the text buffer.
pub(crate) const ROOM: usize = BLOCKS * BLOCK;

/// Sixty-four bytes of text.
pub(crate) type Block = [u8; BLOCK];

/// Classes of the bytes of a block: one bit per byte, the first byte in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    pub(crate) letters: u64,
    pub(crate) digits: u64,
    pub(crate) underscores: u64,
    /// `.` `'` `:`, which join two letters.
    pub(crate) join_letters: u64,
    /// `.` `'` `,` `;`, which join two digits.
    pub(crate) join_digits: u64,
}

/// The words of a chunk, and the buffers to find them in.
pub(crate) struct Spans {
    /// The text in lower case, followed by spaces.
    pub(super) lower: [u8; ROOM],
    classes: [Classes; BLOCKS],
    /// One bit per byte, set in words.
    words: [u64; BLOCKS],
    /// Number of blocks in use.
    pub(super) blocks: usize,
    /// True if a word may consist of `_` only.
    pub(super) underscores: bool,
    starts: [u16; WORDS],
    ends: [u16; WORDS],
    /// Number of words.
    found: usize,
}

impl Spans {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            lower: [b' '; ROOM],
            classes: [Classes::default(); BLOCKS],
            words: [0; BLOCKS],
            blocks: 0,
            underscores: false,
            starts: [0; WORDS],
            ends: [0; WORDS],
            found: 0,
        })
    }

    /// Copies `text`, at most a chunk of ASCII, and returns its blocks, which the caller converts
    /// to lower case and classifies; the last block is padded.
    #[inline(always)]
    pub(crate) fn take(&mut self, text: &[u8]) -> impl Iterator<Item = (&mut Block, &mut Classes)> {
        let text = &text[..text.len().min(CHUNK)];
        self.blocks = text.len() / BLOCK + 1;
        self.found = 0;
        let lower = &mut self.lower[..self.blocks * BLOCK];
        let (taken, padding) = lower.split_at_mut(text.len());
        taken.copy_from_slice(text);
        padding.fill(b' ');
        lower.as_chunks_mut().0.iter_mut().zip(&mut self.classes)
    }

    /// Finds the bytes of words from the classes.
    #[inline(always)]
    pub(crate) fn join(&mut self) {
        let classes = &self.classes[..self.blocks];
        let (mut letter_before, mut digit_before) = (0, 0);
        for (block, (words, class)) in self.words.iter_mut().zip(classes).enumerate() {
            let after = classes.get(block + 1).copied().unwrap_or_default();
            let around = |mask: u64, before: u64, after: u64| {
                (mask << 1 | before) & (mask >> 1 | after << 63)
            };
            let between_letters = around(class.letters, letter_before, after.letters);
            let between_digits = around(class.digits, digit_before, after.digits);
            let joined = class.join_letters & between_letters | class.join_digits & between_digits;
            *words = class.letters | class.digits | class.underscores | joined;
            (letter_before, digit_before) = (class.letters >> 63, class.digits >> 63);
        }
        self.underscores = classes.iter().fold(0, |any, class| any | class.underscores) != 0;
    }

    /// Finds the bytes of words from the gaps.
    #[inline(always)]
    pub(crate) fn see_gaps(&mut self) {
        let blocks = &self.lower.as_chunks().0[..self.blocks];
        for (words, block) in self.words.iter_mut().zip(blocks) {
            *words = above_space(block);
        }
    }

    /// Lists the starts and ends of words.
    #[inline(always)]
    pub(crate) fn list_edges(&mut self) {
        let (words, starts, ends) = self.edges();
        let (mut started, mut ended) = (0, 0);
        let mut inside = 0;
        for (block, &mask) in words.iter().enumerate() {
            let moved = mask << 1 | inside;
            inside = mask >> 63;
            started += list(mask & !moved, block * BLOCK, &mut starts[started..]);
            ended += list(moved & !mask, block * BLOCK, &mut ends[ended..]);
        }
        self.found(ended);
    }

    /// Returns the mask of each block, and the lists of starts and ends.
    #[inline(always)]
    pub(crate) fn edges(&mut self) -> (&[u64], &mut [u16; WORDS], &mut [u16; WORDS]) {
        (&self.words[..self.blocks], &mut self.starts, &mut self.ends)
    }

    /// Sets the number of listed words, and removes words that consist of `_` only.
    #[inline(always)]
    pub(crate) fn found(&mut self, words: usize) {
        self.found = words;
        if self.underscores {
            self.forget_mere_underscores();
        }
    }

    #[inline(never)]
    fn hash_long(&self, hash: WordHash, start: usize, length: usize) -> u64 {
        hash.of_long(&self.lower[start..start + length])
    }

    #[cold]
    fn forget_mere_underscores(&mut self) {
        let mut kept = 0;
        for word in 0..self.found {
            let (start, end) = (self.starts[word], self.ends[word]);
            let bytes = &self.lower[usize::from(start)..usize::from(end)];
            if bytes.iter().any(|&byte| byte != b'_') {
                (self.starts[kept], self.ends[kept]) = (start, end);
                kept += 1;
            }
        }
        self.found = kept;
    }
}

/// Fills `spans` with the words of `text`: ASCII, at most a chunk.
#[inline(always)]
pub(crate) fn find(text: &[u8], spans: &mut Spans) {
    for (lower, classes) in spans.take(text) {
        *classes = classify(lower);
        lower.make_ascii_lowercase();
    }
    spans.join();
    spans.list_edges();
}

/// Finds the words that were folded.
#[inline(always)]
pub(crate) fn find_folded(spans: &mut Spans) {
    spans.see_gaps();
    spans.list_edges();
}

/// Appends the hash of each word to `hashes`.
// Loops here and elsewhere are explicit: closures inside iterators may be compiled separately,
// without the instructions.
#[inline(always)]
pub(crate) fn hash(spans: &Spans, hash: WordHash, hashes: &mut Vec<u64>) {
    let (starts, ends) = (&spans.starts[..spans.found], &spans.ends[..spans.found]);
    let first = hashes.len();
    hashes.resize(first + spans.found, 0);
    let new = &mut hashes[first..];
    for ((unfinished, &start), &end) in new.iter_mut().zip(starts).zip(ends) {
        // Always less than a chunk; the modulus saves checking that sixteen more bytes exist.
        let start = usize::from(start) % CHUNK;
        let length = usize::from(end).wrapping_sub(start);
        *unfinished = match spans.lower[start..start + MAX_SHORT_WORD].first_chunk() {
            Some(window) if length <= MAX_SHORT_WORD => hash.of_window(window, length),
            _ => spans.hash_long(hash, start, length),
        };
    }
    for hash in new {
        *hash = super::hash::finished(*hash);
    }
}

/// Writes the positions of the bits set in `mask`, each plus `offset`; returns their number.
#[inline(always)]
fn list(mut mask: u64, offset: usize, places: &mut [u16]) -> usize {
    let count = mask.count_ones() as usize;
    for place in &mut places[..count] {
        *place = (offset + mask.trailing_zeros() as usize) as u16;
        mask &= mask - 1;
    }
    count
}

/// Classifies 64 bytes of ASCII, eight at a time.
#[inline(always)]
fn classify(block: &Block) -> Classes {
    let mut classes = Classes::default();
    for (at, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        // A sum reaches the top bit of a byte if the byte is large enough.
        let at_least = |bytes: u64, least: u8| bytes + EACH * u64::from(0x80 - least);
        let between = |bytes, first, last: u8| at_least(bytes, first) & !at_least(bytes, last + 1);
        let equal = |byte: u8| !at_least(eight ^ (EACH * u64::from(byte)), 1);
        let gathered = |found: u64| gathered(found) << (8 * at);
        let both = equal(b'.') | equal(b'\'');
        classes.letters |= gathered(between(eight | (EACH * 0x20), b'a', b'z'));
        classes.digits |= gathered(between(eight, b'0', b'9'));
        classes.underscores |= gathered(equal(b'_'));
        classes.join_letters |= gathered(both | equal(b':'));
        classes.join_digits |= gathered(both | equal(b',') | equal(b';'));
    }
    classes
}

/// Returns one bit per byte, set unless the byte is a gap.
#[inline(always)]
fn above_space(block: &Block) -> u64 {
    let mut words = 0;
    for (at, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let ascii = (eight & (EACH * 0x7f)) + EACH * u64::from(0x80 - (b' ' + 1));
        words |= gathered(ascii | eight) << (8 * at);
    }
    words
}

const EACH: u64 = 0x0101_0101_0101_0101;

/// Returns the top bits of all bytes in one byte.
#[inline(always)]
fn gathered(bytes: u64) -> u64 {
    (bytes >> 7 & EACH).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
