//! The links of pages that were archived: read again from the archive, on all cores, told in the
//! order of the visits.
//!
//! The words of a link and what the page says of it are in no journal. Each page is read from its
//! own record, by the same code and with the same settings as when it was visited, but that longer
//! words are kept, and every relation.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};

use crawl::Policy;
use export::{ExportFault, Link, Visit, VisitPosition};
use rayon::prelude::*;
use sinks::warc::{self, WarcReader};
use store::VisitRecord;
use web::Document;

use super::Destination;
use crate::cli_error::{CliError, fault};
use crate::documents::exchange;
use crate::settings::Settings;
use crate::terminal::{printable, say};
use crate::{assembly, crawl_directory};

/// Pages that are read at a time: what their links take is in memory.
const BATCH: usize = 64;
/// A larger record is not read again.
const MAX_RECORD: usize = 64 << 20;
/// Characters of the words of a link.
const ANCHOR_CHARS: usize = 500;
/// Bytes of what a page says of a link.
const REL_BYTES: usize = 200;
/// Pages that could not be read and are named; more are counted.
const NAMED: u64 = 10;

/// The pages of a crawl's archive.
pub(super) struct Pages {
    policy: Policy,
    archive: PathBuf,
    waiting: RefCell<Waiting>,
}

#[derive(Default)]
struct Waiting {
    visits: Vec<(Visit, VisitPosition)>,
    unread: u64,
}

impl Pages {
    /// Returns the pages of the crawl in `directory`.
    pub(super) fn of_crawl(directory: &Path) -> Result<Self, CliError> {
        let settings = Settings::of_crawl(directory)?;
        let mut policy = assembly::policy(&settings, settings.canonical_form());
        policy.read.anchor_chars = ANCHOR_CHARS;
        policy.read.rel_bytes = REL_BYTES;
        Ok(Self {
            policy,
            archive: crawl_directory::archive(directory),
            waiting: RefCell::default(),
        })
    }

    /// Adds a visit. Its links are written with those of others.
    pub(super) fn add<W: Write + Send>(
        &self,
        visit: Visit,
        mark: VisitPosition,
        destination: &mut Destination<W>,
    ) -> Result<(), ExportFault> {
        let mut waiting = self.waiting.borrow_mut();
        waiting.visits.push((visit, mark));
        let is_full = waiting.visits.len() >= BATCH;
        drop(waiting);
        if is_full {
            self.write(destination)
        } else {
            Ok(())
        }
    }

    /// Writes the links of all visits that were added.
    pub(super) fn write<W: Write + Send>(
        &self,
        destination: &mut Destination<W>,
    ) -> Result<(), ExportFault> {
        let mut waiting = self.waiting.borrow_mut();
        let (policy, archive) = (&self.policy, &self.archive);
        let read: Vec<_> = waiting
            .visits
            .par_drain(..)
            .map(|(visit, mark)| {
                let document = has_page(&visit.row).then(|| read(policy, archive, &visit.row));
                (visit, mark, document)
            })
            .collect();
        for (visit, mark, document) in read {
            match document {
                None => {}
                Some(Ok(document)) => write_links(&visit.row, &document, destination)?,
                Some(Err(trouble)) => waiting.count_unread(&visit.row, &trouble),
            }
            destination.wrote(mark)?;
        }
        Ok(())
    }

    /// Returns an error if links are missing.
    pub(super) fn complain(&self) -> Result<(), CliError> {
        match self.waiting.borrow().unread {
            0 => Ok(()),
            unread => Err(fault(&Missing(unread))
                .with_remedy("`crawler verify` says what is wrong with the archive")),
        }
    }
}

impl Waiting {
    fn count_unread(&mut self, row: &VisitRecord, trouble: &str) {
        self.unread += 1;
        if self.unread <= NAMED {
            say(&format!("warning: {}: {}", row.url, printable(trouble)));
        }
    }
}

/// Pages of the archive could not be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} pages cannot be read from the archive again: their links are missing, everything else is \
     there"
)]
struct Missing(u64);

/// Returns true if the archive has the page with its text: not if it was left out, nor if its bytes
/// are archived elsewhere.
pub(in crate::commands) fn has_page(row: &VisitRecord) -> bool {
    row.kept && row.fate.is_page() && row.warc_file.is_some()
}

/// Reads the document of an archived page again.
pub(in crate::commands) fn read(
    policy: &Policy,
    archive: &Path,
    row: &VisitRecord,
) -> Result<Document, String> {
    let (Some(file), Some(offset)) = (&row.warc_file, row.warc_offset) else {
        return Err("the journal does not say where it is".to_owned());
    };
    read_at(policy, archive, file, offset)
}

/// Reads the document in the record at `offset` of an archive file.
pub(in crate::commands) fn read_at(
    policy: &Policy,
    archive: &Path,
    file: &str,
    offset: u64,
) -> Result<Document, String> {
    let open = || WarcReader::open_at(&warc::locate(archive, file), offset);
    // The crawl may be about to close the file, which changes its name.
    let reader = open().or_else(|_renamed| open());
    let mut reader = reader.map_err(|fault| fault.to_string())?;
    let record = reader
        .next_record(MAX_RECORD)
        .map_err(|fault| fault.to_string())?;
    let record = record.filter(|record| ["response", "resource"].contains(&record.kind()));
    let exchange = record.and_then(|record| {
        let answer = record.answer(&policy.canonical);
        // Others archive resources, too.
        answer.or_else(|| exchange(&record, &policy.canonical))
    });
    let exchange = exchange.ok_or_else(|| format!("{file} at {offset} is not its answer"))?;
    crawl::document_here(policy, &exchange).ok_or_else(|| "reading it panicked".to_owned())
}

fn write_links<W: Write + Send>(
    row: &VisitRecord,
    document: &Document,
    destination: &mut Destination<W>,
) -> Result<(), ExportFault> {
    let source = row.final_url.as_ref().unwrap_or(&row.url).as_str();
    for link in &document.links {
        let link = Link {
            source,
            target: link.url.as_str(),
            anchor: &link.anchor,
            rel: &link.rel,
            kind: link.kind.as_str(),
        };
        destination.write(&link.fields())?;
    }
    Ok(())
}
