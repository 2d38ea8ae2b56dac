//! Fields of fixed size in byte strings, and the checksums of blocks.

use neardup::HashKey;

/// Splits the next `N` bytes off `rest`, which is long enough: the bytes were written by the same
/// program, or their length was checked before.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (taken, left) = rest
        .split_first_chunk()
        .expect("what is written is as long as what is read");
    *rest = left;
    *taken
}

/// Returns the checksum of a block: the low half of xxh3-128, seeded with the number of the block,
/// so that blocks that are exchanged are noticed.
pub(crate) fn checksum(number: u64, bytes: &[u8]) -> [u8; 8] {
    (HashKey::new(number).digest(bytes) as u64).to_le_bytes()
}
