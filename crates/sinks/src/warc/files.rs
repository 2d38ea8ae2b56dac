//! The names of archive files: `crawl-20261120190455-00001.warc.gz`.
//!
//! A name is made of a time and a counter and nothing else; nothing that came from the web is ever part of a path.
//! The counter orders the files of an archive. Names that are not exactly of this form are somebody else's.

use std::fs;
use std::io;
use std::path::Path;

use web::Timestamp;

const PREFIX: &str = "crawl-";
const SUFFIX: &str = ".warc.gz";

/// The name of a file of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileName {
    text: String,
    counter: u64,
}

impl FileName {
    /// The name of the file that was begun at `at` as number `counter`.
    pub(super) fn new(at: Timestamp, counter: u64) -> Self {
        Self {
            text: format!("{PREFIX}{}-{counter:05}{SUFFIX}", at.digits()),
            counter,
        }
    }

    /// Reads a name; nothing where it is not exactly one that [`FileName::new`] writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (time, number) = text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('-')?;
        let digits_only = [time, number]
            .iter()
            .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let counter = number.parse().ok()?;
        if !digits_only || time.len() != 14 || format!("{counter:05}") != number {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            counter,
        })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn counter(&self) -> u64 {
        self.counter
    }
}

/// The archive files in `dir`, last counter first: removed in this order, what remains is always a beginning.
pub(super) fn last_first(dir: &Path) -> io::Result<Vec<FileName>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_str().and_then(FileName::parse);
        if let Some(name) = name
            && entry.file_type()?.is_file()
        {
            names.push(name);
        }
    }
    names.sort_by_key(|name| std::cmp::Reverse(name.counter));
    Ok(names)
}

/// Makes names that were added to or taken from `dir` outlast a power cut.
pub(super) fn sync_directory(dir: &Path) -> io::Result<()> {
    fs::File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_when_its_file_was_begun_and_which_one_it_is() {
        let name = FileName::new(Timestamp::from_millis(1_795_199_095_120), 1);
        assert_eq!(name.as_str(), "crawl-20261120182455-00001.warc.gz");
        for counter in [1, 99_999, 100_000] {
            let name = FileName::new(Timestamp::from_millis(0), counter);
            assert_eq!(FileName::parse(name.as_str()), Some(name));
        }
    }

    #[test]
    fn other_names_are_somebody_elses() {
        for text in [
            "",
            "crawl-.warc.gz",
            "crawl-20261120182455-00001.warc",
            "crawl-20261120182455-0001.warc.gz",
            "crawl-20261120182455-000001.warc.gz",
            "crawl-20261120182455-+0001.warc.gz",
            "crawl-2026112018245-00001.warc.gz",
            "crawl-2026112018245x-00001.warc.gz",
            "crawl-20261120182455-00001.warc.gz~",
            "xcrawl-20261120182455-00001.warc.gz",
            "Crawl-20261120182455-00001.warc.gz",
            "../crawl-20261120182455-00001.warc.gz",
            "crawl-20261120182455-00001-2.warc.gz",
            "crawl-20261120182455-99999999999999999999.warc.gz",
        ] {
            assert_eq!(FileName::parse(text), None, "{text}");
        }
    }
}
