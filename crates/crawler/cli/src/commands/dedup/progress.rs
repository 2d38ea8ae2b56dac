//! Progress of a comparison: a bar on a terminal, otherwise an occasional line.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use batch::{Progress, Step};
use indicatif::{HumanCount, ProgressBar};
use messages::say;
use tokio::time::Instant;

use crate::progress::{self, PLAIN_LINE_EVERY};
use crate::terminal::is_seen;

/// A progress display. The number of documents is known only once all are read, so the bar of the
/// reading step is open-ended; later steps show a total.
pub(super) struct DedupProgress {
    bar: ProgressBar,
    plain: bool,
    /// The time of the last plain line.
    said: Mutex<Instant>,
    begun: Instant,
    read: AtomicU64,
}

impl DedupProgress {
    pub(super) fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            bar: progress::counting_bar(quiet),
            plain: !quiet && !is_seen(),
            said: Mutex::new(now),
            begun: now,
            read: AtomicU64::new(0),
        }
    }

    /// Shows the number of documents whose signatures are in the file.
    pub(super) fn wrote_signatures(&self, documents: u64) {
        self.advanced(Step::Reading, documents, None);
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns the number of documents read so far.
    pub(super) fn documents_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

impl Progress for DedupProgress {
    fn advanced(&self, step: Step, done: u64, of: Option<u64>) {
        let doing = match step {
            Step::Reading => "documents read",
            Step::Sorting => "candidate keys sorted",
            Step::Joining => "candidates searched",
            Step::Verifying => "candidates compared",
            _ => "results written",
        };
        if step == Step::Reading {
            self.read.store(done, Ordering::Relaxed);
        }
        let of = of.map_or(String::new(), |all| format!("of {} ", HumanCount(all)));
        if !self.plain {
            self.bar.set_position(done);
            self.bar.set_message(format!("{of}{doing}"));
            return;
        }
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.elapsed() < PLAIN_LINE_EVERY {
            return;
        }
        *said = Instant::now();
        let (done, seconds) = (HumanCount(done), self.begun.elapsed().as_secs());
        say(&format!("{done} {of}{doing} after {seconds} s"));
    }
}
