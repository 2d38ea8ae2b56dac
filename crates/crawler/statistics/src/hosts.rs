//! The statistics of each host.

use std::collections::HashMap;

use journal::{Fate, Reason, VisitRecord};
use web::{Host, Pace};

use crate::limits::{MAX_FAILURE_CHARACTERS, MAX_HOSTS};
use crate::text::cut;
use crate::visit_sums::VisitSums;

/// The statistics of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostStatistics {
    /// The sums over its visits.
    pub sums: VisitSums,
    /// URLs in the queue, those out on lease included.
    pub waiting: u64,
    /// Its pace, as last recorded.
    pub pace: Pace,
    /// The reason of its last failure, for good or until the next attempt, even if that visit was
    /// revoked.
    pub last_failure: Option<Box<str>>,
}

impl HostStatistics {
    /// Records a failure.
    pub(crate) fn fail(&mut self, reason: Option<&Reason>) {
        let cut = |reason: &Reason| cut(&reason.to_string(), MAX_FAILURE_CHARACTERS).into();
        self.last_failure = reason.map(cut);
    }
}

/// The statistics of all hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hosts {
    known: HashMap<Host, HostStatistics>,
    /// The statistics of the hosts that came after [`MAX_HOSTS`] others.
    other: HostStatistics,
    /// Known hosts with at least one page.
    with_pages: u64,
}

impl Hosts {
    pub(crate) fn known(&self) -> impl Iterator<Item = (&Host, &HostStatistics)> {
        self.known.iter()
    }

    pub(crate) fn other(&self) -> &HostStatistics {
        &self.other
    }

    pub(crate) fn with_pages(&self) -> u64 {
        self.with_pages
    }

    /// Returns the statistics of a host to be changed.
    pub(crate) fn of(&mut self, host: &str) -> &mut HostStatistics {
        if !self.known.contains_key(host) {
            if self.known.len() >= MAX_HOSTS {
                return &mut self.other;
            }
            self.known
                .insert(Host::new(host), HostStatistics::default());
        }
        self.known.get_mut(host).unwrap_or(&mut self.other)
    }

    /// Updates the pace of a host.
    pub(crate) fn pace(&mut self, host: &str, pace: Pace) {
        let figures = self.of(host);
        figures.pace = figures.pace.then(pace);
    }

    /// Changes the pace of every host.
    pub(crate) fn change_paces(&mut self, change: impl Fn(Pace) -> Pace) {
        for figures in self.known.values_mut() {
            figures.pace = change(figures.pace);
        }
    }

    /// Adds a visit of a host.
    pub(crate) fn count(&mut self, host: &str, visit: &VisitRecord) {
        let figures = self.of(host);
        let had_pages = figures.sums.pages > 0;
        figures.sums.count(visit);
        if visit.fate == Fate::Failed {
            figures.fail(visit.reason.as_ref());
        }
        let has_pages = figures.sums.pages > 0;
        self.note(host, had_pages, has_pages);
    }

    /// Takes back a visit that was added.
    pub(crate) fn take_back(&mut self, host: &str, visit: &VisitRecord) {
        let figures = self.of(host);
        let had_pages = figures.sums.pages > 0;
        figures.sums.take_back(visit);
        let has_pages = figures.sums.pages > 0;
        self.note(host, had_pages, has_pages);
    }

    fn note(&mut self, host: &str, had_pages: bool, has_pages: bool) {
        if had_pages != has_pages && self.known.contains_key(host) {
            match has_pages {
                true => self.with_pages += 1,
                false => self.with_pages -= 1,
            }
        }
    }
}
