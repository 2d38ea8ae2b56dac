//! The options of an archive, and the `warcinfo` block that contains them (section 6.2).

use std::time::Duration;

use web::Clock;

use super::packing::Compression;
use super::record::push_field;
use crate::digest::DigestAlgorithm;

/// Options of an archive: its form, and the description of the crawl.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// Dates the files.
    pub clock: Clock,
    /// The program that crawls, "crawler/0.1.0".
    pub software: String,
    /// The `User-Agent` that is sent.
    pub user_agent: String,
    /// The robots policy: "obey" or "ignore".
    pub robots: String,
    /// A contact for the crawl; omitted if empty.
    pub operator: String,
    /// The machine's name; omitted if empty.
    pub hostname: String,
    /// The collection of the crawl; omitted if empty.
    pub part_of: String,
    /// The configuration as run, a text of any number of lines; blank lines are not kept.
    pub settings: String,
    /// The prefix of the names of the files; see [`super::is_prefix`].
    pub prefix: String,
    /// The length of a full file in bytes; a file may exceed it by one visit.
    pub max_file: u64,
    /// The maximum age of a file, by [`ArchiveOptions::clock`]: an older one takes no further
    /// visit. `None`: no limit.
    pub max_age: Option<Duration>,
    /// The compression. An archive that continues under another compression, or with another
    /// dictionary, does so in its next file.
    pub compression: Compression,
    /// The digest algorithm.
    pub digest: DigestAlgorithm,
    /// Random number, drawn once at the start of the crawl, that makes its record ids differ from
    /// other crawls' ids.
    pub seed: u128,
}

impl ArchiveOptions {
    /// Returns options with files of 1 GiB (annex C), the fastest compression, and no description
    /// of the crawl.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            software: String::new(),
            user_agent: String::new(),
            robots: String::new(),
            operator: String::new(),
            hostname: String::new(),
            part_of: String::new(),
            settings: String::new(),
            prefix: "crawl".to_owned(),
            max_file: 1 << 30,
            max_age: None,
            compression: Compression::default(),
            digest: DigestAlgorithm::default(),
            seed: 0,
        }
    }

    /// Returns the block of the `warcinfo` record, the same in every file. Each line of the
    /// configuration is one field: values do not contain line breaks, so it stays readable and can
    /// be reassembled.
    pub(super) fn warcinfo(&self) -> Vec<u8> {
        let mut block = Vec::new();
        let fields = [
            ("software", self.software.as_str()),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
            ("operator", &self.operator),
            ("hostname", &self.hostname),
            ("isPartOf", &self.part_of),
            ("robots", &self.robots),
            ("http-header-user-agent", &self.user_agent),
        ];
        let settings = self.settings.lines().map(|line| ("setting", line));
        for (name, value) in fields.into_iter().chain(settings) {
            if !value.trim().is_empty() {
                push_field(&mut block, name, value);
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use web::Timestamp;

    use super::*;

    #[test]
    fn no_option_can_begin_a_field_of_its_own() {
        let options = ArchiveOptions {
            software: "crawler/0.1.0".to_owned(),
            robots: "obey\r\nsoftware: other".to_owned(),
            settings: "a = 1\r\n\n[b]\rsoftware: other\nc = \"\0\"\n".to_owned(),
            ..ArchiveOptions::new(Clock::fixed(Timestamp::from_millis(0)))
        };
        let block = String::from_utf8(options.warcinfo()).unwrap();
        let lines: Vec<&str> = block.split_terminator("\r\n").collect();
        assert_eq!(
            lines,
            [
                "software: crawler/0.1.0",
                "format: WARC File Format 1.1",
                concat!(
                    "conformsTo: https://iipc.github.io/warc-specifications/",
                    "specifications/warc-format/warc-1.1/"
                ),
                "robots: obey  software: other",
                "setting: a = 1",
                "setting: [b] software: other",
                "setting: c = \" \"",
            ]
        );
        assert!(!block.contains('\0'));
    }
}
