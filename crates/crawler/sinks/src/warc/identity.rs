//! Record ids: name-based UUIDs, so that no record needs randomness of its own.
//!
//! A record id must be unique among all archives, for ever (section 5.2). Each opening of an
//! archive has a namespace, derived from the crawl's seed, the crawl and machine in the `warcinfo`,
//! the time, and the position where the archive continues; records are numbered within it. Two
//! openings of one crawl at the same position cannot both leave records, since opening cuts the
//! archive after the position; openings of different crawls have different seeds.

use std::fmt;

use sha1::{Digest, Sha1};

/// A UUID of version 5 (RFC 9562 section 5.5); displayed as in `WARC-Record-ID`, `<urn:uuid:…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordId([u8; 16]);

impl RecordId {
    /// The root of our namespaces: drawn once, never changed.
    pub(super) const ROOT: RecordId =
        RecordId(0x7d5c_a3f1_0b4e_4c52_9e36_5f0d_8a61_c7e4_u128.to_be_bytes());

    /// Returns the id of `name` in the namespace `self`.
    pub(super) fn name(self, name: &[u8]) -> RecordId {
        let digest: [u8; 20] = Sha1::new()
            .chain_update(self.0)
            .chain_update(name)
            .finalize()
            .into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        bytes[6] = (bytes[6] & 0x0f) | 0x50;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        RecordId(bytes)
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<urn:uuid:")?;
        for (place, byte) in self.0.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        f.write_str(">")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_agree_with_rfc_9562_appendix_a_4() {
        let dns = RecordId(0x6ba7_b810_9dad_11d1_80b4_00c0_4fd4_30c8_u128.to_be_bytes());
        let id = dns.name(b"www.example.com");
        assert_eq!(
            id.to_string(),
            "<urn:uuid:2ed6657d-e927-568b-95e1-2665a8aea6a2>"
        );
    }
}
