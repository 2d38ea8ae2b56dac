//! Capped byte strings for serde, in any format.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A byte string of at most `MAX` bytes. Longer ones are refused while they are read, so that a
/// false length costs no memory.
pub(crate) struct CappedBytes<const MAX: usize>(pub(crate) Vec<u8>);

impl<'de, const MAX: usize> Deserialize<'de> for CappedBytes<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor::<MAX>)
    }
}

struct BytesVisitor<const MAX: usize>;

impl<'de, const MAX: usize> Visitor<'de> for BytesVisitor<MAX> {
    type Value = CappedBytes<MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        if bytes.len() > MAX {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(CappedBytes(bytes.to_vec()))
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
        Ok(CappedBytes(bytes))
    }
}
