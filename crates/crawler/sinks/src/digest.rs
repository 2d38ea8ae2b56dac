//! Digests of payloads and blocks: SHA-1 or SHA-256, written in base 32.
//!
//! SHA-1 does not resist deliberate collisions any more, but CDX indexes and replay tools compare
//! it (WARC/1.1 section 5.9 gives it as the example), and a forged pair costs one page. WARC/1.1
//! also allows SHA-256, which is safe. Its base 32 keeps the padding (RFC 4648 section 6); without
//! it, warcio and FastWARC report a wrong digest.

use std::fmt;
use std::io;
use std::str::FromStr;

use data_encoding::{BASE32, BASE32_NOPAD, HEXLOWER_PERMISSIVE};
use sha1::{Digest, Sha1};
use sha2::Sha256;
use web::Body;

/// A digest algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DigestAlgorithm {
    /// SHA-1 (RFC 3174): 20 bytes.
    #[default]
    Sha1,
    /// SHA-256 (RFC 6234): 32 bytes.
    Sha256,
}

impl DigestAlgorithm {
    /// Returns its name in options and its label in digests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    /// Computes the digest of `payload`.
    #[must_use]
    pub fn of(self, payload: &[u8]) -> PayloadDigest {
        let mut hasher = self.hasher();
        hasher.update(payload);
        hasher.finish()
    }

    /// Computes the digest of a body.
    ///
    /// # Errors
    /// I/O errors of reading a spooled body.
    pub fn of_body(self, body: &Body) -> io::Result<PayloadDigest> {
        let mut hasher = self.hasher();
        body.for_each_piece(|piece| hasher.update(piece))?;
        Ok(hasher.finish())
    }

    pub(crate) fn hasher(self) -> Hasher {
        match self {
            Self::Sha1 => Hasher::Sha1(Sha1::new()),
            Self::Sha256 => Hasher::Sha256(Sha256::new()),
        }
    }
}

/// An unknown name of a digest algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not sha1 or sha256")]
pub struct UnknownDigestAlgorithm(String);

impl FromStr for DigestAlgorithm {
    type Err = UnknownDigestAlgorithm;

    fn from_str(word: &str) -> Result<Self, UnknownDigestAlgorithm> {
        [Self::Sha1, Self::Sha256]
            .into_iter()
            .find(|algorithm| algorithm.as_str() == word)
            .ok_or_else(|| UnknownDigestAlgorithm(word.to_owned()))
    }
}

impl fmt::Display for DigestAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An incremental digest.
#[derive(Clone)]
pub(crate) enum Hasher {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> PayloadDigest {
        match self {
            Self::Sha1(hasher) => PayloadDigest::Sha1(hasher.finalize().into()),
            Self::Sha256(hasher) => PayloadDigest::Sha256(hasher.finalize().into()),
        }
    }
}

/// The digest of a payload or a block; shown as `sha1:` or `sha256:` and its base 32 (RFC 4648
/// section 6), 32 or 56 letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PayloadDigest {
    /// A SHA-1.
    Sha1([u8; 20]),
    /// A SHA-256.
    Sha256([u8; 32]),
}

impl PayloadDigest {
    /// Computes the SHA-1 of `payload`; [`DigestAlgorithm::of`] computes either.
    #[must_use]
    pub fn of(payload: &[u8]) -> Self {
        DigestAlgorithm::Sha1.of(payload)
    }

    /// Parses a label, `sha1:`, `sha256:`, `sha-1:` or `sha-256:` in any case, and a digest in base
    /// 32, padded or not, or, as in some archives, in base 16.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (label, value) = text.split_once(':')?;
        let is = |names: [&str; 2]| names.iter().any(|name| label.eq_ignore_ascii_case(name));
        if is(["sha1", "sha-1"]) {
            decoded(value).map(Self::Sha1)
        } else if is(["sha256", "sha-256"]) {
            decoded(value).map(Self::Sha256)
        } else {
            None
        }
    }

    /// Returns the payload's name in near-duplicate indexes: the first 128 bits. Crawls are
    /// compared by the names of SHA-1 digests, independent of the algorithm of their archives.
    #[must_use]
    pub fn name(&self) -> u128 {
        let mut name = [0; 16];
        name.copy_from_slice(&self.as_bytes()[..16]);
        u128::from_be_bytes(name)
    }

    /// Returns its algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> DigestAlgorithm {
        match self {
            Self::Sha1(_) => DigestAlgorithm::Sha1,
            Self::Sha256(_) => DigestAlgorithm::Sha256,
        }
    }

    /// Returns its 20 or 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Sha1(bytes) => bytes,
            Self::Sha256(bytes) => bytes,
        }
    }
}

/// Decodes `N` bytes from base 16, which has two letters per byte, or from base 32, which has
/// fewer.
fn decoded<const N: usize>(value: &str) -> Option<[u8; N]> {
    let bytes = if value.len() == 2 * N {
        HEXLOWER_PERMISSIVE.decode(value.as_bytes())
    } else {
        BASE32_NOPAD.decode(value.trim_end_matches('=').to_ascii_uppercase().as_bytes())
    };
    bytes.ok()?.try_into().ok()
}

impl fmt::Display for PayloadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}",
            self.algorithm(),
            BASE32.encode_display(self.as_bytes())
        )
    }
}

impl fmt::Debug for PayloadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digests_of_nothing_are_those_that_every_web_archive_knows() {
        let nothing = DigestAlgorithm::Sha1.of(b"");
        assert_eq!(nothing.to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        let nothing = DigestAlgorithm::Sha256.of(b"");
        assert_eq!(
            nothing.to_string(),
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
            "with its padding"
        );
    }

    #[test]
    fn a_digest_is_parsed_from_either_base_and_any_label() {
        let digest = DigestAlgorithm::Sha1.of(b"abc");
        for text in [
            digest.to_string(),
            digest.to_string().to_lowercase(),
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d".to_owned(),
            "SHA-1:A9993E364706816ABA3E25717850C26C9CD0D89D".to_owned(),
        ] {
            assert_eq!(PayloadDigest::parse(&text), Some(digest), "{text}");
        }
        let digest = DigestAlgorithm::Sha256.of(b"abc");
        for text in [
            digest.to_string(),
            digest.to_string().replace('=', ""),
            "sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned(),
        ] {
            assert_eq!(PayloadDigest::parse(&text), Some(digest), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_digests() {
        for text in [
            "",
            "sha1",
            "sha1:",
            "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:3I42",
            "sha1:!!!!",
            "sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha1:\u{e9}",
        ] {
            assert_eq!(PayloadDigest::parse(text), None, "{text}");
        }
    }
}
