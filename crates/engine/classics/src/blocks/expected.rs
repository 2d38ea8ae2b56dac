//! The expected size of encoded tables, which a plan needs before they exist.

use super::block::HEADER;
use super::codebook::Codebook;

/// Size of a block in bytes, as in the paper (section 3.3).
pub const USUAL_BLOCK: usize = 1_024;

/// Returns the expected number of bits per fingerprint, for `count` random fingerprints of 64 bits
/// in a table of encoded blocks of [`USUAL_BLOCK`] bytes, with the headers and keys of the blocks
/// (Manku, Jain and Das Sarma, WWW 2007, section 3.3: about half at 2³⁴).
///
/// ```
/// use classics::blocks::expected_bits;
///
/// assert!((expected_bits(1 << 34) / 64.0 - 0.53).abs() < 0.01);
/// ```
#[must_use]
pub fn expected_bits(count: u64) -> f64 {
    let coded = Codebook::expected_length(count);
    let room = (USUAL_BLOCK * 8) as f64;
    let header = (HEADER * 8) as f64;
    // The first fingerprint of a block is in the header, and on average half a fingerprint does not
    // fit any more.
    let in_a_block = (1.0 + (room - header) / coded - 0.5).min(count.max(1) as f64);
    let key = f64::from(u64::BITS);
    (header + (in_a_block - 1.0) * coded + key) / in_a_block
}
