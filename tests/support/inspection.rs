//! The result of a crawl: its visits, and its archive as two readers see it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use flate2::bufread::MultiGzDecoder;
use serde_json::Value;
use sinks::warc::{Record, WarcReader};
use warc::WarcHeader;

use crate::support::Crawl;

/// A record as an independent reader sees it.
pub(crate) struct Foreign {
    pub(crate) kind: String,
    pub(crate) target: String,
    pub(crate) block: Vec<u8>,
}

impl Crawl {
    /// Returns the visits of the export, in order.
    pub(crate) fn visits(&self) -> Vec<Value> {
        self.json_lines(&["export", "crawl"])
    }

    /// Returns the visit of a URL; there must be exactly one.
    pub(crate) fn visit(&self, url: &str) -> Value {
        let mut visits = self.visits();
        visits.retain(|visit| visit["url"] == url);
        assert_eq!(visits.len(), 1, "{url}: {visits:?}");
        visits.remove(0)
    }

    /// Returns the verdict of each URL.
    pub(crate) fn verdicts(&self) -> BTreeMap<String, String> {
        let mut verdicts = BTreeMap::new();
        for visit in self.visits() {
            let text = |name: &str| visit[name].as_str().unwrap().to_owned();
            let before = verdicts.insert(text("url"), text("verdict"));
            assert_eq!(before, None, "visited twice: {visit}");
        }
        verdicts
    }

    /// Returns the files of the archive, in order.
    pub(crate) fn archive_files(&self) -> Vec<PathBuf> {
        let listing = std::fs::read_dir(self.out().join("archive")).unwrap();
        let mut files: Vec<PathBuf> = listing.map(|item| item.unwrap().path()).collect();
        files.retain(|path| sinks::warc::name_of(path).is_some());
        files.sort();
        files
    }

    /// Returns the only segment of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        let listing = std::fs::read_dir(self.out().join("state/journal")).unwrap();
        let mut segments: Vec<PathBuf> = listing.map(|item| item.unwrap().path()).collect();
        assert_eq!(segments.len(), 1, "{segments:?}");
        segments.remove(0)
    }

    /// Returns every record of the archive, whole.
    pub(crate) fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for file in self.archive_files() {
            let mut reader = WarcReader::open(&file).unwrap();
            while let Some(record) = reader.next_record(usize::MAX).unwrap() {
                assert!(record.digests_hold(), "{record:?}");
                records.push(record);
            }
        }
        records
    }

    /// Returns the records about `url`, in order.
    pub(crate) fn records_about(&self, url: &str) -> Vec<Record> {
        let mut records = self.records();
        records.retain(|record| record.target() == Some(url));
        records
    }

    /// Returns the metadata fields of `url`, by name.
    pub(crate) fn notes_about(&self, url: &str) -> BTreeMap<String, String> {
        let records = self.records_about(url);
        let notes = records.iter().find(|record| record.kind() == "metadata");
        let block = String::from_utf8(notes.unwrap().block.clone()).unwrap();
        let fields = block.lines().filter_map(|line| line.split_once(": "));
        fields
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Returns the URLs of the `response` records, in order.
    pub(crate) fn archived(&self) -> Vec<String> {
        let records = self.records();
        let responses = records.iter().filter(|record| record.kind() == "response");
        responses
            .map(|record| record.target().unwrap().to_owned())
            .collect()
    }

    /// Returns every record of the archive, read by an independent reader.
    pub(crate) fn read_by_another(&self) -> Vec<Foreign> {
        let mut records = Vec::new();
        for file in self.archive_files() {
            let packed = BufReader::new(File::open(&file).unwrap());
            let unpacked: Box<dyn Read> = match file.extension().unwrap().to_str().unwrap() {
                "gz" => Box::new(MultiGzDecoder::new(packed)),
                "zst" => Box::new(zstd::stream::read::Decoder::with_buffer(packed).unwrap()),
                _ => Box::new(packed),
            };
            for record in warc::WarcReader::new(BufReader::new(unpacked)).iter_records() {
                let record = record.unwrap();
                records.push(Foreign {
                    kind: record.warc_type().to_string(),
                    target: record
                        .header(WarcHeader::TargetURI)
                        .unwrap_or_default()
                        .into_owned(),
                    block: record.body().to_vec(),
                });
            }
        }
        records
    }

    /// Asserts that archive, journal and tables agree.
    pub(crate) fn is_sound(&self) {
        let run = self.run_command(&["verify", "crawl"]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }

    /// Asserts that exactly `urls` were kept, and that the archive has each of them exactly once.
    pub(crate) fn has_exactly_once(&self, urls: &BTreeSet<String>) {
        let verdicts = self.verdicts();
        let kept: BTreeSet<String> = verdicts
            .iter()
            .filter(|(_, verdict)| *verdict == "unique")
            .map(|(url, _)| url.clone())
            .collect();
        assert_eq!(kept, *urls, "{verdicts:?}");
        let mut archived = self.archived();
        archived.sort();
        assert_eq!(archived, urls.iter().cloned().collect::<Vec<_>>());
        self.is_sound();
    }
}
