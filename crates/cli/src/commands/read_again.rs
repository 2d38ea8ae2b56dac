//! Archived pages that are read again, for their links or their text.
//!
//! Each page is read from its own record, by the same code and with the same settings as when it
//! was visited. A page that cannot be read any more is counted and ends no command before its end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use corpus::exchange;
use crawl::Policy;
use rayon::prelude::*;
use sinks::warc::{self, WarcReader};
use store::VisitRecord;
use web::Document;

use super::warn;
use crate::cli_error::{CliError, fault};
use crate::settings::Settings;
use crate::{assembly, crawl_directory};

/// Pages that are read at a time: their documents are in memory.
pub(super) const BATCH: usize = 64;
/// A larger record is not read again.
const MAX_RECORD: usize = 64 << 20;
/// Unreadable pages that are named; more are counted.
const NAMED: u64 = 10;

/// The pages of a crawl's archive.
pub(super) struct ArchivedPages {
    pub(super) policy: Policy,
    archive: PathBuf,
    unread: AtomicU64,
}

/// Pages of the archive could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0} pages cannot be read from the archive again: {1}")]
struct UnreadPages(u64, &'static str);

impl ArchivedPages {
    /// Returns the pages of a crawl.
    pub(super) fn of(settings: &Settings) -> Self {
        Self {
            policy: assembly::policy(settings, settings.canonical_form()),
            archive: crawl_directory::archive(&settings.out),
            unread: AtomicU64::new(0),
        }
    }

    /// Reads the pages of `items` on all cores, and gives each item in its order with its document:
    /// none if the archive does not have the page's text, or if it cannot be read any more.
    pub(super) fn read_all<T: Send, E>(
        &self,
        items: &mut Vec<T>,
        row: impl Fn(&T) -> &VisitRecord + Sync,
        mut give: impl FnMut(T, Option<Document>) -> Result<(), E>,
    ) -> Result<(), E> {
        let read: Vec<_> = items
            .par_drain(..)
            .map(|item| {
                let document = has_page(row(&item)).then(|| self.read(row(&item)));
                (item, document)
            })
            .collect();
        for (item, document) in read {
            let document = document.transpose().unwrap_or_else(|trouble| {
                self.count_unread(row(&item), &trouble);
                None
            });
            give(item, document)?;
        }
        Ok(())
    }

    fn read(&self, row: &VisitRecord) -> Result<Document, String> {
        let (Some(file), Some(offset)) = (&row.warc_file, row.warc_offset) else {
            return Err("the journal does not say where it is".to_owned());
        };
        self.read_at(file, offset)
    }

    /// Reads the document in the record at `offset` of an archive file.
    pub(super) fn read_at(&self, file: &str, offset: u64) -> Result<Document, String> {
        let open = || WarcReader::open_at(&warc::locate(&self.archive, file), offset);
        // The crawl may be about to close the file, which changes its name.
        let reader = open().or_else(|_renamed| open());
        let mut reader = reader.map_err(|fault| fault.to_string())?;
        let record = reader
            .next_record(MAX_RECORD)
            .map_err(|fault| fault.to_string())?;
        let record = record.filter(|record| ["response", "resource"].contains(&record.kind()));
        let exchange = record.and_then(|record| {
            let answer = record.answer(&self.policy.canonical);
            // Other crawlers archive resources, too.
            answer.or_else(|| exchange(&record, &self.policy.canonical))
        });
        let exchange = exchange.ok_or_else(|| format!("{file} at {offset} is not its answer"))?;
        crawl::document_here(&self.policy, &exchange)
            .ok_or_else(|| "reading it panicked".to_owned())
    }

    fn count_unread(&self, row: &VisitRecord, trouble: &str) {
        if self.unread.fetch_add(1, Ordering::Relaxed) < NAMED {
            warn(&format!("{}: {trouble}", row.url));
        }
    }

    /// Returns an error with its consequence if pages could not be read.
    pub(super) fn check_unread(&self, consequence: &'static str) -> Result<(), CliError> {
        match self.unread.load(Ordering::Relaxed) {
            0 => Ok(()),
            unread => Err(fault(&UnreadPages(unread, consequence))
                .with_remedy("`crawler verify` says what is wrong with the archive")),
        }
    }
}

/// Returns true if the archive has the page with its text: not if it was left out, nor if its bytes
/// are archived elsewhere.
fn has_page(row: &VisitRecord) -> bool {
    row.kept && row.fate.is_page() && row.warc_file.is_some()
}
