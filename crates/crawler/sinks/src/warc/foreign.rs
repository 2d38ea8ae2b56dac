//! Files of other crawlers in the directory of an archive of ours: they are read, and never
//! written, cut or removed.
//!
//! A file is foreign by its name, or, if its name could be ours, by its `warcinfo`: Common Crawl
//! uses the same form of names. Our own files come after all foreign ones: the number in the name
//! of our first file is above every number in theirs, so that readers that start at a position in
//! our files skip theirs.

use std::path::Path;
use std::sync::Arc;

use disk::Disk;

use super::archive::session;
use super::archive_end::ArchiveEnd;
use super::files::{self, FileName, name_of};
use super::packing::Packing;
use super::stream::WarcStream;
use super::warc_file::{WarcFile, first_record};
use super::warcinfo::ArchiveOptions;
use crate::fault::SinkFault;

/// The prefix of `software` in our `warcinfo` records.
const OUR_SOFTWARE: &str = "crawler/";

/// Maximum bytes of a `warcinfo` that are read to identify its author.
const MAX_WARCINFO: usize = 64 << 10;

/// Returns true if another crawler wrote the archive file at `path`. A file with a name of our form
/// and an unreadable beginning is ours.
#[must_use]
pub fn is_foreign(path: &Path) -> bool {
    let Some(name) = name_of(path) else {
        return true;
    };
    if FileName::parse(name).is_none() {
        return true;
    }
    let first = WarcStream::open(path).and_then(|mut stream| stream.next_record(MAX_WARCINFO));
    let Ok(Some(first)) = first else {
        return false;
    };
    first.kind() != "warcinfo" || !is_our_software(&first.block)
}

/// Returns true if a `warcinfo` block names our software, or none.
fn is_our_software(warcinfo: &[u8]) -> bool {
    let text = String::from_utf8_lossy(warcinfo);
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let software = fields.find(|(name, _)| name.eq_ignore_ascii_case("software"));
    software.is_none_or(|(_, software)| {
        let software = software.trim();
        software.is_empty() || software.starts_with(OUR_SOFTWARE)
    })
}

/// Begins an archive of ours after the foreign files in `dir`, or reuses the file that an
/// interrupted call left; returns the position of its first visit. Durable when it returns.
///
/// # Errors
/// [`SinkFault::Foreign`] if a file has the highest possible number in its name; otherwise I/O
/// errors of the disk.
pub fn begin_behind(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    options: &ArchiveOptions,
) -> Result<ArchiveEnd, SinkFault> {
    let unlisted = SinkFault::io("list", dir);
    if let Some(last) = files::last_first(dir).map_err(unlisted)?.first()
        && last.is_open
        && !is_foreign(&last.path)
        && let Ok(first) = first_record(&last.path)
    {
        return Ok(ArchiveEnd::of(&last.name, first.ends));
    }
    let mut before = 0;
    for item in std::fs::read_dir(dir).map_err(unlisted)? {
        let path = item.map_err(unlisted)?.path();
        if let Some(name) = name_of(&path)
            && let Some(number) = last_number(name)
        {
            let taken = || SinkFault::Foreign {
                name: name.to_owned(),
            };
            before = before.max(number.checked_add(1).ok_or_else(taken)? - 1);
        }
    }
    let warc_file = WarcFile::begin(disk, dir, options, session(options, None), before + 1)?;
    warc_file.open.sync()?;
    Ok(ArchiveEnd::of(&warc_file.open.name, warc_file.length))
}

/// Returns the position of the first visit of our archive if it follows files of other crawlers;
/// `None` if files of other crawlers or of ours are missing.
///
/// # Errors
/// I/O errors of listing `dir`.
pub fn beginning(dir: &Path) -> Result<Option<ArchiveEnd>, SinkFault> {
    let unlisted = SinkFault::io("list", dir);
    let (mut others, mut first) = (false, None);
    let listed = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        listed => listed.map_err(unlisted)?,
    };
    for item in listed {
        let path = item.map_err(unlisted)?.path();
        let Some(name) = name_of(&path) else { continue };
        match FileName::parse(name).filter(|_| !is_foreign(&path)) {
            None => others = true,
            Some(name) => {
                let is_first = |(found, _): &(FileName, _)| name.counter() < found.counter();
                if first.as_ref().is_none_or(is_first) {
                    first = Some((name, path));
                }
            }
        }
    }
    let (Some((name, path)), true) = (first, others) else {
        return Ok(None);
    };
    let record = first_record(&path).ok();
    Ok(record.map(|record| ArchiveEnd::of(&name, record.ends)))
}

/// Returns the number at the end of a name, which orders archive files.
fn last_number(name: &str) -> Option<u64> {
    let (stem, _) = Packing::split(name)?;
    let (_, number) = stem.rsplit_once('-')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warcinfo_identifies_the_author_of_a_file() {
        for (warcinfo, ours) in [
            ("software: crawler/0.1.0\r\n", true),
            ("software: \r\nformat: WARC File Format 1.1\r\n", true),
            ("format: WARC File Format 1.1\r\n", true),
            ("Software: Wget/1.21.3 (linux-gnu)\r\n", false),
            (
                "isPartOf: CC-MAIN-2024-10\r\nsoftware: Apache Nutch 1.19\r\n",
                false,
            ),
        ] {
            assert_eq!(is_our_software(warcinfo.as_bytes()), ours, "{warcinfo}");
        }
    }

    #[test]
    fn our_first_file_is_above_every_number_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk::SystemDisk);
        for name in [
            "wget-00007.warc.gz",
            "a.warc",
            "CC-MAIN-20240101000000-20240101030000-00042.warc.gz",
        ] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let options = ArchiveOptions::new(web::Clock::new(web::Timestamp::default));
        let begun = begin_behind(&disk, dir.path(), &options).unwrap();
        assert!(begun.file.ends_with("-00043.warc.gz"), "{begun:?}");
        // A file of an interrupted call is reused.
        assert_eq!(begin_behind(&disk, dir.path(), &options).unwrap(), begun);
        let archive =
            super::super::WarcArchive::open(disk, dir.path(), options, Some(begun)).unwrap();
        drop(archive);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4);
    }
}
