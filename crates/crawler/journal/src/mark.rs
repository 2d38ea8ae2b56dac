//! Marks: records of the durable position, written in the journal itself.
//!
//! After a power cut, bytes that were not synced may be missing, zero, garbage or intact; synced
//! bytes are intact. Both lost writes and damage leave the same trace, a frame with a wrong
//! checksum. So after an fsync, the journal writes a mark with the end of the synced part. A bad
//! frame before a position that a later mark vouches for is damage and is reported; any other bad
//! frame is a torn write.
//!
//! The first checksum covers the hash key, the mark's own position and the durable position, so
//! that no page can contain a mark.

use std::io::{self, Read};

use neardup::HashKey;

use crate::frame::Position;

/// The value in place of a record's length; no record is that long.
pub(crate) const LENGTH: u32 = 0x8000_0008;
pub(crate) const BYTES: usize = 20;
/// Number of bytes that are searched at a time.
const CHUNK: usize = 64 << 10;

/// Returns the mark at position `at` for a journal that was synced up to `durable`.
pub(crate) fn encode(key: HashKey, at: Position, durable: Position) -> [u8; BYTES] {
    let mut mark = [0; BYTES];
    mark[..4].copy_from_slice(&LENGTH.to_le_bytes());
    mark[4..8].copy_from_slice(&checksum(key, at, durable).to_le_bytes());
    let head = crc32fast::hash(&mark[..8]);
    mark[8..12].copy_from_slice(&head.to_le_bytes());
    mark[12..].copy_from_slice(&durable.to_le_bytes());
    mark
}

/// Returns the durable position in the mark at position `at`; `None` if `bytes` are not such a
/// mark.
pub(crate) fn decode(key: HashKey, at: Position, bytes: &[u8; BYTES]) -> Option<Position> {
    let durable = u64::from_le_bytes(std::array::from_fn(|place| bytes[12 + place]));
    (*bytes == encode(key, at, durable) && durable <= at).then_some(durable)
}

/// Returns the highest position that any mark in `rest` vouches for. `rest` begins at position
/// `at`.
pub(crate) fn farthest(key: HashKey, at: Position, rest: &mut impl Read) -> io::Result<Position> {
    let mut farthest = 0;
    let mut window: Vec<u8> = Vec::with_capacity(CHUNK + BYTES);
    let mut begin = at;
    loop {
        let read = rest.take(CHUNK as u64).read_to_end(&mut window)?;
        for (place, bytes) in window.windows(BYTES).enumerate() {
            if bytes.starts_with(&LENGTH.to_le_bytes())
                && let Ok(bytes) = bytes.try_into()
                && let Some(durable) = decode(key, begin + place as u64, bytes)
            {
                farthest = farthest.max(durable);
            }
        }
        if read == 0 {
            return Ok(farthest);
        }
        let searched = window.len().saturating_sub(BYTES - 1);
        window.drain(..searched);
        begin += searched as u64;
    }
}

fn checksum(key: HashKey, at: Position, durable: Position) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in [key.as_u64(), at, durable] {
        hasher.update(&part.to_le_bytes());
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: HashKey = HashKey::new(7);

    proptest! {
        #[test]
        fn a_mark_is_read_as_written_and_no_flipped_bit_makes_another(
            durable in 0..1_000_u64, more in 0..1_000_u64, bit in 0..BYTES * 8,
        ) {
            let at = durable + more;
            let mut mark = encode(KEY, at, durable);
            prop_assert_eq!(decode(KEY, at, &mark), Some(durable));
            prop_assert_eq!(decode(HashKey::new(8), at, &mark), None, "another crawl's");
            prop_assert_eq!(decode(KEY, at + 1, &mark), None, "copied elsewhere");
            mark[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(decode(KEY, at, &mark), None);
        }

        #[test]
        fn the_farthest_mark_is_found_wherever_it_stands(
            before in 0..3 * CHUNK, between in 0..300_usize, after in 0..300_usize,
            filling in any::<u8>(),
        ) {
            let at = 5_000_u64;
            let mut rest = vec![filling; before];
            rest.extend(encode(KEY, at + rest.len() as u64, 4_000));
            rest.extend(vec![filling; between]);
            rest.extend(encode(KEY, at + rest.len() as u64, 3_000));
            rest.extend(vec![filling; after]);
            prop_assert_eq!(farthest(KEY, at, &mut &rest[..]).unwrap(), 4_000);
            prop_assert_eq!(farthest(KEY, at + 1, &mut &rest[..]).unwrap(), 0);
        }
    }
}
