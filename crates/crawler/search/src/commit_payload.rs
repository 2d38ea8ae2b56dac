//! The payload of a commit: the end of the archive part that the index covers.
//!
//! The payload is one line: `crawl-search 2 unique 4711 crawl-20261120182455-00001.warc.gz`, with
//! the format, the rules that selected the pages, and a position. The index contains every page of
//! the archive before the position, and no page after it. A golden test below fixes the format.

use sinks::ArchiveEnd;

/// The format of the index: its fields and the words of its texts. An index of another format is
/// rebuilt from the archive.
///
/// 2: parts of words are words, too.
pub const FORMAT: u32 = 2;

const NAME: &str = "crawl-search";

/// The payload of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitPayload {
    /// The selection of pages and texts: one word.
    pub(crate) rules: String,
    /// End of the covered part; `None` if the index covers nothing.
    pub(crate) end: Option<ArchiveEnd>,
}

impl CommitPayload {
    pub(crate) fn write(&self) -> String {
        let rules = &self.rules;
        match &self.end {
            Some(ArchiveEnd { file, end }) => format!("{NAME} {FORMAT} {rules} {end} {file}"),
            None => format!("{NAME} {FORMAT} {rules} 0"),
        }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(5, ' ');
        let mut next = || words.next();
        if next()? != NAME || next()?.parse() != Ok(FORMAT) {
            return None;
        }
        let rules = next()?.to_owned();
        let end = next()?.parse().ok()?;
        let end = next().map(|file| ArchiveEnd {
            file: file.to_owned(),
            end,
        });
        Some(Self { rules, end })
    }

    /// Returns true if another version of this program wrote the payload.
    pub(crate) fn is_of_other_format(text: &str) -> bool {
        let mut words = text.split(' ');
        let format = words.next().filter(|name| *name == NAME).and(words.next());
        format
            .and_then(|format| format.parse::<u32>().ok())
            .is_some_and(|format| format != FORMAT)
    }
}

/// Returns the sort key of files: the number at the end of the name, then the name.
pub(crate) fn file_order(file: &str) -> (Option<u64>, &str) {
    let number = || {
        let (stem, _) = file.rsplit_once(".warc")?;
        stem.rsplit_once('-')?.1.parse().ok()
    };
    (number(), file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_of_a_commit_keeps_its_form() {
        let end = ArchiveEnd {
            file: "crawl-20261120182455-00001.warc.gz".to_owned(),
            end: 4711,
        };
        for (end, text) in [
            (
                Some(end),
                "crawl-search 2 unique 4711 crawl-20261120182455-00001.warc.gz",
            ),
            (None, "crawl-search 2 unique 0"),
        ] {
            let covered = CommitPayload {
                rules: "unique".to_owned(),
                end,
            };
            assert_eq!(covered.write(), text);
            assert_eq!(CommitPayload::read(text), Some(covered));
        }
        for other in [
            "",
            "crawl-search",
            "crawl-search 1 unique 0",
            "crawl-search 2 unique x",
            "other 1 unique 0",
        ] {
            assert_eq!(CommitPayload::read(other), None, "{other}");
            let is_other = other == "crawl-search 1 unique 0";
            assert_eq!(
                CommitPayload::is_of_other_format(other),
                is_other,
                "{other}"
            );
        }
    }

    #[test]
    fn files_come_in_the_order_of_their_numbers() {
        let files = [
            "a.warc",
            "b.warc.gz",
            "crawl-20261120182455-00002.warc.gz",
            "crawl-20251120182455-00010.warc.zst",
            "crawl-20251120182455-100000.warc.zst",
        ];
        for pair in files.windows(2) {
            assert!(file_order(pair[0]) < file_order(pair[1]), "{pair:?}");
        }
    }
}
