//! Sealed values: values under a checksum.
//!
//! ```text
//! version u8 = 1 · crc32 of the key, the version and the rest u32, little-endian · the rest
//! ```
//!
//! Invariant: neither a value under another value's key nor a value of another version is read.

use serde::Serialize;
use serde::de::DeserializeOwned;

const VERSION: u8 = 1;
const HEADER: usize = 1 + 4;

/// The reason why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::embedded) enum BrokenSeal {
    #[error("value version must be {VERSION}, got {0}")]
    Version(u8),
    #[error("the checksum of a value is wrong")]
    Checksum,
    #[error("a value is malformed")]
    Malformed,
}

/// Serializes and seals `content` under `key`.
pub(in crate::embedded) fn written<T: Serialize>(key: &[u8], content: &T) -> Vec<u8> {
    sealed(
        key,
        &postcard::to_allocvec(content).expect("encoding to memory cannot fail"),
    )
}

/// Reads a value written by [`written`].
pub(in crate::embedded) fn read<T: DeserializeOwned>(
    key: &[u8],
    value: &[u8],
) -> Result<T, BrokenSeal> {
    match postcard::take_from_bytes(opened(key, value)?) {
        Ok((content, [])) => Ok(content),
        Ok(_) | Err(_) => Err(BrokenSeal::Malformed),
    }
}

/// Seals these bytes under `key`.
pub(in crate::embedded) fn sealed(key: &[u8], content: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(HEADER + content.len());
    value.push(VERSION);
    value.extend_from_slice(&checksum(key, content).to_le_bytes());
    value.extend_from_slice(content);
    value
}

/// Returns the sealed bytes.
pub(in crate::embedded) fn opened<'a>(key: &[u8], value: &'a [u8]) -> Result<&'a [u8], BrokenSeal> {
    let (header, content) = value
        .split_first_chunk::<HEADER>()
        .ok_or(BrokenSeal::Malformed)?;
    let &[version, c0, c1, c2, c3] = header;
    if version != VERSION {
        return Err(BrokenSeal::Version(version));
    }
    if checksum(key, content) != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Err(BrokenSeal::Checksum);
    }
    Ok(content)
}

fn checksum(key: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(&[VERSION]);
    hasher.update(content);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_is_pinned_to_the_byte() {
        assert_eq!(
            written(b"key", &(7_u64, true)),
            [1, 119, 133, 144, 173, 7, 1]
        );
    }

    proptest! {
        #[test]
        fn a_value_is_read_as_it_was_written(key: Vec<u8>, content: (u64, String, Option<bool>)) {
            let value = written(&key, &content);
            prop_assert_eq!(read::<(u64, String, Option<bool>)>(&key, &value).unwrap(), content);
        }

        #[test]
        fn a_flipped_bit_or_another_key_is_an_error(
            key: [u8; 3], content: String, place: prop::sample::Index, bit in 0..8_u32,
        ) {
            let value = written(&key, &content);
            let mut both = [&key[..], &value].concat();
            both[place.index(key.len() + value.len())] ^= 1 << bit;
            let (key, value) = both.split_at(3);
            prop_assert!(read::<String>(key, value).is_err());
        }

        #[test]
        fn any_bytes_are_a_value_or_an_error(value: Vec<u8>) {
            let content = value.get(HEADER..).unwrap_or_default();
            let sealed = [&[VERSION], &checksum(b"k", content).to_le_bytes()[..], content].concat();
            let _ = read::<(u64, String, Option<bool>)>(b"k", &sealed);
            prop_assert!(read::<(u64, String, Option<bool>)>(b"k", &value).is_err());
        }
    }
}
