//! Packing of records: a gzip member each (annex D.2), a zstd frame each, or none.
//!
//! zstd follows the IIPC's draft "WARC Zstandard Compression"
//! (<https://iipc.github.io/warc-specifications/specifications/warc-zstd/>): one frame per record;
//! a dictionary precedes the records of each file in a skippable frame, so that the file is
//! self-contained.

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
/// The magic number of a dictionary with an id (RFC 8878 section 5).
const DICTIONARY_MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();
/// Maximum length of a dictionary in bytes: every file has it, and readers hold it in memory.
const MAX_DICTIONARY: usize = 16 << 20;

/// A packing of the records of a file.
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
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Gzip, Self::Zstd, Self::Plain];

    /// Returns the suffix of the names of such files.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Gzip => ".warc.gz",
            Self::Zstd => ".warc.zst",
            Self::Plain => ".warc",
        }
    }

    /// Splits the suffix off the name of an archive file; `None` for other names.
    pub(super) fn split(name: &str) -> Option<(&str, Self)> {
        let mut all = Self::ALL.into_iter();
        all.find_map(|packing| Some((name.strip_suffix(packing.suffix())?, packing)))
    }

    /// Returns its name in options.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Plain => "none",
        }
    }

    /// Returns the range of levels, from fast to small, and the default. Equal levels of different
    /// packings are not comparable.
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

/// An unknown name of a packing.
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

/// The compression of an archive's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip members, by libdeflate: 1 (fast) to 12 (small); other levels are clamped.
    Gzip {
        /// The level.
        level: i32,
    },
    /// zstd frames: 1 (fast) to 19 (small); other levels are clamped.
    Zstd {
        /// The level.
        level: i32,
        /// A dictionary trained on similar records.
        dictionary: Option<Dictionary>,
    },
    /// No compression.
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

    /// Returns the bytes of each file before its first record.
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

    /// Appends the `length` bytes of `plain` as one packed record, without holding all of it in
    /// memory.
    ///
    /// # Errors
    /// I/O errors of reading `plain` or writing `members`.
    pub(super) fn pack_stream(
        &self,
        mut plain: impl Read,
        length: u64,
        members: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Self::Gzip { level } => {
                // zlib has levels up to 9.
                let level = flate2::Compression::new((*level).clamp(1, 9).unsigned_abs());
                let mut gzip = GzEncoder::new(members, level);
                io::copy(&mut plain, &mut gzip)?;
                gzip.finish()?;
            }
            Self::Zstd { level, dictionary } => {
                let level = (*level).clamp(1, 19);
                let dictionary = bytes_of(dictionary.as_ref());
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
                let level = CompressionLvl::new((*level).clamp(1, 12));
                Packer::Gzip(Deflate::new(level.expect("levels 1 to 12 exist")))
            }
            Self::Zstd { level, dictionary } => {
                let packer = zstd(*level, bytes_of(dictionary.as_ref()));
                let packer = packer.expect("it was tried when the dictionary was read");
                Packer::Zstd(Box::new(packer))
            }
            Self::None => Packer::Plain,
        }
    }
}

/// Returns the [`Compression::preamble`] of the file at `path`; empty if the file begins with a
/// record.
///
/// # Errors
/// I/O errors of reading it.
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
    // A longer dictionary is not ours: one byte more than the limit suffices to see that.
    let length = u64::from(u32::from_le_bytes(length)).min(MAX_DICTIONARY as u64 + 1);
    file.take(length).read_to_end(&mut preamble)?;
    Ok(preamble)
}

/// A zstd dictionary, as made by `zstd --train`.
#[derive(Clone, PartialEq, Eq)]
pub struct Dictionary(Arc<[u8]>);

impl Dictionary {
    /// Checks the bytes of a dictionary.
    ///
    /// # Errors
    /// [`UnusableDictionary`] if the dictionary lacks an id, is damaged, or is too long.
    pub fn new(bytes: &[u8]) -> Result<Self, UnusableDictionary> {
        if bytes.len() > MAX_DICTIONARY {
            return Err(UnusableDictionary("it is longer than 16 MiB"));
        }
        if !bytes.starts_with(&DICTIONARY_MAGIC)
            || zstd_safe::get_dict_id_from_dict(bytes).is_none()
        {
            return Err(UnusableDictionary(
                "it is not a zstd dictionary: create one with `zstd --train`",
            ));
        }
        let tried = zstd(1, bytes).and_then(|mut packer| packer.compress(b"WARC/1.1"));
        if tried.is_err() {
            return Err(UnusableDictionary("zstd cannot use it: it is damaged"));
        }
        Ok(Self(bytes.into()))
    }
}

/// Returns the bytes of a dictionary; empty without one.
fn bytes_of(dictionary: Option<&Dictionary>) -> &[u8] {
    dictionary.map_or(&[], |dictionary| &dictionary.0)
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dictionary({} bytes)", self.0.len())
    }
}

/// The reason why bytes are not a usable dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableDictionary(&'static str);

/// Returns a compressor of frames with content size and checksum, so that a torn frame is detected.
fn zstd(level: i32, dictionary: &[u8]) -> io::Result<Zstd<'static>> {
    let mut packer = Zstd::with_dictionary(level.clamp(1, 19), dictionary)?;
    packer.include_checksum(true)?;
    packer.include_contentsize(true)?;
    Ok(packer)
}

/// A packer of records.
pub(super) enum Packer {
    Gzip(Deflate),
    Zstd(Box<Zstd<'static>>),
    Plain,
}

impl Packer {
    /// Packs `plain` and appends it to `members`.
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
    fn the_beginning_of_a_file_contains_its_dictionary() {
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
    fn bytes_that_are_not_a_dictionary_are_refused() {
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
