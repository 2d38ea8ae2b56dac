//! The statistics of checked links: a function of the file of checks, as the other statistics are
//! of the journal.

use std::collections::VecDeque;
use std::path::Path;

use journal::{LinkCheck, LinkChecks, LinkCounts, LinkVerdict, StoreFault};

use crate::limits::MAX_NEWEST;
use crate::newest::RecentVisit;

/// The statistics of checked links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkStatistics {
    counts: LinkCounts,
    broken: VecDeque<RecentVisit>,
    /// The end of the part of the file that was read.
    position: u64,
}

impl LinkStatistics {
    /// Applies the checks that were appended since to the file of the crawl in `directory`. If the
    /// file is shorter than before, the statistics start over.
    ///
    /// # Errors
    /// [`StoreFault`] if the file cannot be read: the checks before the error are applied.
    pub fn catch_up(&mut self, directory: &Path) -> Result<(), StoreFault> {
        let mut checks = LinkChecks::open_at(directory, self.position)?;
        if checks.position() < self.position {
            *self = Self::default();
        }
        while let Some(check) = checks.next() {
            self.apply(&check?);
            self.position = checks.position();
        }
        Ok(())
    }

    /// Returns the counts by verdict.
    #[must_use]
    pub fn counts(&self) -> &LinkCounts {
        &self.counts
    }

    /// Returns the newest broken links, newest first.
    pub fn newest_broken(&self) -> impl Iterator<Item = &RecentVisit> {
        self.broken.iter().rev()
    }

    fn apply(&mut self, check: &LinkCheck) {
        self.counts.add(check.verdict);
        if check.verdict != LinkVerdict::Broken {
            return;
        }
        if self.broken.len() == MAX_NEWEST {
            self.broken.pop_front();
        }
        self.broken.push_back(RecentVisit::of_link(check));
    }
}
