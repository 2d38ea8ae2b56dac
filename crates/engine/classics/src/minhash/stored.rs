//! The stored form of a MinHash.
//!
//! algorithm u16 ‖ family u8 ‖ number of minima u16 ‖ size u64 ‖ minima u64 each, all
//! little-endian. Invariant: stable for ever; bytes of another algorithm are refused.

use neardup::ALGORITHM;
use thiserror::Error;

use super::{Family, MAX_MINIMA, MinHash};

const HEAD: usize = 2 + 1 + 2 + 8;

impl MinHash {
    /// Returns the stored form: 13 bytes, and 8 per minimum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.minima.len() * 8);
        bytes.extend(ALGORITHM.to_le_bytes());
        bytes.push(self.family as u8);
        bytes.extend((self.minima.len() as u16).to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend(self.minima.iter().flat_map(|minimum| minimum.to_le_bytes()));
        bytes
    }

    /// Returns the MinHash stored as `bytes`.
    ///
    /// # Errors
    /// [`NotAMinHash`] for bytes of another [`ALGORITHM`], of an unknown family, or with a length
    /// that does not match their header.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotAMinHash> {
        let (&algorithm, rest) = bytes.split_first_chunk().ok_or(NotAMinHash::Length)?;
        let algorithm = u16::from_le_bytes(algorithm);
        if algorithm != ALGORITHM {
            return Err(NotAMinHash::Algorithm(algorithm));
        }
        let (&[family], rest) = rest.split_first_chunk().ok_or(NotAMinHash::Length)?;
        let family = [Family::Fast, Family::Permutations]
            .into_iter()
            .find(|known| *known as u8 == family)
            .ok_or(NotAMinHash::Family(family))?;
        let (&number, rest) = rest.split_first_chunk().ok_or(NotAMinHash::Length)?;
        let (&size, rest) = rest.split_first_chunk().ok_or(NotAMinHash::Length)?;
        let number = usize::from(u16::from_le_bytes(number));
        let (minima, excess) = rest.as_chunks::<8>();
        if minima.len() != number || !excess.is_empty() || !(1..=MAX_MINIMA).contains(&number) {
            return Err(NotAMinHash::Length);
        }
        Ok(Self {
            family,
            size: u64::from_le_bytes(size),
            minima: minima.iter().copied().map(u64::from_le_bytes).collect(),
        })
    }
}

/// The stored form, as which serde writes a MinHash.
impl From<MinHash> for Vec<u8> {
    fn from(minhash: MinHash) -> Self {
        minhash.to_bytes()
    }
}

/// A MinHash that serde reads is checked like any other stored one.
impl TryFrom<Vec<u8>> for MinHash {
    type Error = NotAMinHash;

    fn try_from(bytes: Vec<u8>) -> Result<Self, NotAMinHash> {
        Self::from_bytes(&bytes)
    }
}

/// Bytes that are not a MinHash of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotAMinHash {
    /// The bytes were made by another [`ALGORITHM`], the given one.
    #[error("a MinHash of algorithm {0} cannot be used with algorithm {ALGORITHM}")]
    Algorithm(u16),
    /// An unknown code of a family.
    #[error("unknown MinHash family {0}")]
    Family(u8),
    /// Fewer or more bytes than announced, or more minima than [`MAX_MINIMA`].
    #[error("the length of these bytes does not match their number of minima")]
    Length,
}
