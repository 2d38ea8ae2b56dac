//! Serde for values that are stored as a byte string of limited length, in any format.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, SeqAccess, Visitor};

/// Serializes a type as the bytes of its `to_bytes`; deserializes at most `$most` bytes by `$read`,
/// which returns none if they are not `$expected`.
macro_rules! serialized_as_bytes {
    ($kind:ty, $most:expr, $expected:literal, $read:expr) => {
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let bytes = $crate::capped_bytes::read::<{ $most }, D>(deserializer)?;
                let read: fn(&[u8]) -> Option<Self> = $read;
                read(&bytes)
                    .ok_or_else(|| serde::de::Error::invalid_length(bytes.len(), &$expected))
            }
        }
    };
}
pub(crate) use serialized_as_bytes;

/// Reads a byte string of at most `MAX` bytes. Longer ones are refused while they are read, so that
/// a false length costs no memory.
pub(crate) fn read<'de, const MAX: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_bytes(BytesVisitor::<MAX>)
}

struct BytesVisitor<const MAX: usize>;

impl<'de, const MAX: usize> Visitor<'de> for BytesVisitor<MAX> {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        if bytes.len() > MAX {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(bytes.to_vec())
    }

    /// Reads a list of numbers, as formats without bytes, such as JSON, write it.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            if bytes.len() == MAX {
                return Err(Error::invalid_length(MAX + 1, &self));
            }
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
