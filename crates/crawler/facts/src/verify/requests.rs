//! Checks politeness by the journal alone: the last request of each archived visit.
//!
//! The archive contains every request, but takes long to read for a large crawl. The journal
//! contains the time of the last request of each visit. So [`Politeness`] gets these requests, and
//! the settings in the first record of each archive file. It sees fewer requests than in
//! `crawler verify`, and applies the same rules.
//!
//! Visits that ended without a response, and visits in other crawlers' archives, are not checked.

use std::path::PathBuf;

use journal::{Record, SettledVisit};
use messages::CommandError;
use settings::{Settings, control_in_force, crawl_directory};
use sinks::warc::WarcReader;

use super::Findings;
use super::archive::MAX_WARCINFO;
use super::politeness::{Politeness, Request};

/// Prefix of findings in a mixed list.
const PREFIX: &str = "politeness: ";

/// The requests that were checked.
#[derive(Debug)]
pub struct CheckedRequests {
    /// Number of requests.
    pub requests: u64,
    /// Number of hosts.
    pub hosts: u64,
    /// Number of requests compared with an earlier one.
    pub compared: u64,
    /// Number of requests that came too soon.
    pub too_soon: u64,
    /// The first requests that came too soon, in words.
    pub findings: Vec<String>,
}

/// A check of requests in the order of the journal.
pub struct JournalPoliteness {
    politeness: Politeness,
    findings: Findings,
    /// The files of the archive; `None` without an archive.
    files: Option<Vec<PathBuf>>,
    /// Archive file of the last visit, and true if its settings are known.
    file: Option<(String, bool)>,
}

impl JournalPoliteness {
    /// Begins a check of the crawl with these settings.
    ///
    /// # Errors
    /// The record of `control.toml` cannot be read.
    pub fn new(settings: &Settings) -> Result<Self, CommandError> {
        let archive = crawl_directory::archive(&settings.out);
        Ok(Self {
            politeness: Politeness::new(
                settings,
                control_in_force::shortest_delays(&settings.out)?,
            ),
            findings: Findings::default(),
            // Visits of a missing file are not checked; `crawler verify` reports it.
            files: Some(crawl_directory::archive_files(&archive).unwrap_or_default()),
            file: None,
        })
    }

    /// Begins a check of a shared crawl. Its archives are on the nodes, so only its settings count.
    pub fn without_archive(settings: &Settings) -> Self {
        Self {
            politeness: Politeness::new(settings, (None, None)),
            findings: Findings::default(),
            files: None,
            file: None,
        }
    }

    /// Applies the next record of the journal.
    pub fn apply(&mut self, record: &Record) {
        if let Record::Settled(settled) = record {
            self.check(settled);
        }
        self.politeness.apply(record);
    }

    fn check(&mut self, settled: &SettledVisit) {
        let visit = &settled.visit.record;
        let Some(span) = settled
            .visit
            .archived
            .as_ref()
            .filter(|_| visit.status.is_some())
        else {
            return;
        };
        if !self.begin_file(&span.file) {
            return;
        }
        let request = Request {
            url: visit.final_url.as_ref().unwrap_or(&visit.url),
            at: visit.fetched_at,
            first: visit.final_url.is_none(),
            // The journal does not contain the target address of a request.
            address: None,
        };
        self.politeness
            .check_request(visit, &request, &mut self.findings);
    }

    /// Switches to the archive file with this name. Returns true if its settings are known.
    fn begin_file(&mut self, name: &str) -> bool {
        if self.files.is_none() {
            return true;
        }
        if let Some((file, is_known)) = &self.file
            && file == name
        {
            return *is_known;
        }
        let warcinfo = self.warcinfo(name);
        if let Some(block) = &warcinfo {
            self.politeness.begin_file(block);
        }
        self.file = Some((name.to_owned(), warcinfo.is_some()));
        warcinfo.is_some()
    }

    /// Returns the block of the `warcinfo` record at the beginning of a file.
    fn warcinfo(&self, name: &str) -> Option<Vec<u8>> {
        let mut files = self.files.iter().flatten();
        let path = files.find(|path| crawl_directory::is_named(path, name))?;
        let mut reader = WarcReader::open(path).ok()?;
        let record = reader.next_record(MAX_WARCINFO).ok()??;
        (record.kind() == "warcinfo").then_some(record.block)
    }

    /// Returns the result.
    pub fn end(self) -> CheckedRequests {
        let counts = self.politeness.counts();
        let texts = self.findings.texts.into_iter();
        let texts = texts.map(|text| match text.strip_prefix(PREFIX) {
            Some(rest) => rest.to_owned(),
            None => text,
        });
        CheckedRequests {
            requests: counts.requests,
            hosts: counts.hosts,
            compared: counts.compared,
            too_soon: counts.too_soon,
            findings: texts.collect(),
        }
    }
}
