//! How records are packed: a gzip member each (annex D.2), a zstd frame each, or not at all.
//!
//! zstd is the IIPC's "WARC Zstandard Compression" draft
//! (<https://iipc.github.io/warc-specifications/specifications/warc-zstd/>): a frame a record, and
//! where there is a dictionary, it stands at the beginning of each file, in a skippable frame of
//! its own, so that the file can be read by itself.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor as Deflate};
use zstd::bulk::Compressor as Zstd;
use zstd::zstd_safe;

/// The skippable frame that holds a dictionary (section 3 of the draft).
const DICTIONARY_FRAME: u32 = 0x184D_2A5D;
/// How a dictionary begins that a frame can name (RFC 8878 section 5).
const DICTIONARY_MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();
/// Longest dictionary, in bytes: it stands in every file, and readers hold it in memory.
const MAX_DICTIONARY: usize = 16 << 20;

/// How the records of a file are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Each record is a gzip member.
    #[default]
    Gzip,
    /// Each record is a zstd frame.
    Zstd,
    /// Records follow each other as they are.
    Plain,
}

impl Packing {
    /// Each of them once.
    pub const ALL: [Self; 3] = [Self::Gzip, Self::Zstd, Self::Plain];

    /// How the names of such files end.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Gzip => ".warc.gz",
            Self::Zstd => ".warc.zst",
            Self::Plain => ".warc",
        }
    }

    /// The option's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Plain => "none",
        }
    }

    /// The levels that there are, fast to small, and the one that is meant where nobody says: none
    /// of them do the same at the same level.
    #[must_use]
    pub const fn levels(self) -> Option<(std::ops::RangeInclusive<i32>, i32)> {
        match self {
            Self::Gzip => Some((1..=12, 1)),
            Self::Zstd => Some((1..=19, 3)),
            Self::Plain => None,
        }
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not one of the three words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not gzip, zstd or none")]
pub struct UnknownPacking(String);

impl FromStr for Packing {
    type Err = UnknownPacking;

    fn from_str(word: &str) -> Result<Self, UnknownPacking> {
        Self::ALL
            .into_iter()
            .find(|packing| packing.as_str() == word)
            .ok_or_else(|| UnknownPacking(word.to_owned()))
    }
}

/// How an archive's files are packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compression {
    /// In gzip members, by libdeflate: 1 (fast) to 12 (small); other levels mean the nearest of
    /// these.
    Gzip {
        /// How hard.
        level: i32,
    },
    /// In zstd frames: 1 (fast) to 19 (small); other levels mean the nearest of these.
    Zstd {
        /// How hard.
        level: i32,
        /// What all records are expected to be like.
        dictionary: Option<Dictionary>,
    },
    /// Not at all.
    None,
}

impl Default for Compression {
    fn default() -> Self {
        Self::Gzip { level: 1 }
    }
}

impl Compression {
    pub(super) fn packing(&self) -> Packing {
        match self {
            Self::Gzip { .. } => Packing::Gzip,
            Self::Zstd { .. } => Packing::Zstd,
            Self::None => Packing::Plain,
        }
    }

    /// The bytes with which each file begins, before its first record.
    pub(super) fn preamble(&self) -> Vec<u8> {
        let Self::Zstd {
            dictionary: Some(Dictionary(bytes)),
            ..
        } = self
        else {
            return Vec::new();
        };
        let length = u32::try_from(bytes.len()).expect("MAX_DICTIONARY is less");
        let head = [DICTIONARY_FRAME.to_le_bytes(), length.to_le_bytes()].concat();
        [&head, &**bytes].concat()
    }

    /// Appends what `plain` yields, `length` bytes, as one packed record, without holding all of
    /// it.
    ///
    /// # Errors
    /// What the system says while `plain` is read or `members` is written.
    pub(super) fn pack_stream(
        &self,
        mut plain: impl Read,
        length: u64,
        members: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Self::Gzip { level } => {
                // The levels of zlib end at 9.
                let level = flate2::Compression::new((*level).clamp(1, 9).unsigned_abs());
                let mut gzip = GzEncoder::new(members, level);
                io::copy(&mut plain, &mut gzip)?;
                gzip.finish()?;
            }
            Self::Zstd { level, dictionary } => {
                let dictionary = dictionary
                    .as_ref()
                    .map_or(&[][..], |dictionary| &dictionary.0);
                let level = (*level).clamp(1, 19);
                let mut zstd = zstd::Encoder::with_dictionary(members, level, dictionary)?;
                zstd.include_checksum(true)?;
                zstd.set_pledged_src_size(Some(length))?;
                zstd.include_contentsize(true)?;
                io::copy(&mut plain, &mut zstd)?;
                zstd.finish()?;
            }
            Self::None => {
                io::copy(&mut plain, members)?;
            }
        }
        Ok(())
    }

    pub(super) fn packer(&self) -> Packer {
        match self {
            Self::Gzip { level } => {
                let level =
                    CompressionLvl::new((*level).clamp(1, 12)).expect("levels 1 to 12 exist");
                Packer::Gzip(Deflate::new(level))
            }
            Self::Zstd { level, dictionary } => {
                let dictionary = dictionary
                    .as_ref()
                    .map_or(&[][..], |dictionary| &dictionary.0);
                let packer =
                    zstd(*level, dictionary).expect("it was tried when the dictionary was read");
                Packer::Zstd(Box::new(packer))
            }
            Self::None => Packer::Plain,
        }
    }
}

/// The [`Compression::preamble`] with which the file at `path` was begun: empty where it begins
/// with a record.
///
/// # Errors
/// What the system says while it is read.
pub(super) fn preamble_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut preamble = Vec::new();
    (&mut file).take(8).read_to_end(&mut preamble)?;
    let Some((magic, length)) = preamble.split_first_chunk::<4>() else {
        return Ok(Vec::new());
    };
    let (true, Ok(length)) = (*magic == DICTIONARY_FRAME.to_le_bytes(), length.try_into()) else {
        return Ok(Vec::new());
    };
    // A longer one is none of ours, and what is read of it is like none of ours.
    let length = u64::from(u32::from_le_bytes(length)).min(MAX_DICTIONARY as u64 + 1);
    file.take(length).read_to_end(&mut preamble)?;
    Ok(preamble)
}

/// A zstd dictionary, as `zstd --train` makes them.
#[derive(Clone, PartialEq, Eq)]
pub struct Dictionary(Arc<[u8]>);

impl Dictionary {
    /// Reads a dictionary's bytes.
    ///
    /// # Errors
    /// [`UnusableDictionary`] where it has no number by which a frame could name it, or is damaged
    /// or too long.
    pub fn new(bytes: &[u8]) -> Result<Self, UnusableDictionary> {
        if bytes.len() > MAX_DICTIONARY {
            return Err(UnusableDictionary("it is longer than 16 MiB"));
        }
        if !bytes.starts_with(&DICTIONARY_MAGIC)
            || zstd_safe::get_dict_id_from_dict(bytes).is_none()
        {
            return Err(UnusableDictionary(
                "it does not begin as a zstd dictionary does: `zstd --train` makes one",
            ));
        }
        if zstd(1, bytes)
            .and_then(|mut packer| packer.compress(b"WARC/1.1"))
            .is_err()
        {
            return Err(UnusableDictionary("zstd cannot use it: it is damaged"));
        }
        Ok(Self(bytes.into()))
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dictionary({} bytes)", self.0.len())
    }
}

/// Why bytes are no dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableDictionary(&'static str);

/// A compressor of frames that say how long their content is, and carry a checksum of it: a torn
/// frame shows.
fn zstd(level: i32, dictionary: &[u8]) -> io::Result<Zstd<'static>> {
    let mut packer = Zstd::with_dictionary(level.clamp(1, 19), dictionary)?;
    packer.include_checksum(true)?;
    packer.include_contentsize(true)?;
    Ok(packer)
}

/// Packs records, one after another.
pub(super) enum Packer {
    Gzip(Deflate),
    Zstd(Box<Zstd<'static>>),
    Plain,
}

impl Packer {
    /// Appends `plain`, packed, to `members`.
    pub(super) fn pack(&mut self, plain: &[u8], members: &mut Vec<u8>) {
        let start = members.len();
        let length = match self {
            Self::Gzip(deflate) => {
                members.resize(start + deflate.gzip_compress_bound(plain.len()), 0);
                let packed = deflate.gzip_compress(plain, &mut members[start..]);
                packed.expect("the bound is enough for any input")
            }
            Self::Zstd(zstd) => {
                members.resize(start + zstd_safe::compress_bound(plain.len()), 0);
                let packed = zstd.compress_to_buffer(plain, &mut members[start..]);
                packed.expect("the bound is enough for any input")
            }
            Self::Plain => {
                members.extend_from_slice(plain);
                plain.len()
            }
        };
        members.truncate(start + length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_level_packs() {
        for level in [i32::MIN, 0, 1, 12, 13, 19, i32::MAX] {
            for compression in [
                Compression::Gzip { level },
                Compression::Zstd {
                    level,
                    dictionary: None,
                },
                Compression::None,
            ] {
                let mut members = b"before".to_vec();
                compression.packer().pack(b"WARC/1.1", &mut members);
                let begins: &[u8] = match compression.packing() {
                    Packing::Gzip => &[0x1f, 0x8b, 8],
                    Packing::Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
                    Packing::Plain => b"WARC/1.1",
                };
                assert!(members[6..].starts_with(begins), "{compression:?}");
            }
        }
    }

    #[test]
    fn the_beginning_of_a_file_tells_what_it_was_begun_with() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let bytes = include_bytes!("../../tests/warc/golden/pages.dict");
        let compression = Compression::Zstd {
            level: 3,
            dictionary: Some(Dictionary::new(bytes).unwrap()),
        };
        let preamble = compression.preamble();
        assert_eq!(preamble.len(), bytes.len() + 8);
        let with_record = [preamble.as_slice(), b"record"].concat();
        for (file, expected) in [
            (with_record.as_slice(), preamble.as_slice()),
            (&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0], b""),
            (b"WARC/1.1\r\n", b""),
            (b"", b""),
        ] {
            std::fs::write(&path, file).unwrap();
            assert_eq!(preamble_of(&path).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_dictionary_is_refused() {
        for bytes in [
            b"".as_slice(),
            b"text that is like the pages",
            &DICTIONARY_MAGIC,
            &[DICTIONARY_MAGIC.as_slice(), &[0xff; 300]].concat(),
            &vec![0; MAX_DICTIONARY + 1],
        ] {
            assert!(Dictionary::new(bytes).is_err());
        }
    }
}
