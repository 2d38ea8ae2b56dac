//! Compressed blocks of sorted fingerprints, at about half their size.
//!
//! In a table of 2ᵈ fingerprints, two neighbours share about their d leading bits. A block stores
//! its first fingerprint unchanged. For each further fingerprint it stores the position of the
//! highest bit that differs from the preceding fingerprint, in a Huffman code, followed by the bits
//! below that position (Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling",
//! WWW 2007, section 3.3). The last fingerprint of a block is its key, and blocks are found by
//! interpolation between keys.
//!
//! The format is stable: a block has a version, all its numbers have a fixed byte order, and bytes
//! that are not a block are an error. Changed bytes are detected by the store, which frames blocks
//! with a checksum.

mod bits;
mod block;
mod codebook;
mod expected;
mod table;

pub use block::{BLOCK_VERSION, BrokenBlock, Decoder, MAX_IN_BLOCK, encode};
pub use codebook::{BrokenCodebook, CODEBOOK_BYTES, Codebook};
pub use expected::{USUAL_BLOCK, expected_bits};
pub use table::CodedTable;
