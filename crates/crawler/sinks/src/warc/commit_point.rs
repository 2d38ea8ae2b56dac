//! The commit point of an archive, as recorded in the archive itself: `archive/commit-point`.
//!
//! The journal records which visits are settled. An older state, or a journal that lost its end,
//! records too few visits, and the rest would be considered unsettled. So after each checkpoint the
//! archive notes how much of the journal was durable, and refuses to be opened at an earlier end
//! ([`SinkFault::JournalEnds`](crate::SinkFault::JournalEnds)).
//!
//! ```text
//! crawler-commit-point 1
//! FILE END JOURNAL          the last settled file, bytes of it, bytes of the journal
//! CRC32                     of both lines above, eight hex digits
//! ```
//! The file is replaced atomically and durably, and its end never moves back; a missing or
//! unreadable note is ignored.

use std::io;
use std::path::{Path, PathBuf};

use super::archive_end::ArchiveEnd;
use super::files::name_of;

/// The name of the note, in the archive's directory.
const NAME: &str = "commit-point";
const VERSION: &str = "crawler-commit-point 1";
/// Maximum length of a note: the name of a file has at most 255 bytes.
const MAX_BYTES: u64 = 1024;

/// Last archive position with only durable settlements before it: only damage can lose a part
/// before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPoint {
    /// The end of a settled visit: all visits up to it are on the disk, and so are their
    /// settlements.
    pub place: ArchiveEnd,
    /// Bytes of the journal that were durable then.
    pub journal: u64,
}

/// The file of the commit point, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitPointFile {
    /// The note is missing.
    Absent,
    /// The note is damaged.
    Damaged,
    /// It has this commit point.
    Read(CommitPoint),
}

impl CommitPoint {
    /// Returns the settled part of an archive that is durable up to `archive` and whose settlements
    /// are durable up to `place`.
    #[must_use]
    pub fn new(archive: ArchiveEnd, place: ArchiveEnd, journal: u64) -> Self {
        let place = if archive.is_before(&place) {
            archive
        } else {
            place
        };
        Self { place, journal }
    }

    /// Returns the path of the note in the archive in `directory`.
    #[must_use]
    pub fn path(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    /// Reads the note in the archive in `directory`.
    ///
    /// # Errors
    /// The system's error, except for a missing note.
    pub fn read(directory: &Path) -> io::Result<CommitPointFile> {
        let path = Self::path(directory);
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(CommitPointFile::Absent);
            }
            Err(error) => return Err(error),
            Ok(found) if found.len() > MAX_BYTES => return Ok(CommitPointFile::Damaged),
            Ok(_) => {}
        }
        let bytes = std::fs::read(path)?;
        let text = String::from_utf8(bytes).ok();
        Ok(text
            .and_then(|text| Self::parse(&text))
            .map_or(CommitPointFile::Damaged, CommitPointFile::Read))
    }

    /// Returns the bytes of the note.
    pub(super) fn note(&self) -> Vec<u8> {
        let Self { place, journal } = self;
        let lines = format!("{VERSION}\n{} {} {journal}\n", place.file, place.end);
        let checksum = libdeflater::crc32(lines.as_bytes());
        format!("{lines}{checksum:08x}\n").into_bytes()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.strip_prefix(VERSION)?.split_whitespace();
        let file = fields.next()?.to_owned();
        let end = fields.next()?.parse().ok()?;
        let journal = fields.next()?.parse().ok()?;
        let place = ArchiveEnd { file, end };
        let point = Self { place, journal };
        (point.note() == text.as_bytes()).then_some(point)
    }
}

/// Returns true if a file, by its name, is in the directory of an archive but not part of the
/// archive: the note, or a piece that was cut off.
#[must_use]
pub fn is_beside(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let is_note = name == NAME
        && path
            .parent()
            .is_some_and(|directory| directory.ends_with("archive"));
    let piece = name.rsplit_once(".cut-");
    let is_piece = piece.is_some_and(|(of, number)| {
        number.bytes().all(|byte| byte.is_ascii_digit()) && name_of(Path::new(of)).is_some()
    });
    is_note || is_piece
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(number: u64, end: u64) -> ArchiveEnd {
        let file = format!("crawl-20261120182455-{number:05}.warc.gz");
        ArchiveEnd { file, end }
    }

    #[test]
    fn a_note_is_pinned_to_the_byte_and_every_flipped_bit_is_found() {
        let noted = CommitPoint {
            place: settled(3, 4_711),
            journal: 815,
        };
        let note = noted.note();
        let expected =
            "crawler-commit-point 1\ncrawl-20261120182455-00003.warc.gz 4711 815\n54718d1c\n";
        assert_eq!(String::from_utf8(note.clone()).unwrap(), expected);
        let directory = tempfile::tempdir().unwrap();
        let read = || CommitPoint::read(directory.path()).unwrap();
        assert_eq!(read(), CommitPointFile::Absent);
        let path = CommitPoint::path(directory.path());
        std::fs::write(&path, &note).unwrap();
        assert_eq!(read(), CommitPointFile::Read(noted));
        for bit in 0..note.len() * 8 {
            let mut flipped = note.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            assert_eq!(read(), CommitPointFile::Damaged, "bit {bit}");
        }
    }

    #[test]
    fn files_beside_an_archive_are_recognised_by_name() {
        for (path, expected) in [
            ("crawl/archive/commit-point", true),
            ("elsewhere/commit-point", false),
            ("a/crawl-20261120182455-00001.warc.gz.cut-1", true),
            ("a/crawl-20261120182455-00001.warc.gz.cut-x", false),
            ("a/crawl-20261120182455-00001.warc.gz", false),
            ("a/page.html.cut-1", false),
        ] {
            assert_eq!(is_beside(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn the_commit_point_is_the_earlier_one_of_archive_and_journal() {
        for (archive, place, expected) in [
            (settled(1, 9), settled(1, 8), settled(1, 8)),
            (settled(1, 8), settled(1, 9), settled(1, 8)),
            (settled(1, 8), settled(2, 1), settled(1, 8)),
            (settled(3, 1), settled(2, 8), settled(2, 8)),
        ] {
            assert_eq!(CommitPoint::new(archive, place, 0).place, expected);
        }
    }
}
