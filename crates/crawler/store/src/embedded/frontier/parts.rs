//! Texts of any length in a database with short values: they are split into parts, under one key
//! and the number of the part.
//!
//! ```text
//! all parts together   version u8 · parts u16 · bytes · crc32 of all before (little-endian)
//! ```
//! Invariant: the layout is on disk; another layout needs another version.

use journal::StoreFault;

use super::super::database::{Batch, MAX_VALUE_BYTES, Tree, Value};

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;
/// Texts are below 400 MiB, because the number of parts of a text has 16 bits.
const PART_BYTES: usize = MAX_VALUE_BYTES - 64;
const NUMBER_BYTES: usize = 2;

/// A text that was read.
pub(super) struct Whole {
    /// Its key, without the number of the part.
    pub(super) key: Vec<u8>,
    pub(super) parts: u16,
    bytes: Vec<u8>,
}

impl Whole {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[HEADER_BYTES..self.bytes.len() - CHECKSUM_BYTES]
    }
}

/// Returns the key of a part.
pub(super) fn key(of: &[u8], part: u16) -> Vec<u8> {
    [of, &part.to_be_bytes()].concat()
}

/// Returns the number of parts of a text of this many bytes.
pub(super) fn count(bytes: usize) -> u16 {
    let parts = (bytes + HEADER_BYTES + CHECKSUM_BYTES).div_ceil(PART_BYTES);
    u16::try_from(parts).expect("what is written here is capped far below 400 MiB")
}

/// Writes a text. An older text with more parts under its key must be removed first.
pub(super) fn insert(batch: &mut Batch, of: &[u8], bytes: &[u8]) {
    let parts = count(bytes.len());
    let mut whole = Vec::with_capacity(HEADER_BYTES + bytes.len() + CHECKSUM_BYTES);
    whole.push(VERSION);
    whole.extend(parts.to_le_bytes());
    whole.extend_from_slice(bytes);
    let checksum = crc32fast::hash(&whole);
    whole.extend(checksum.to_le_bytes());
    for (part, value) in (0..).zip(whole.chunks(PART_BYTES)) {
        batch.insert(&key(of, part), value);
    }
}

/// Removes a text that is stored in this number of parts.
pub(super) fn remove(batch: &mut Batch, of: &[u8], parts: u16) {
    for part in 0..parts {
        batch.remove(&key(of, part));
    }
}

/// Returns the next complete text of these ascending entries.
pub(super) fn next(
    entries: &mut impl Iterator<Item = Result<(Value, Value), StoreFault>>,
    tree: &Tree,
) -> Result<Option<Whole>, StoreFault> {
    let Some((first_key, first)) = entries.next().transpose()? else {
        return Ok(None);
    };
    let malformed = |what: &str| tree.broken(what.to_owned());
    let (of, number) = first_key
        .split_last_chunk::<NUMBER_BYTES>()
        .ok_or_else(|| malformed("a key is short"))?;
    if u16::from_be_bytes(*number) != 0 {
        return Err(malformed("the first part of a text is missing"));
    }
    let mut bytes = first.to_vec();
    let parts = match bytes.as_slice() {
        [VERSION, low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => return Err(malformed("a text has another version")),
    };
    for part in 1..parts {
        let missing = || malformed("a part of a text is missing");
        let (next_key, value) = entries.next().transpose()?.ok_or_else(missing)?;
        if *next_key != *key(of, part) {
            return Err(missing());
        }
        bytes.extend_from_slice(&value);
    }
    let sound = bytes.split_last_chunk::<CHECKSUM_BYTES>();
    let sound = sound.is_some_and(|(content, checksum)| {
        content.len() >= HEADER_BYTES && crc32fast::hash(content).to_le_bytes() == *checksum
    });
    if !sound {
        return Err(malformed("the checksum of a text is wrong"));
    }
    Ok(Some(Whole {
        key: of.to_vec(),
        parts,
        bytes,
    }))
}
