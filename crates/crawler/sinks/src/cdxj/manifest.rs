//! The list of runs and the part of the archive that each covers: a few lines of text, replaced
//! atomically.
//!
//! ```text
//! cdxj-index 1
//! 1 52428 9ae0daaf crawl-20261120190455-00001.warc.gz 104857600
//! 2 1311 4f5b0c11 crawl-20261120190455-00002.warc.gz 2097152
//! crc32 0d4a1185
//! ```
//!
//! The first line is the version. One line per run follows, with its number, length, checksum, and
//! the end of its part of the archive, where the next part begins. The last line is the checksum of
//! the lines above. A manifest of any other form is ignored: the index is then rebuilt from the
//! archive.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use disk::Disk;

use super::run::Seal;
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;

const VERSION: &str = "cdxj-index 1";
/// Maximum length of a manifest: a run is 8 MiB and takes a line.
const MAX_LENGTH: u64 = 16 << 20;

/// A run, and the end of the part of the archive that it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoveredRun {
    /// Names its file.
    pub(super) number: u64,
    pub(super) seal: Seal,
    /// The end of its part of the archive, which begins where the part of the previous run ends.
    pub(super) end: ArchiveEnd,
}

/// The runs, in the order of the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest(pub(super) Vec<CoveredRun>);

impl Manifest {
    /// Reads the manifest at `path`; an unreadable manifest counts as empty.
    pub(super) fn read(path: &Path) -> Self {
        let is_fit = fs::metadata(path).is_ok_and(|found| found.len() <= MAX_LENGTH);
        let text = is_fit.then(|| fs::read_to_string(path).ok()).flatten();
        text.and_then(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// Replaces the manifest at `path`.
    pub(super) fn write(&self, disk: &dyn Disk, path: &Path) -> Result<(), SinkFault> {
        disk.replace(path, self.text().as_bytes())
            .map_err(SinkFault::io("replace", path))
    }

    /// Returns a number above the numbers of all runs.
    pub(super) fn next_number(&self) -> u64 {
        let numbers = self.0.iter().map(|run| run.number + 1);
        numbers.max().unwrap_or(1)
    }

    fn text(&self) -> String {
        let mut text = format!("{VERSION}\n");
        for CoveredRun { number, seal, end } in &self.0 {
            let Seal { bytes, crc } = seal;
            writeln!(text, "{number} {bytes} {crc:08x} {} {}", end.file, end.end)
                .expect("a string takes every byte");
        }
        let crc = libdeflater::crc32(text.as_bytes());
        writeln!(text, "crc32 {crc:08x}").expect("a string takes every byte");
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let runs = text.lines().skip(1).map_while(|line| {
            let mut words = line.split(' ');
            let mut word = || words.next();
            Some(CoveredRun {
                number: word()?.parse().ok()?,
                seal: Seal {
                    bytes: word()?.parse().ok()?,
                    crc: u32::from_str_radix(word()?, 16).ok()?,
                },
                end: ArchiveEnd {
                    file: word()?.to_owned(),
                    end: word()?.parse().ok()?,
                },
            })
        });
        let manifest = Self(runs.collect());
        // Each manifest has exactly one text, its checksum included.
        (manifest.text() == text).then_some(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Manifest {
        let run = |number, bytes, crc, file: &str, end| CoveredRun {
            number,
            seal: Seal { bytes, crc },
            end: ArchiveEnd {
                file: file.to_owned(),
                end,
            },
        };
        Manifest(vec![
            run(
                1,
                52_428,
                0x9ae0_daaf,
                "crawl-20261120190455-00001.warc.gz",
                104_857_600,
            ),
            run(
                12,
                1_311,
                0x0f5b_0c11,
                "crawl-20261120190455-00002.warc.gz",
                2_097_152,
            ),
        ])
    }

    #[test]
    fn the_bytes_of_a_manifest_are_stable() {
        let golden = "cdxj-index 1\n\
                      1 52428 9ae0daaf crawl-20261120190455-00001.warc.gz 104857600\n\
                      12 1311 0f5b0c11 crawl-20261120190455-00002.warc.gz 2097152\n\
                      crc32 ffe98b3a\n";
        assert_eq!(two().text(), golden);
        assert_eq!(Manifest::parse(golden), Some(two()));
        assert_eq!(
            Manifest::parse(&Manifest::default().text()),
            Some(Manifest::default())
        );
    }

    #[test]
    fn a_changed_manifest_is_ignored() {
        let text = two().text();
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            let touched = String::from_utf8(bytes).unwrap();
            assert_eq!(Manifest::parse(&touched), None, "byte {place}");
            assert_eq!(Manifest::parse(&text[..place]), None, "{place} bytes");
        }
        assert_eq!(Manifest::parse(&format!("{text}\n")), None);
    }
}
