//! Fields of fixed size in byte strings.

/// Splits the next `N` bytes off `rest`, which has as many: what is read was written by the same
/// program, or its length is checked before.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (taken, left) = rest
        .split_first_chunk()
        .expect("what is written is as long as what is read");
    *rest = left;
    *taken
}
