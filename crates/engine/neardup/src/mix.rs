//! A mixing function for 64-bit numbers.

/// Returns the finaliser of MurmurHash3 (Austin Appleby, public domain): a bijection that makes
/// every bit depend on every other.
///
/// Invariant: stable for ever, because shingles, sketches and bands on disk depend on it.
#[inline]
pub(crate) const fn mix(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}
