//! Indexes of fingerprints: files that are probed without reading them whole.
//!
//! Four permuted sorted tables (Manku, Jain and Das Sarma, WWW 2007, section 3.1), each led by one
//! quarter of the bits and then by the other quarter of the same half. Of k errors at most ⌊k/2⌋
//! lie in the upper half or at most ⌈k/2⌉ − 1 in the lower one, and of three errors in a half one
//! quarter has at most one. So every distance up to 7 is found in the same four tables, by 1 to 68
//! looks at short runs (`fingerprint_index/steps.rs`); the paper's designs would need 8 tables for
//! 7 bits with runs of n / 2⁸, and other tables for each distance.
//!
//! The file consists of blocks of 4,096 bytes: 4,088 of data and 8 of checksum, the low half of
//! xxh3-128 seeded with the number of the block. Block 0 is the header, little-endian:
//!
//! | bytes | header |
//! |---|---|
//! | 8 | `NEARDUPX` |
//! | 2 | version of the format: 1 |
//! | 2 | [`neardup::ALGORITHM`] |
//! | 1 | bits of a fingerprint, b: 8 to 64 |
//! | 1 | bits of an id; 0 without ids |
//! | 2 | zero |
//! | 8 | number of fingerprints, n |
//! | 16 | [`neardup::ParametersDigest`] |
//!
//! Columns of numbers follow, each packed in its own blocks from the lowest bit on; no number is
//! split between two blocks. A quarter has ⌊b/4⌋ bits, the first b mod 4 quarters one more. With d
//! = ⌊log₂ n⌋ − 4, at least 0 and at most 2⌊b/4⌋, and with positions of p bits (as many as n − 1
//! needs, at least 1), a table has
//!
//! - n entries of b − d + p bits: the fingerprint, its bits in the order of the table, without the
//!   leading d, above its position in the file of fingerprints. They are in the order of the
//!   permuted fingerprints and of the positions.
//! - 2ᵈ + 1 numbers, as wide as n itself: for each value of the leading d bits, the number of
//!   entries before the first with that value; finally n.
//!
//! The tables are led by the first, second, third and fourth quarter; the half that does not lead
//! comes last, in its own order. The ids follow the tables in the order of positions, if there are
//! any.
//!
//! Invariant: the header is written last, so an unfinished index is a damaged one; every block is
//! checked when it is read, so damage is an error and never a wrong answer. The format is stable
//! for ever (`golden/index.hex`); another format gets another version.

mod column;
mod file;
mod layout;
mod probe;
mod search;
mod steps;
mod writer;

pub use file::FingerprintIndex;
pub use probe::{IndexMatch, IndexReader};
pub use writer::{IndexOptions, IndexWriter};
